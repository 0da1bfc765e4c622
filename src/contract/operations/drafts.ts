import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { unvalidatedAddresses } from '../email-address-schema.ts';
import { chosenBy, inInboxByReference } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { deleteReplies, each, idInRequest, named, nullableText, subject, texts, timestamp, uuid } from '../schemas.ts';
import { addressList, mailBodies, SEND_ERRORS, sentReplies } from './sending.ts';

const RECIPIENTS = { kept: unvalidatedAddresses, checked: addressList };

const body = (readBehaviour: ReadBehaviour) => {
  const recipients = RECIPIENTS[readBehaviour('drafts.recipients')](readBehaviour).nullish();
  return z.object({
    ...each(() => recipients, 'to', 'cc', 'bcc'),
    subject: subject().nullish(),
    ...mailBodies(),
    replyToMessageId: idInRequest().nullish(),
  });
};

const draft = () =>
  named('Draft', {
    ...each(uuid, 'id', 'inboxId'),
    ...each(texts, 'to', 'cc', 'bcc'),
    ...each(nullableText, 'subject', 'plainBody', 'htmlBody'),
    replyToMessageId: uuid().nullable(),
    ...each(timestamp, 'createdAt', 'updatedAt'),
  });

export const draftOperations = {
  createDraft: inInboxByReference('POST /v1/inboxes/{id}/drafts', 'Create a draft', {
    assumes: ['sending.addresses', 'drafts.shape'],
    body,
    reply: draft,
    status: 201,
  }),
  listDrafts: inInboxByReference('GET /v1/inboxes/{id}/drafts', 'List the drafts of an inbox', {
    query: pageQuery,
    reply: chosenBy('drafts.list.reply', () => ({
      drafts: z.strictObject({ drafts: z.array(draft()) }),
      'with-pagination': z.strictObject({ drafts: z.array(draft()), pagination: pagination() }),
    })),
    assumes: ['drafts.shape', 'messages.list.pagination'],
  }),
  getDraft: inInboxByReference('GET /v1/inboxes/{id}/drafts/{draftId}', 'Read a draft', {
    reply: draft,
    assumes: ['drafts.shape'],
  }),
  updateDraft: inInboxByReference('PATCH /v1/inboxes/{id}/drafts/{draftId}', 'Update a draft', {
    assumes: ['sending.addresses', 'drafts.shape'],
    body,
    reply: draft,
  }),
  deleteDraft: inInboxByReference('DELETE /v1/inboxes/{id}/drafts/{draftId}', 'Delete a draft', {
    reply: chosenBy('drafts.delete.body', deleteReplies),
  }),
  sendDraft: inInboxByReference('POST /v1/inboxes/{id}/drafts/{draftId}/send', 'Send a draft and delete it', {
    reply: chosenBy('sending.reply', () => sentReplies('SentDraft', { draftId: uuid() })),
    assumes: ['drafts.send.reply'],
    errors: SEND_ERRORS,
  }),
};
