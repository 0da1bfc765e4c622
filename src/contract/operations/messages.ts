import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { pageQuery } from '../query.ts';
import { direction, flag, idInRequest, idParams } from '../schemas.ts';
import { TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';
import { withinInbox } from './within-inbox.ts';

export const messageParams = z.object({ id: idInRequest, messageId: idInRequest });

/** The folders by which the tenant-wide list can be filtered. */
export const FOLDERS = ['inbox', 'sent', 'starred', 'archived', 'trash'] as const;

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
  }),
  getMessage: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/messages/{messageId}',
    summary: 'Read a message and mark it as read',
    origin: 'reference',
    params: messageParams,
    status: 200,
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
  }),
  deleteMessage: defineOperation({
    ...withinInbox,
    method: 'DELETE',
    path: '/v1/inboxes/{id}/messages/{messageId}',
    summary: 'Delete a message; its thread still shows it',
    origin: 'reference',
    params: messageParams,
    status: 200,
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
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
};
