import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { emailAddress, emailAddresses, emailAddressOrArray } from '../email-address-schema.ts';
import type { ErrorCode } from '../errors.ts';
import { defineOperation, defineReplies, withinInbox } from '../operation.ts';
import { flag, idParams, mailBody, subject, uuid } from '../schemas.ts';
import { messageParams } from './messages.ts';

/** The errors of every operation that sends. */
export const SEND_ERRORS = ['INBOX_PAUSED', 'UNVERIFIED_RECIPIENT', 'RELAY_FAILED'] as const satisfies ErrorCode[];

/** The bodies of a mail; either may be missing. */
export const mailBodies = () => ({ plainBody: mailBody().nullish(), htmlBody: mailBody().nullish() });

const LISTS = { commas: emailAddresses, arrays: emailAddressOrArray };

/** Returns the schema of recipient addresses, which depends on a behaviour. */
export const addressList = (readBehaviour: ReadBehaviour) => LISTS[readBehaviour('sending.address-lists')]();

function recipients(readBehaviour: ReadBehaviour) {
  return addressList(readBehaviour).refine((list) => list.length > 0, 'must name at least one address');
}

function copies(readBehaviour: ReadBehaviour) {
  return { cc: addressList(readBehaviour).nullish(), bcc: addressList(readBehaviour).nullish() };
}

const replyBody = (readBehaviour: ReadBehaviour) => z.object({ ...copies(readBehaviour), ...mailBodies() });

const send = {
  ...withinInbox,
  origin: 'reference',
  assumes: ['sending.addresses', 'sending.copies'],
  errors: SEND_ERRORS,
} as const;

export const sendOperations = {
  sendMessage: defineOperation('POST /v1/inboxes/{id}/send', 'Send a message in a new thread', {
    ...send,
    params: idParams,
    assumes: ['sending.required', ...send.assumes],
    body: (readBehaviour) =>
      z.object({
        to: recipients(readBehaviour),
        ...copies(readBehaviour),
        subject: subject(),
        ...mailBodies(),
        replyTo: emailAddress().nullish(),
        verified: flag().default(false).describe('Also send to addresses that have never written to this inbox.'),
      }),
  }),
  replyToMessage: defineOperation('POST /v1/inboxes/{id}/reply/{messageId}', 'Reply to a message, in its thread', {
    ...send,
    params: messageParams,
    body: replyBody,
  }),
  replyAllToMessage: defineOperation(
    'POST /v1/inboxes/{id}/reply-all/{messageId}',
    'Reply to the sender and all recipients of a message, in its thread',
    { ...send, params: messageParams, body: replyBody },
  ),
  forwardMessage: defineOperation(
    'POST /v1/inboxes/{id}/forward/{messageId}',
    'Forward a message with its attachments, in a new thread',
    {
      ...send,
      params: messageParams,
      body: (readBehaviour) =>
        z.object({
          to: recipients(readBehaviour),
          ...copies(readBehaviour),
          subject: subject().nullish(),
          ...mailBodies(),
        }),
    },
  ),
};

/** The reply of every operation that sends (reference). */
export const sentReply = () =>
  z
    .strictObject({ id: uuid(), threadId: uuid(), status: z.literal('sent'), messageId: z.string() })
    .meta({ id: 'SentMessage' });

const sent = () => ({
  'message-id-header': sentReply(),
  'message-id': sentReply().extend({ messageId: uuid() }).meta({ id: 'SentMessage' }),
});

const reply = (readBehaviour: ReadBehaviour) => sent()[readBehaviour('sending.reply')];

/** The bodies of the successful replies of these operations. */
export const sendReplies = defineReplies({
  sendMessage: reply,
  replyToMessage: reply,
  replyAllToMessage: reply,
  forwardMessage: reply,
});
