import { z } from 'zod';
import type { Choose } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { bytesReply, DELETE_REPLIES, updatedReply } from '../replies.ts';
import { direction, flag, idInRequest, idParams, timestamp, uuid } from '../schemas.ts';
import { INBOX_TIERS } from '../tiers.ts';
import { withinInbox } from './within-inbox.ts';

export const messageParams = z.object({ id: idInRequest, messageId: idInRequest });

const attachment = z.strictObject({
  id: uuid,
  filename: z.string(),
  contentType: z.string(),
  sizeBytes: z.int(),
});

const TO = { string: z.string().describe('Several recipients are separated by commas.'), array: z.array(z.string()) };

const FROM = {
  display: z.string().describe('The display form, such as `Dana <dana@customer.test>`.'),
  bare: z.string().describe('The bare address, in lower case.'),
};

const documentedMessage = z.strictObject({
  id: uuid,
  direction,
  from: z.string(),
  to: z.string(),
  subject: z.string(),
  plainBody: z.string(),
  htmlBody: z.string().nullable(),
  isRead: z.boolean(),
  threadId: uuid,
  messageIdHeader: z.string().describe('The Message-ID, with its angle brackets.'),
  inReplyTo: z.string().nullable(),
  receivedAt: timestamp.describe('When the message arrived or was sent.'),
  attachments: z.array(attachment),
});

const FIELDS_BY_SHAPE = {
  extended: {
    inboxId: uuid,
    cc: z.array(z.string()),
    bcc: z.array(z.string()).describe('Empty for inbound mail.'),
    isStarred: z.boolean(),
    isArchived: z.boolean(),
  },
  reference: {},
};

/** A message in a reply (reference, "Message"). See src/contract/README.md, "The sources". */
export function messageReply(choose: Choose) {
  return documentedMessage.extend(FIELDS_BY_SHAPE[choose('messages.shape')]).extend(addressFields(choose));
}

function addressFields(choose: Choose) {
  return { from: FROM[choose('messages.from')], to: TO[choose('messages.to')] };
}

/** A row of the tenant-wide list (reference). */
const messageRow = (choose: Choose) =>
  z.strictObject({
    id: uuid,
    inboxId: uuid,
    inboxUsername: z.string(),
    inboxDomain: z.string(),
    direction,
    ...addressFields(choose),
    subject: z.string(),
    snippet: z.string().describe('The beginning of the text, on one line.'),
    isRead: z.boolean(),
    isStarred: z.boolean(),
    isArchived: z.boolean(),
    receivedAt: timestamp,
    threadId: uuid,
    threadCount: z.int().describe('The number of messages in its thread.'),
    threadUnreadCount: z.int(),
  });

/** A whole message as a row; with `group=thread`, a row stands for a thread and has `messageCount`. */
const wholeMessageRow = (choose: Choose) => messageReply(choose).extend({ messageCount: z.int().optional() });

const UPDATE_REPLIES = { 'updated-and-id': () => updatedReply, message: messageReply };

/** The folders of the tenant-wide list. */
export const FOLDERS = ['inbox', 'sent', 'starred', 'archived', 'trash'] as const;

const TENANT_LIST_REPLIES = {
  rows: (choose: Choose) => z.strictObject({ messages: z.array(messageRow(choose)), pagination }),
  messages: (choose: Choose) => z.strictObject({ messages: z.array(wholeMessageRow(choose)), pagination }),
};

const inboxFolderCounts = z.strictObject({ unread: z.int(), total: z.int() });
const folderCount = z.strictObject({ total: z.int() });

const COUNTS = {
  objects: z.strictObject({
    inbox: inboxFolderCounts,
    sent: folderCount,
    starred: folderCount,
    archived: folderCount,
    trash: folderCount,
  }),
  numbers: z.strictObject({
    inbox: inboxFolderCounts,
    sent: z.int(),
    starred: z.int(),
    archived: z.int(),
    trash: z.int(),
  }),
};

export const messageOperations = {
  listMessages: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/messages',
    summary: 'List the messages of an inbox',
    origin: 'reference',
    params: idParams,
    query: (choose) =>
      pageQuery(choose).extend({
        direction: z.enum(direction.options, 'must be inbound or outbound').optional(),
      }),
    status: 200,
    assumes: ['messages.list.pagination'],
    reply: (choose) => z.strictObject({ messages: z.array(messageReply(choose)), pagination }),
  }),
  getMessage: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/messages/{messageId}',
    summary: 'Read a message and mark it as read',
    origin: 'reference',
    params: messageParams,
    status: 200,
    reply: messageReply,
  }),
  updateMessage: defineOperation({
    ...withinInbox,
    method: 'PATCH',
    path: '/v1/inboxes/{id}/messages/{messageId}',
    summary: 'Mark a message as read, starred or archived',
    origin: 'reference',
    params: messageParams,
    body: () => z.object({ isRead: flag.optional(), isStarred: flag.optional(), isArchived: flag.optional() }),
    status: 200,
    reply: (choose) => UPDATE_REPLIES[choose('messages.update.reply')](choose),
  }),
  deleteMessage: defineOperation({
    ...withinInbox,
    method: 'DELETE',
    path: '/v1/inboxes/{id}/messages/{messageId}',
    summary: 'Delete a message; its thread still shows it',
    origin: 'reference',
    params: messageParams,
    status: 200,
    reply: (choose) => DELETE_REPLIES[choose('messages.delete.body')],
  }),
  getRawMessage: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/messages/{messageId}/raw',
    summary: 'Read the raw form of a message (RFC 5322)',
    origin: 'reference',
    params: messageParams,
    status: 200,
    content: 'message/rfc822',
    assumes: ['messages.raw'],
    reply: () => bytesReply,
  }),
  listAttachments: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/messages/{messageId}/attachments',
    summary: 'List the attachments of a message',
    origin: 'reference',
    params: messageParams,
    status: 200,
    assumes: ['messages.attachments.shape'],
    reply: () => z.strictObject({ attachments: z.array(attachment) }),
  }),
  getAttachment: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/messages/{messageId}/attachments/{attachmentId}',
    summary: 'Read the bytes of an attachment',
    origin: 'reference',
    params: messageParams.extend({ attachmentId: idInRequest }),
    status: 200,
    content: '*/*',
    reply: () => bytesReply,
  }),
  listAllMessages: defineOperation({
    method: 'GET',
    path: '/v1/messages',
    summary: 'List the messages of every inbox within the scope of the key',
    origin: 'reference',
    tiers: () => INBOX_TIERS,
    query: (choose) =>
      pageQuery(choose).extend({
        folder: z.enum(FOLDERS, `must be one of ${FOLDERS.join(', ')}`).optional(),
        group: z.enum(['thread'], 'must be thread').optional(),
        inboxId: idInRequest.optional(),
        workspace: idInRequest.optional(),
      }),
    status: 200,
    assumes: ['messages.list.pagination'],
    reply: (choose) => TENANT_LIST_REPLIES[choose('messages.all.shape')](choose),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  countFolders: defineOperation({
    method: 'GET',
    path: '/v1/messages/folders/counts',
    summary: 'Count the messages of each folder',
    origin: 'reference',
    tiers: () => INBOX_TIERS,
    query: () => z.object({ inboxId: idInRequest.optional(), workspace: idInRequest.optional() }),
    status: 200,
    assumes: ['messages.folders'],
    reply: (choose) => COUNTS[choose('messages.folders.counts')],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
};
