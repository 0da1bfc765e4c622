import type { ReplyOf } from '../../contract/operations.ts';
import type { InboxRow } from '../../world/store/rows.ts';
import type { RecipientCheck } from '../mail/outgoing/check-sending.ts';
import { composeForward, recipientsOfReply, replySubject } from '../mail/outgoing/reply.ts';
import { type OutgoingMail, sendMail } from '../mail/outgoing/send.ts';
import type { MailContext } from '../mail/store-message.ts';
import { findInScope, findMessage, type LookupContext } from '../pipeline/access/find-in-scope.ts';
import type { Outcome, Run } from './context.ts';
import { showSent } from './replies/show-page.ts';

/** The context of every operation that sends mail. */
export type SendingContext = MailContext & LookupContext;

/** The fields of a request that have the bodies of a mail. */
interface Bodies {
  readonly plainBody?: string | null | undefined;
  readonly htmlBody?: string | null | undefined;
}

/** The fields of a request that have the cc and bcc recipients of a mail. */
interface CopyRecipients {
  readonly cc?: readonly string[] | null | undefined;
  readonly bcc?: readonly string[] | null | undefined;
}

const EMPTY_MAIL = {
  cc: [],
  bcc: [],
  replyTo: null,
  originalMessage: null,
  attachments: [],
  recipientCheck: { recipients: [] },
};

export const sendMessage: Run<'sendMessage'> = (context, { params, body }) => {
  const inbox = findInScope(context, 'inboxes', params.id);
  const { to, subject, replyTo: replyToAddress = null, verified } = body;
  const { cc, bcc } = copyRecipientsOf(body);
  const recipientCheck = { recipients: verified ? [] : [...to, ...cc, ...bcc] };
  return send(context, inbox, {
    ...EMPTY_MAIL,
    ...bodiesOf(body),
    to,
    cc,
    bcc,
    subject,
    replyTo: replyToAddress,
    recipientCheck,
  });
};

export const replyToMessage: Run<'replyToMessage'> = (context, { params, body }) => {
  const original = findMessage(context, params, 'messages.answer.deleted');
  const { to } = recipientsOfReply(context, original.inbox, original.message);
  const { cc, bcc } = copyRecipientsOf(body);
  return sendReply(context, original, { ...bodiesOf(body), to, cc, bcc }, [...cc, ...bcc]);
};

export const replyAllToMessage: Run<'replyAllToMessage'> = (context, { params, body }) => {
  const original = findMessage(context, params, 'messages.answer.deleted');
  const { to, cc: originalCc } = recipientsOfReply(context, original.inbox, original.message);
  const { cc: addedCc, bcc } = copyRecipientsOf(body);
  const cc = [...originalCc, ...addedCc];
  return sendReply(context, original, { ...bodiesOf(body), to, cc, bcc }, [...to, ...cc, ...bcc]);
};

/**
 * Sends a reply to a message. If `sending.verified.scope` is `every-send`, each of `recipientsToCheck` must have
 * written to the inbox before.
 */
function sendReply(
  context: SendingContext,
  { inbox, message }: ReturnType<typeof findMessage>,
  fields: ReturnType<typeof bodiesOf> & Pick<OutgoingMail, 'to' | 'cc' | 'bcc'>,
  recipientsToCheck: readonly string[],
) {
  const subject = replySubject(message, context.assume);
  const recipientCheck: RecipientCheck = { recipients: recipientsToCheck, onlyIfVerifiedScopeIs: ['every-send'] };
  return send(context, inbox, { ...EMPTY_MAIL, ...fields, subject, originalMessage: message, recipientCheck });
}

export const forwardMessage: Run<'forwardMessage'> = (context, { params, body }) => {
  const { inbox, message } = findMessage(context, params, 'messages.answer.deleted');
  const { to, subject } = body;
  const attachments = context.principal.world.attachments.by('messageId', message.id);
  const forward = composeForward(message, { subject, ...bodiesOf(body) }, context);
  const { cc, bcc } = copyRecipientsOf(body);
  const recipientCheck: RecipientCheck = {
    recipients: [...to, ...cc, ...bcc],
    onlyIfVerifiedScopeIs: ['send-and-forward', 'every-send'],
  };
  return send(context, inbox, { ...EMPTY_MAIL, ...forward, attachments, to, cc, bcc, recipientCheck });
};

function bodiesOf({ plainBody, htmlBody }: Bodies) {
  return { plainBody: plainBody ?? '', htmlBody: htmlBody ?? null };
}

function copyRecipientsOf({ cc, bcc }: CopyRecipients) {
  return { cc: cc ?? [], bcc: bcc ?? [] };
}

function send(context: SendingContext, inbox: InboxRow, mail: OutgoingMail): Outcome<ReplyOf<'sendMessage'>> {
  return { body: showSent(sendMail(context, context.principal.world, inbox, mail), context.readBehaviour) };
}
