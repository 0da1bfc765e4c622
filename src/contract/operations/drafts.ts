import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { unvalidatedAddresses } from '../email-address-schema.ts';
import { chosenBy, withinInbox } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { deleteReplies, idInRequest, named, subject, timestamp, uuid } from '../schemas.ts';
import { addressList, mailBodies, SEND_ERRORS, sentReplies } from './sending.ts';

const RECIPIENTS = { kept: unvalidatedAddresses, checked: addressList };

const body = (readBehaviour: ReadBehaviour) => {
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

const draft = () =>
  named('Draft', {
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
  });

export const draftOperations = {
  createDraft: withinInbox('POST /v1/inboxes/{id}/drafts', 'Create a draft', {
    origin: 'reference',
    assumes: ['sending.addresses', 'drafts.shape'],
    body,
    reply: draft,
    status: 201,
  }),
  listDrafts: withinInbox('GET /v1/inboxes/{id}/drafts', 'List the drafts of an inbox', {
    origin: 'reference',
    query: pageQuery,
    reply: chosenBy('drafts.list.reply', () => ({
      drafts: z.strictObject({ drafts: z.array(draft()) }),
      'with-pagination': z.strictObject({ drafts: z.array(draft()), pagination: pagination() }),
    })),
    assumes: ['drafts.shape', 'messages.list.pagination'],
  }),
  getDraft: withinInbox('GET /v1/inboxes/{id}/drafts/{draftId}', 'Read a draft', {
    origin: 'reference',
    reply: draft,
    assumes: ['drafts.shape'],
  }),
  updateDraft: withinInbox('PATCH /v1/inboxes/{id}/drafts/{draftId}', 'Update a draft', {
    origin: 'reference',
    assumes: ['sending.addresses', 'drafts.shape'],
    body,
    reply: draft,
  }),
  deleteDraft: withinInbox('DELETE /v1/inboxes/{id}/drafts/{draftId}', 'Delete a draft', {
    origin: 'reference',
    reply: chosenBy('drafts.delete.body', deleteReplies),
  }),
  sendDraft: withinInbox('POST /v1/inboxes/{id}/drafts/{draftId}/send', 'Send a draft and delete it', {
    origin: 'reference',
    reply: chosenBy('sending.reply', () => sentReplies('SentDraft', { draftId: uuid() })),
    assumes: ['drafts.send.reply'],
    errors: SEND_ERRORS,
  }),
};
