import { z } from 'zod';
import { unvalidatedAddresses } from '../addresses/email-address-schema.ts';
import type { ReadBehaviour } from '../behaviours.ts';
import { chooseBy, inInboxFromReference } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import {
  deleteReplies,
  fieldsOf,
  idInRequest,
  nullableText,
  object,
  subject,
  texts,
  timestamp,
  uuid,
} from '../schemas.ts';
import { addressList, mailBodies, SEND_ERRORS, sentReplies } from './sending.ts';

const RECIPIENTS = { kept: unvalidatedAddresses, checked: addressList };

const body = (readBehaviour: ReadBehaviour) => {
  const recipients = RECIPIENTS[readBehaviour('drafts.recipients')](readBehaviour).nullish();
  return z.object({
    ...fieldsOf(() => recipients, 'to', 'cc', 'bcc'),
    subject: subject().nullish(),
    ...mailBodies(),
    replyToMessageId: idInRequest().nullish(),
  });
};

const draft = () =>
  object('Draft', {
    ...fieldsOf(uuid, 'id', 'inboxId'),
    ...fieldsOf(texts, 'to', 'cc', 'bcc'),
    ...fieldsOf(nullableText, 'subject', 'plainBody', 'htmlBody'),
    replyToMessageId: uuid().nullable(),
    ...fieldsOf(timestamp, 'createdAt', 'updatedAt'),
  });

export const draftOperations = {
  createDraft: inInboxFromReference('POST /v1/inboxes/{id}/drafts', 'Create a draft', {
    body,
    reply: draft,
    status: 201,
  }),
  listDrafts: inInboxFromReference('GET /v1/inboxes/{id}/drafts', 'List the drafts of an inbox', {
    query: pageQuery,
    reply: chooseBy('drafts.list.reply', () => ({
      drafts: z.strictObject({ drafts: z.array(draft()) }),
      'with-pagination': z.strictObject({ drafts: z.array(draft()), pagination: pagination() }),
    })),
  }),
  getDraft: inInboxFromReference('GET /v1/inboxes/{id}/drafts/{draftId}', 'Read a draft', {
    reply: draft,
  }),
  updateDraft: inInboxFromReference('PATCH /v1/inboxes/{id}/drafts/{draftId}', 'Update a draft', {
    body,
    reply: draft,
  }),
  deleteDraft: inInboxFromReference('DELETE /v1/inboxes/{id}/drafts/{draftId}', 'Delete a draft', {
    reply: chooseBy('drafts.delete.body', deleteReplies),
  }),
  sendDraft: inInboxFromReference('POST /v1/inboxes/{id}/drafts/{draftId}/send', 'Send a draft and delete it', {
    reply: chooseBy('sending.reply', () => sentReplies('SentDraft', { draftId: uuid() })),
    errors: SEND_ERRORS,
  }),
};
