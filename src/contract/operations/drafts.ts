import { z } from 'zod';
import type { Choose } from '../behaviours.ts';
import { emailAddresses } from '../email-address.ts';
import { defineOperation } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { deletedReply, emptyReply, pathId, timestamp, uuid } from '../schemas.ts';
import { INBOX_TIERS } from './messages.ts';
import { mailBodies, SEND_ERRORS, sentReply, subject } from './sending.ts';

const draftParams = z.object({ id: pathId, draftId: pathId });

const draft = z.strictObject({
  id: uuid,
  inboxId: uuid,
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  subject: z.string().nullable(),
  plainBody: z.string().nullable(),
  htmlBody: z.string().nullable(),
  replyToMessageId: uuid.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const draftReply = (choose: Choose) => ({ reference: draft })[choose('drafts.shape')];

const draftBody = () =>
  z.object({
    to: emailAddresses.nullish(),
    cc: emailAddresses.nullish(),
    bcc: emailAddresses.nullish(),
    subject: subject.nullish(),
    ...mailBodies,
    replyToMessageId: pathId.nullish(),
  });

const LIST_REPLIES = {
  drafts: (choose: Choose) => z.strictObject({ drafts: z.array(draftReply(choose)) }),
  'with-pagination': (choose: Choose) => z.strictObject({ drafts: z.array(draftReply(choose)), pagination }),
};

const DELETE_REPLIES = { 'deleted-and-id': deletedReply, empty: emptyReply };

const sentDraft = sentReply.extend({ draftId: uuid });
const SENT = { 'message-id-header': sentDraft, 'message-id': sentDraft.extend({ messageId: uuid }) };

export const draftOperations = {
  createDraft: defineOperation({
    method: 'POST',
    path: '/v1/inboxes/{id}/drafts',
    summary: 'Create a draft',
    origin: 'reference',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: z.object({ id: pathId }),
    body: draftBody,
    status: 201,
    reply: draftReply,
  }),
  listDrafts: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}/drafts',
    summary: 'List the drafts of an inbox',
    origin: 'reference',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: z.object({ id: pathId }),
    query: pageQuery,
    status: 200,
    reply: (choose) => LIST_REPLIES[choose('drafts.list.reply')](choose),
  }),
  getDraft: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}/drafts/{draftId}',
    summary: 'Read a draft',
    origin: 'reference',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: draftParams,
    status: 200,
    reply: draftReply,
  }),
  updateDraft: defineOperation({
    method: 'PATCH',
    path: '/v1/inboxes/{id}/drafts/{draftId}',
    summary: 'Change fields of a draft',
    origin: 'reference',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: draftParams,
    body: draftBody,
    status: 200,
    reply: draftReply,
  }),
  deleteDraft: defineOperation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}/drafts/{draftId}',
    summary: 'Delete a draft',
    origin: 'reference',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: draftParams,
    status: 200,
    reply: (choose) => DELETE_REPLIES[choose('drafts.delete.body')],
  }),
  sendDraft: defineOperation({
    method: 'POST',
    path: '/v1/inboxes/{id}/drafts/{draftId}/send',
    summary: 'Send a draft, which deletes it',
    origin: 'reference',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: draftParams,
    status: 200,
    reply: (choose) => SENT[choose('sending.reply')],
    errors: SEND_ERRORS,
  }),
};
