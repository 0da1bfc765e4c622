import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { unvalidatedAddresses } from '../email-address-schema.ts';
import { defineOperation } from '../operation.ts';
import { pageQuery } from '../query.ts';
import { idInRequest, idParams } from '../schemas.ts';
import { addressList, mailBodies, SEND_ERRORS, subject } from './sending.ts';
import { withinInbox } from './within-inbox.ts';

const draftParams = z.object({ id: idInRequest, draftId: idInRequest });

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
    errors: SEND_ERRORS,
  }),
};
