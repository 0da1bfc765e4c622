import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { FOLDERS } from '../mail-folders.ts';
import { chooseBy, defineOperations, inInboxFromReference } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import {
  bytesReply,
  deleteReplies,
  direction,
  fieldsOf,
  flag,
  idInRequest,
  object,
  texts,
  timestamp,
  updatedReply,
  uuid,
} from '../schemas.ts';
import { TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';

const attachment = () =>
  object('Attachment', { id: uuid(), filename: z.string(), contentType: z.string(), sizeBytes: z.int() });

const addressForms = () => ({
  bare: z.string().describe('The bare address, in lower case.'),
  display: z.string().describe('The display form, such as `Dana <dana@customer.test>`.'),
});

const toForms = () => ({
  string: z.string().describe('Several recipients are separated by commas.'),
  array: z.array(z.string()),
});

function addressFields(readBehaviour: ReadBehaviour) {
  return { from: addressForms()[readBehaviour('messages.addresses')], to: toForms()[readBehaviour('messages.to')] };
}

/** The fields of a message that the reference lists. */
const referenceMessage = () =>
  z.strictObject({
    id: uuid(),
    direction: direction(),
    ...fieldsOf(() => z.string(), 'from', 'to', 'subject', 'plainBody'),
    htmlBody: z.string().nullable(),
    isRead: z.boolean(),
    threadId: uuid(),
    messageIdHeader: z.string().describe('The Message-ID, with its angle brackets.'),
    inReplyTo: z.string().nullable(),
    receivedAt: timestamp().describe('When the message arrived or was sent.'),
    attachments: z.array(attachment()),
  });

const extendedFields = () => ({
  inboxId: uuid(),
  cc: texts(),
  bcc: texts().describe('Empty for inbound mail.'),
  ...fieldsOf(z.boolean, 'isStarred', 'isArchived'),
});

const addedFields = chooseBy('messages.shape', () => ({
  extended: extendedFields(),
  reference: {},
  legacy: {
    ...extendedFields(),
    fromAddress: z.string(),
    fromName: z.string().nullable(),
    toAddresses: texts(),
    ...fieldsOf(timestamp, 'sentAt', 'createdAt'),
  },
}));

/** The schema of a message in a reply (reference, "Message"). See src/contract/README.md, "The sources". */
export function messageReply(readBehaviour: ReadBehaviour) {
  return referenceMessage()
    .extend(addedFields(readBehaviour))
    .extend(addressFields(readBehaviour))
    .meta({ id: 'Message' });
}

/** A message in the tenant-wide list, in short form (reference). */
const messageSummary = (readBehaviour: ReadBehaviour) =>
  object('MessageSummary', {
    ...fieldsOf(uuid, 'id', 'inboxId'),
    ...fieldsOf(() => z.string(), 'inboxUsername', 'inboxDomain'),
    direction: direction(),
    ...addressFields(readBehaviour),
    subject: z.string(),
    snippet: z.string().describe('The beginning of the text, on one line.'),
    ...fieldsOf(z.boolean, 'isRead', 'isStarred', 'isArchived'),
    receivedAt: timestamp(),
    threadId: uuid(),
    threadCount: z.int().describe('The number of messages in its thread.'),
    threadUnreadCount: z.int(),
  });

/**
 * A complete message in the tenant-wide list. With `group=thread`, it also has the number of messages in its thread.
 */
const completeMessage = (readBehaviour: ReadBehaviour) =>
  messageReply(readBehaviour).extend({ messageCount: z.int().optional() }).meta({ id: 'MessageSummary' });

const pageOf = <Message extends z.ZodType>(message: Message) =>
  z.strictObject({ messages: z.array(message), pagination: pagination() });

const TENANT_WIDE_LIST_REPLIES = {
  rows: (readBehaviour: ReadBehaviour) => pageOf(messageSummary(readBehaviour)),
  messages: (readBehaviour: ReadBehaviour) => pageOf(completeMessage(readBehaviour)),
};

const UPDATE_REPLIES = { 'updated-and-id': () => updatedReply(), message: messageReply };

/** The counts of the folders. `count` creates the schema for each folder except the inbox, which also counts unread. */
const folderCounts = <Count extends z.ZodType>(count: () => Count) =>
  z.strictObject({
    inbox: z.strictObject({ unread: z.int(), total: z.int() }),
    ...fieldsOf(count, 'sent', 'starred', 'archived', 'trash'),
  });

/** Creates the row of an operation on the messages of the whole tenant. */
const tenantWide = defineOperations({
  origin: 'reference',
  tiers: TIERS_WITH_INBOX_ACCESS,
  errors: ['FORBIDDEN', 'NOT_FOUND'],
});

export const messageOperations = {
  listMessages: inInboxFromReference('GET /v1/inboxes/{id}/messages', 'List the messages of an inbox', {
    query: (readBehaviour) =>
      pageQuery(readBehaviour).extend({
        direction: z.enum(direction().options, 'must be inbound or outbound').optional(),
      }),
    reply: (readBehaviour) => pageOf(messageReply(readBehaviour)),
  }),
  getMessage: inInboxFromReference('GET /v1/inboxes/{id}/messages/{messageId}', 'Read a message and mark it as read', {
    reply: messageReply,
  }),
  updateMessage: inInboxFromReference(
    'PATCH /v1/inboxes/{id}/messages/{messageId}',
    'Mark a message as read, starred or archived',
    {
      body: () => z.object({ isRead: flag().optional(), isStarred: flag().optional(), isArchived: flag().optional() }),
      reply: (readBehaviour) => UPDATE_REPLIES[readBehaviour('messages.update.reply')](readBehaviour),
    },
  ),
  deleteMessage: inInboxFromReference(
    'DELETE /v1/inboxes/{id}/messages/{messageId}',
    'Delete a message; its thread still shows it',
    { reply: chooseBy('messages.delete.body', deleteReplies) },
  ),
  getRawMessage: inInboxFromReference(
    'GET /v1/inboxes/{id}/messages/{messageId}/raw',
    'Read the raw form of a message (RFC 5322)',
    { reply: bytesReply, content: 'message/rfc822' },
  ),
  listAttachments: inInboxFromReference(
    'GET /v1/inboxes/{id}/messages/{messageId}/attachments',
    'List the attachments of a message',
    { reply: () => z.strictObject({ attachments: z.array(attachment()) }) },
  ),
  getAttachment: inInboxFromReference(
    'GET /v1/inboxes/{id}/messages/{messageId}/attachments/{attachmentId}',
    'Read the bytes of an attachment',
    { reply: bytesReply, content: '*/*' },
  ),
  listAllMessages: tenantWide('GET /v1/messages', 'List the messages of every inbox within the scope of the key', {
    query: (readBehaviour) =>
      pageQuery(readBehaviour).extend({
        folder: z.enum(FOLDERS, `must be one of ${FOLDERS.join(', ')}`).optional(),
        group: z.enum(['thread'], 'must be thread').optional(),
        inboxId: idInRequest().optional(),
        workspace: idInRequest().optional(),
      }),
    reply: (readBehaviour) => TENANT_WIDE_LIST_REPLIES[readBehaviour('messages.all.shape')](readBehaviour),
  }),
  countFolders: tenantWide('GET /v1/messages/folders/counts', 'Count the messages of each folder', {
    query: () => z.object({ inboxId: idInRequest().optional(), workspace: idInRequest().optional() }),
    reply: chooseBy('messages.folders.counts', () => ({
      objects: folderCounts(() => z.strictObject({ total: z.int() })),
      numbers: folderCounts(z.int),
    })),
  }),
};
