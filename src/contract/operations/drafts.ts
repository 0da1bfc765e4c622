import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { unvalidatedAddresses } from '../email-address-schema.ts';
import { defineOperation, defineReplies, withinInboxByReference } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { deleteReplies, idInRequest, idParams, subject, timestamp, uuid } from '../schemas.ts';
import { addressList, mailBodies, SEND_ERRORS, sentReply } from './sending.ts';

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

const draft = () =>
  z
    .strictObject({
      id: uuid(),
      inboxId: uuid(),
      to: z.array(z.string()),
      cc: z.array(z.string()),
      bcc: z.array(z.string()),
      subject: z.string().nullable(),
      plainBody: z.string().nullable(),
      htmlBody: z.string().nullable(),
      replyToMessageId: uuid().nullable(),
      createdAt: timestamp(),
      updatedAt: timestamp(),
    })
    .meta({ id: 'Draft' });

const listReplies = () => ({
  drafts: z.strictObject({ drafts: z.array(draft()) }),
  'with-pagination': z.strictObject({ drafts: z.array(draft()), pagination: pagination() }),
});

const sentDraft = () => sentReply().extend({ draftId: uuid() }).meta({ id: 'SentDraft' });

const sent = () => ({
  'message-id-header': sentDraft(),
  'message-id': sentDraft().extend({ messageId: uuid() }).meta({ id: 'SentDraft' }),
});

/** The bodies of the successful replies of these operations. */
export const draftReplies = defineReplies({
  createDraft: draft,
  listDrafts: (readBehaviour) => listReplies()[readBehaviour('drafts.list.reply')],
  getDraft: draft,
  updateDraft: draft,
  deleteDraft: (readBehaviour) => deleteReplies()[readBehaviour('drafts.delete.body')],
  sendDraft: (readBehaviour) => sent()[readBehaviour('sending.reply')],
});
