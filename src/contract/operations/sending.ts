import { z } from 'zod';
import type { Choose } from '../behaviours.ts';
import { emailAddress, emailAddresses, emailAddressOrArray } from '../email-address-schema.ts';
import type { ErrorCode } from '../errors.ts';
import { defineOperation } from '../operation.ts';
import { flag, idParams, line, text, uuid } from '../schemas.ts';
import { messageParams } from './messages.ts';
import { withinInbox } from './within-inbox.ts';

/** What every way of sending can be refused with. */
export const SEND_ERRORS = [
  'INBOX_PAUSED',
  'UNVERIFIED_RECIPIENT',
  'RELAY_FAILED',
  'STORAGE_FULL',
] as const satisfies ErrorCode[];

/** One body of a mail. */
export const mailBody = text(500_000);

/** The bodies of a mail; either may be missing. */
export const mailBodies = { plainBody: mailBody.nullish(), htmlBody: mailBody.nullish() };

/** The most characters of a line of a mail (RFC 5322, section 2.1.1). */
export const MAX_SUBJECT_LENGTH = 998;

/** The subject of a mail. */
export const subject = line(MAX_SUBJECT_LENGTH);

const LISTS = { commas: emailAddresses, arrays: emailAddressOrArray };

/** Addresses of recipients, as the ledger says that they are written. */
export const addressList = (choose: Choose) => LISTS[choose('sending.address-lists')];

function recipients(choose: Choose) {
  return addressList(choose).refine((list) => list.length > 0, 'must name at least one address');
}

/** Who gets a copy, besides those that a mail goes to. */
function copies(choose: Choose) {
  return { cc: addressList(choose).nullish(), bcc: addressList(choose).nullish() };
}

const replyBody = (choose: Choose) => z.object({ ...copies(choose), ...mailBodies });

/** What every way of sending answers (reference). */
export const sentReply = z.strictObject({
  id: uuid,
  threadId: uuid,
  status: z.literal('sent'),
  messageId: z.string(),
});

const SENT = { 'message-id-header': sentReply, 'message-id': sentReply.extend({ messageId: uuid }) };

const reply = (choose: Choose) => SENT[choose('sending.reply')];

const send = {
  ...withinInbox,
  method: 'POST',
  origin: 'reference',
  status: 200,
  assumes: ['sending.addresses', 'sending.copies'],
  reply,
  errors: SEND_ERRORS,
} as const;

export const sendOperations = {
  sendMessage: defineOperation({
    ...send,
    path: '/v1/inboxes/{id}/send',
    summary: 'Send a message, which starts a new thread',
    params: idParams,
    assumes: ['sending.required', ...send.assumes],
    body: (choose) =>
      z.object({
        to: recipients(choose),
        ...copies(choose),
        subject,
        ...mailBodies,
        replyTo: emailAddress.nullish(),
        verified: flag.default(false).describe('Send even to an address that has never written to this inbox.'),
      }),
  }),
  replyToMessage: defineOperation({
    ...send,
    path: '/v1/inboxes/{id}/reply/{messageId}',
    summary: 'Reply to a message, in its thread',
    params: messageParams,
    body: replyBody,
  }),
  replyAllToMessage: defineOperation({
    ...send,
    path: '/v1/inboxes/{id}/reply-all/{messageId}',
    summary: 'Reply to everyone that a message went to, in its thread',
    params: messageParams,
    body: replyBody,
  }),
  forwardMessage: defineOperation({
    ...send,
    path: '/v1/inboxes/{id}/forward/{messageId}',
    summary: 'Forward a message with its attachments, which starts a new thread',
    params: messageParams,
    body: (choose) =>
      z.object({ to: recipients(choose), ...copies(choose), subject: subject.nullish(), ...mailBodies }),
  }),
};
