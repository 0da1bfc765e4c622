import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { bytesReply, DELETE_REPLIES, updatedReply } from '../replies.ts';
import { direction, flag, idInRequest, idParams, timestamp, uuid } from '../schemas.ts';
import { TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';
import { withinInbox } from './within-inbox.ts';

export const messageParams = z.object({ id: idInRequest, messageId: idInRequest });

const attachment = z.strictObject({
  id: uuid,
  filename: z.string(),
  contentType: z.string(),
  sizeBytes: z.int(),
});

const TO_FORMS = {
  string: z.string().describe('Several recipients are separated by commas.'),
  array: z.array(z.string()),
};

const FROM_FORMS = {
  display: z.string().describe('The display form, such as `Dana <dana@customer.test>`.'),
  bare: z.string().describe('The bare address, in lower case.'),
};

/** The fields of a message that the reference lists. */
const referenceMessage = z.strictObject({
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

const ADDED_FIELDS_BY_SHAPE = {
  extended: {
    inboxId: uuid,
    cc: z.array(z.string()),
    bcc: z.array(z.string()).describe('Empty for inbound mail.'),
    isStarred: z.boolean(),
    isArchived: z.boolean(),
  },
  reference: {},
};

/** The schema of a message in a reply (reference, "Message"). See src/contract/README.md, "The sources". */
export function messageReply(readBehaviour: ReadBehaviour) {
  return referenceMessage
    .extend(ADDED_FIELDS_BY_SHAPE[readBehaviour('messages.shape')])
    .extend(addressFields(readBehaviour));
}

function addressFields(readBehaviour: ReadBehaviour) {
  return { from: FROM_FORMS[readBehaviour('messages.from')], to: TO_FORMS[readBehaviour('messages.to')] };
}

/** A message in the tenant-wide list, in short form (reference). */
const messageSummary = (readBehaviour: ReadBehaviour) =>
  z.strictObject({
    id: uuid,
    inboxId: uuid,
    inboxUsername: z.string(),
    inboxDomain: z.string(),
    direction,
    ...addressFields(readBehaviour),
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

/**
 * A complete message in the tenant-wide list. With `group=thread`, it also has the number of messages in its thread.
 */
const completeMessage = (readBehaviour: ReadBehaviour) =>
  messageReply(readBehaviour).extend({ messageCount: z.int().optional() });

const UPDATE_REPLIES = { 'updated-and-id': () => updatedReply, message: messageReply };

/** The folders by which the tenant-wide list can be filtered. */
export const FOLDERS = ['inbox', 'sent', 'starred', 'archived', 'trash'] as const;

const TENANT_WIDE_LIST_REPLIES = {
  rows: (readBehaviour: ReadBehaviour) =>
    z.strictObject({ messages: z.array(messageSummary(readBehaviour)), pagination }),
  messages: (readBehaviour: ReadBehaviour) =>
    z.strictObject({ messages: z.array(completeMessage(readBehaviour)), pagination }),
};

const inboxFolderCounts = z.strictObject({ unread: z.int(), total: z.int() });
const folderCount = z.strictObject({ total: z.int() });

const FOLDER_COUNTS = {
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
    query: (readBehaviour) =>
      pageQuery(readBehaviour).extend({
        direction: z.enum(direction.options, 'must be inbound or outbound').optional(),
      }),
    status: 200,
    assumes: ['messages.list.pagination'],
    reply: (readBehaviour) => z.strictObject({ messages: z.array(messageReply(readBehaviour)), pagination }),
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
    reply: (readBehaviour) => UPDATE_REPLIES[readBehaviour('messages.update.reply')](readBehaviour),
  }),
  deleteMessage: defineOperation({
    ...withinInbox,
    method: 'DELETE',
    path: '/v1/inboxes/{id}/messages/{messageId}',
    summary: 'Delete a message; its thread still shows it',
    origin: 'reference',
    params: messageParams,
    status: 200,
    reply: (readBehaviour) => DELETE_REPLIES[readBehaviour('messages.delete.body')],
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
    tiers: () => TIERS_WITH_INBOX_ACCESS,
    query: (readBehaviour) =>
      pageQuery(readBehaviour).extend({
        folder: z.enum(FOLDERS, `must be one of ${FOLDERS.join(', ')}`).optional(),
        group: z.enum(['thread'], 'must be thread').optional(),
        inboxId: idInRequest.optional(),
        workspace: idInRequest.optional(),
      }),
    status: 200,
    assumes: ['messages.list.pagination'],
    reply: (readBehaviour) => TENANT_WIDE_LIST_REPLIES[readBehaviour('messages.all.shape')](readBehaviour),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  countFolders: defineOperation({
    method: 'GET',
    path: '/v1/messages/folders/counts',
    summary: 'Count the messages of each folder',
    origin: 'reference',
    tiers: () => TIERS_WITH_INBOX_ACCESS,
    query: () => z.object({ inboxId: idInRequest.optional(), workspace: idInRequest.optional() }),
    status: 200,
    assumes: ['messages.folders'],
    reply: (readBehaviour) => FOLDER_COUNTS[readBehaviour('messages.folders.counts')],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
};
