import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { unvalidatedAddresses } from '../email-address-schema.ts';
import { defineOperation } from '../operation.ts';
import { pageQuery } from '../query.ts';
import { idInRequest, idParams, subject } from '../schemas.ts';
import { addressList, mailBodies, SEND_ERRORS } from './sending.ts';
import { withinInboxByReference } from './within-inbox.ts';

const draftParams = () => z.object({ id: idInRequest(), draftId: idInRequest() });

const RECIPIENTS = { kept: unvalidatedAddresses, checked: addressList };

const draftBody = (readBehaviour: ReadBehaviour) => {
  const recipients = RECIPIENTS[readBehaviour('drafts.recipients')](readBehaviour).nullish();
  return z.object({
    to: recipients,
    cc: recipients,
    bcc: recipients,
    subject: subject().nullish(),
    ...mailBodies(),
    replyToMessageId: idInRequest().nullish(),
  });
};

export const draftOperations = {
  createDraft: defineOperation('POST /v1/inboxes/{id}/drafts', 'Create a draft', {
    ...withinInboxByReference,
    params: idParams,
    assumes: ['sending.addresses', 'drafts.shape'],
    body: draftBody,
    status: 201,
  }),
  listDrafts: defineOperation('GET /v1/inboxes/{id}/drafts', 'List the drafts of an inbox', {
    ...withinInboxByReference,
    params: idParams,
    query: pageQuery,
    assumes: ['drafts.shape', 'messages.list.pagination'],
  }),
  getDraft: defineOperation('GET /v1/inboxes/{id}/drafts/{draftId}', 'Read a draft', {
    ...withinInboxByReference,
    params: draftParams,
    assumes: ['drafts.shape'],
  }),
  updateDraft: defineOperation('PATCH /v1/inboxes/{id}/drafts/{draftId}', 'Update a draft', {
    ...withinInboxByReference,
    params: draftParams,
    assumes: ['sending.addresses', 'drafts.shape'],
    body: draftBody,
  }),
  deleteDraft: defineOperation('DELETE /v1/inboxes/{id}/drafts/{draftId}', 'Delete a draft', {
    ...withinInboxByReference,
    params: draftParams,
  }),
  sendDraft: defineOperation('POST /v1/inboxes/{id}/drafts/{draftId}/send', 'Send a draft and delete it', {
    ...withinInboxByReference,
    params: draftParams,
    assumes: ['drafts.send.reply'],
    errors: SEND_ERRORS,
  }),
};
