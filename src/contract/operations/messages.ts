import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { FOLDERS, pageQuery } from '../query.ts';
import { direction, flag, idInRequest, idParams } from '../schemas.ts';
import { TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';
import { withinInboxByReference } from './within-inbox.ts';

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
