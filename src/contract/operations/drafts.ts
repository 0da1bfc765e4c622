import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { unvalidatedAddresses } from '../email-address-schema.ts';
import { defineOperation } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { DELETE_REPLIES } from '../replies.ts';
import { idInRequest, idParams, timestamp, uuid } from '../schemas.ts';
import { addressList, mailBodies, SEND_ERRORS, sentReply, subject } from './sending.ts';
import { withinInbox } from './within-inbox.ts';

const draftParams = z.object({ id: idInRequest, draftId: idInRequest });

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

const RECIPIENTS = { kept: () => unvalidatedAddresses, checked: addressList };

const draftBody = (readBehaviour: ReadBehaviour) => {
  const recipients = RECIPIENTS[readBehaviour('drafts.recipients')](readBehaviour).nullish();
  return z.object({
    to: recipients,
    cc: recipients,
    bcc: recipients,
    subject: subject.nullish(),
    ...mailBodies,
    replyToMessageId: idInRequest.nullish(),
  });
};

const LIST_REPLIES = {
  drafts: z.strictObject({ drafts: z.array(draft) }),
  'with-pagination': z.strictObject({ drafts: z.array(draft), pagination }),
};

const sentDraft = sentReply.extend({ draftId: uuid });
const SENT = { 'message-id-header': sentDraft, 'message-id': sentDraft.extend({ messageId: uuid }) };

export const draftOperations = {
  createDraft: defineOperation({
    ...withinInbox,
    method: 'POST',
    path: '/v1/inboxes/{id}/drafts',
    summary: 'Create a draft',
    origin: 'reference',
    params: idParams,
    assumes: ['sending.addresses', 'drafts.shape'],
    body: draftBody,
    status: 201,
    reply: () => draft,
    errors: ['STORAGE_FULL'],
  }),
  listDrafts: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/drafts',
    summary: 'List the drafts of an inbox',
    origin: 'reference',
    params: idParams,
    query: pageQuery,
    status: 200,
    assumes: ['drafts.shape', 'messages.list.pagination'],
    reply: (readBehaviour) => LIST_REPLIES[readBehaviour('drafts.list.reply')],
  }),
  getDraft: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/drafts/{draftId}',
    summary: 'Read a draft',
    origin: 'reference',
    params: draftParams,
    status: 200,
    assumes: ['drafts.shape'],
    reply: () => draft,
  }),
  updateDraft: defineOperation({
    ...withinInbox,
    method: 'PATCH',
    path: '/v1/inboxes/{id}/drafts/{draftId}',
    summary: 'Update a draft',
    origin: 'reference',
    params: draftParams,
    assumes: ['sending.addresses', 'drafts.shape'],
    body: draftBody,
    status: 200,
    reply: () => draft,
    errors: ['STORAGE_FULL'],
  }),
  deleteDraft: defineOperation({
    ...withinInbox,
    method: 'DELETE',
    path: '/v1/inboxes/{id}/drafts/{draftId}',
    summary: 'Delete a draft',
    origin: 'reference',
    params: draftParams,
    status: 200,
    reply: (readBehaviour) => DELETE_REPLIES[readBehaviour('drafts.delete.body')],
  }),
  sendDraft: defineOperation({
    ...withinInbox,
    method: 'POST',
    path: '/v1/inboxes/{id}/drafts/{draftId}/send',
    summary: 'Send a draft and delete it',
    origin: 'reference',
    params: draftParams,
    status: 200,
    assumes: ['drafts.send.reply'],
    reply: (readBehaviour) => SENT[readBehaviour('sending.reply')],
    errors: SEND_ERRORS,
  }),
};
