import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation, defineReplies, withinInboxByReference } from '../operation.ts';
import { FOLDERS, pageQuery, pagination } from '../query.ts';
import {
  bytesReply,
  deleteReplies,
  direction,
  flag,
  idInRequest,
  idParams,
  timestamp,
  updatedReply,
  uuid,
} from '../schemas.ts';
import { TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';

export const messageParams = () => z.object({ id: idInRequest(), messageId: idInRequest() });

export const messageOperations = {
  listMessages: defineOperation('GET /v1/inboxes/{id}/messages', 'List the messages of an inbox', {
    ...withinInboxByReference,
    params: idParams,
    query: (readBehaviour) =>
      pageQuery(readBehaviour).extend({
        direction: z.enum(direction().options, 'must be inbound or outbound').optional(),
      }),
    assumes: ['messages.list.pagination'],
  }),
  getMessage: defineOperation('GET /v1/inboxes/{id}/messages/{messageId}', 'Read a message and mark it as read', {
    ...withinInboxByReference,
    params: messageParams,
  }),
  updateMessage: defineOperation(
    'PATCH /v1/inboxes/{id}/messages/{messageId}',
    'Mark a message as read, starred or archived',
    {
      ...withinInboxByReference,
      params: messageParams,
      body: () => z.object({ isRead: flag().optional(), isStarred: flag().optional(), isArchived: flag().optional() }),
    },
  ),
  deleteMessage: defineOperation(
    'DELETE /v1/inboxes/{id}/messages/{messageId}',
    'Delete a message; its thread still shows it',
    { ...withinInboxByReference, params: messageParams },
  ),
  getRawMessage: defineOperation(
    'GET /v1/inboxes/{id}/messages/{messageId}/raw',
    'Read the raw form of a message (RFC 5322)',
    { ...withinInboxByReference, params: messageParams, content: 'message/rfc822', assumes: ['messages.raw'] },
  ),
  listAttachments: defineOperation(
    'GET /v1/inboxes/{id}/messages/{messageId}/attachments',
    'List the attachments of a message',
    { ...withinInboxByReference, params: messageParams, assumes: ['messages.attachments.shape'] },
  ),
  getAttachment: defineOperation(
    'GET /v1/inboxes/{id}/messages/{messageId}/attachments/{attachmentId}',
    'Read the bytes of an attachment',
    {
      ...withinInboxByReference,
      params: () => messageParams().extend({ attachmentId: idInRequest() }),
      content: '*/*',
    },
  ),
  listAllMessages: defineOperation('GET /v1/messages', 'List the messages of every inbox within the scope of the key', {
    origin: 'reference',
    tiers: () => TIERS_WITH_INBOX_ACCESS,
    query: (readBehaviour) =>
      pageQuery(readBehaviour).extend({
        folder: z.enum(FOLDERS, `must be one of ${FOLDERS.join(', ')}`).optional(),
        group: z.enum(['thread'], 'must be thread').optional(),
        inboxId: idInRequest().optional(),
        workspace: idInRequest().optional(),
      }),
    assumes: ['messages.list.pagination'],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  countFolders: defineOperation('GET /v1/messages/folders/counts', 'Count the messages of each folder', {
    origin: 'reference',
    tiers: () => TIERS_WITH_INBOX_ACCESS,
    query: () => z.object({ inboxId: idInRequest().optional(), workspace: idInRequest().optional() }),
    assumes: ['messages.folders'],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
};

const attachment = () =>
  z
    .strictObject({ id: uuid(), filename: z.string(), contentType: z.string(), sizeBytes: z.int() })
    .meta({ id: 'Attachment' });

const addressForms = () => ({
  bare: z.string().describe('The bare address, in lower case.'),
  display: z.string().describe('The display form, such as `Dana <dana@customer.test>`.'),
});

const toForms = () => ({
  string: z.string().describe('Several recipients are separated by commas.'),
  array: z.array(z.string()),
});

/** The fields of a message that the reference lists. */
const referenceMessage = () =>
  z.strictObject({
    id: uuid(),
    direction: direction(),
    from: z.string(),
    to: z.string(),
    subject: z.string(),
    plainBody: z.string(),
    htmlBody: z.string().nullable(),
    isRead: z.boolean(),
    threadId: uuid(),
    messageIdHeader: z.string().describe('The Message-ID, with its angle brackets.'),
    inReplyTo: z.string().nullable(),
    receivedAt: timestamp().describe('When the message arrived or was sent.'),
    attachments: z.array(attachment()),
  });

const extended = () => ({
  inboxId: uuid(),
  cc: z.array(z.string()),
  bcc: z.array(z.string()).describe('Empty for inbound mail.'),
  isStarred: z.boolean(),
  isArchived: z.boolean(),
});

const addedFieldsByShape = () => ({
  extended: extended(),
  reference: {},
  legacy: {
    ...extended(),
    fromAddress: z.string(),
    fromName: z.string().nullable(),
    toAddresses: z.array(z.string()),
    sentAt: timestamp(),
    createdAt: timestamp(),
  },
});

/** The schema of a message in a reply (reference, "Message"). See src/contract/README.md, "The sources". */
export function messageReply(readBehaviour: ReadBehaviour) {
  return referenceMessage()
    .extend(addedFieldsByShape()[readBehaviour('messages.shape')])
    .extend(addressFields(readBehaviour))
    .meta({ id: 'Message' });
}

function addressFields(readBehaviour: ReadBehaviour) {
  return { from: addressForms()[readBehaviour('messages.addresses')], to: toForms()[readBehaviour('messages.to')] };
}

/** A message in the tenant-wide list, in short form (reference). */
const messageSummary = (readBehaviour: ReadBehaviour) =>
  z
    .strictObject({
      id: uuid(),
      inboxId: uuid(),
      inboxUsername: z.string(),
      inboxDomain: z.string(),
      direction: direction(),
      ...addressFields(readBehaviour),
      subject: z.string(),
      snippet: z.string().describe('The beginning of the text, on one line.'),
      isRead: z.boolean(),
      isStarred: z.boolean(),
      isArchived: z.boolean(),
      receivedAt: timestamp(),
      threadId: uuid(),
      threadCount: z.int().describe('The number of messages in its thread.'),
      threadUnreadCount: z.int(),
    })
    .meta({ id: 'MessageSummary' });

/**
 * A complete message in the tenant-wide list. With `group=thread`, it also has the number of messages in its thread.
 */
const completeMessage = (readBehaviour: ReadBehaviour) =>
  messageReply(readBehaviour).extend({ messageCount: z.int().optional() }).meta({ id: 'MessageSummary' });

const UPDATE_REPLIES = { 'updated-and-id': () => updatedReply(), message: messageReply };

const TENANT_WIDE_LIST_REPLIES = {
  rows: (readBehaviour: ReadBehaviour) =>
    z.strictObject({ messages: z.array(messageSummary(readBehaviour)), pagination: pagination() }),
  messages: (readBehaviour: ReadBehaviour) =>
    z.strictObject({ messages: z.array(completeMessage(readBehaviour)), pagination: pagination() }),
};

const inboxFolderCounts = () => z.strictObject({ unread: z.int(), total: z.int() });

const folderCount = () => z.strictObject({ total: z.int() });

const folderCounts = () => ({
  objects: z.strictObject({
    inbox: inboxFolderCounts(),
    sent: folderCount(),
    starred: folderCount(),
    archived: folderCount(),
    trash: folderCount(),
  }),
  numbers: z.strictObject({
    inbox: inboxFolderCounts(),
    sent: z.int(),
    starred: z.int(),
    archived: z.int(),
    trash: z.int(),
  }),
});

/** The bodies of the successful replies of these operations. */
export const messageReplies = defineReplies({
  listMessages: (readBehaviour) =>
    z.strictObject({ messages: z.array(messageReply(readBehaviour)), pagination: pagination() }),
  getMessage: messageReply,
  updateMessage: (readBehaviour) => UPDATE_REPLIES[readBehaviour('messages.update.reply')](readBehaviour),
  deleteMessage: (readBehaviour) => deleteReplies()[readBehaviour('messages.delete.body')],
  getRawMessage: bytesReply,
  listAttachments: () => z.strictObject({ attachments: z.array(attachment()) }),
  getAttachment: bytesReply,
  listAllMessages: (readBehaviour) => TENANT_WIDE_LIST_REPLIES[readBehaviour('messages.all.shape')](readBehaviour),
  countFolders: (readBehaviour) => folderCounts()[readBehaviour('messages.folders.counts')],
});
