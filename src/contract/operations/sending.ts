import { z } from 'zod';
import { emailAddress, emailAddresses, emailAddressOrArray } from '../addresses/email-address-schema.ts';
import type { ReadBehaviour } from '../behaviours.ts';
import type { ErrorCode } from '../errors.ts';
import { chooseBy, defineOperations } from '../operation.ts';
import { flag, mailBody, object, subject, uuid } from '../schemas.ts';
import { TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';

/** The errors of every operation that sends mail. */
export const SEND_ERRORS = ['INBOX_PAUSED', 'UNVERIFIED_RECIPIENT', 'RELAY_FAILED'] as const satisfies ErrorCode[];

/** The two bodies of a mail. Each may be missing. */
export const mailBodies = () => ({ plainBody: mailBody().nullish(), htmlBody: mailBody().nullish() });

const ADDRESS_LISTS = { commas: emailAddresses, arrays: emailAddressOrArray };

/** Returns the schema of recipient addresses, which depends on a behaviour. */
export const addressList = (readBehaviour: ReadBehaviour) => ADDRESS_LISTS[readBehaviour('sending.address-lists')]();

const recipients = (readBehaviour: ReadBehaviour) =>
  addressList(readBehaviour).refine((list) => list.length > 0, 'must name at least one address');

const copies = (readBehaviour: ReadBehaviour) => ({
  cc: addressList(readBehaviour).nullish(),
  bcc: addressList(readBehaviour).nullish(),
});

const replyBody = (readBehaviour: ReadBehaviour) => z.object({ ...copies(readBehaviour), ...mailBodies() });

/** The reply of an operation that sends mail (reference), by the value of `sending.reply`. */
export const sentReplies = <Added extends z.ZodRawShape>(id: string, added: Added) => {
  const fields = { id: uuid(), threadId: uuid(), status: z.literal('sent') };
  return {
    'message-id-header': object(id, { ...fields, messageId: z.string(), ...added }),
    'message-id': object(id, { ...fields, messageId: uuid(), ...added }),
  };
};

/** Creates the row of an operation that sends mail. */
const sendOperation = defineOperations({
  origin: 'reference',
  section: '5',
  tiers: TIERS_WITH_INBOX_ACCESS,
  reply: chooseBy('sending.reply', () => sentReplies('SentMessage', {})),
  errors: SEND_ERRORS,
});

export const sendOperations = {
  sendMessage: sendOperation('POST /v1/inboxes/{id}/send', 'Send a message in a new thread', {
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
  replyToMessage: sendOperation('POST /v1/inboxes/{id}/reply/{messageId}', 'Reply to a message, in its thread', {
    body: replyBody,
  }),
  replyAllToMessage: sendOperation(
    'POST /v1/inboxes/{id}/reply-all/{messageId}',
    'Reply to the sender and all recipients of a message, in its thread',
    { body: replyBody },
  ),
  forwardMessage: sendOperation(
    'POST /v1/inboxes/{id}/forward/{messageId}',
    'Forward a message with its attachments, in a new thread',
    {
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
