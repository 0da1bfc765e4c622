import { findInScope, type LookupContext } from '../access/find-in-scope.ts';
import { findMessage } from '../access/find-message.ts';
import type { Assume } from '../contract/behaviours.ts';
import type { ReplyOf } from '../contract/operations.ts';
import type { MustHaveWritten } from '../mail/check-sending.ts';
import { composeForward } from '../mail/forward.ts';
import type { MailContext } from '../mail/mail-context.ts';
import { recipientsOfReply, replySubject } from '../mail/reply.ts';
import { type OutgoingMail, sendMail } from '../mail/send.ts';
import type { InboxRow, MessageRow } from '../store/rows.ts';
import type { Outcome, Run } from './context.ts';
import { showSent } from './replies/show-sent.ts';

/** The context of every operation that sends mail. */
export type SendingContext = MailContext & LookupContext;

/** The bodies of a mail in a request. */
interface Bodies {
  readonly plainBody?: string | null | undefined;
  readonly htmlBody?: string | null | undefined;
}

/** The copy recipients in a request. */
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
  mustHaveWritten: { recipients: [] },
};

export const sendMessage: Run<'sendMessage'> = (context, { params, body }) => {
  const inbox = findInScope(context, 'inboxes', params.id);
  const { to, subject, replyTo: replyToAddress = null, verified } = body;
  const { cc, bcc } = copiesOf(body);
  const mustHaveWritten = { recipients: verified ? [] : [...to, ...cc, ...bcc] };
  return send(context, inbox, {
    ...EMPTY_MAIL,
    ...bodiesOf(body),
    to,
    cc,
    bcc,
    subject,
    replyTo: replyToAddress,
    mustHaveWritten,
  });
};

export const replyToMessage: Run<'replyToMessage'> = (context, { params, body }) => {
  const { inbox, message } = findMessage(context, params);
  const { to } = recipientsOfReply(context, inbox, message);
  const { cc, bcc } = copiesOf(body);
  const mustHaveWritten: MustHaveWritten = { recipients: [...cc, ...bcc], onlyUnder: ['every-send'] };
  return send(context, inbox, {
    ...mailFieldsOfReply(message, context.assume),
    ...bodiesOf(body),
    to,
    cc,
    bcc,
    mustHaveWritten,
  });
};

export const replyAllToMessage: Run<'replyAllToMessage'> = (context, { params, body }) => {
  const { inbox, message } = findMessage(context, params);
  const { to, cc: originalCc } = recipientsOfReply(context, inbox, message);
  const { cc: addedCc, bcc } = copiesOf(body);
  const cc = [...originalCc, ...addedCc];
  const mustHaveWritten: MustHaveWritten = { recipients: [...to, ...cc, ...bcc], onlyUnder: ['every-send'] };
  return send(context, inbox, {
    ...mailFieldsOfReply(message, context.assume),
    ...bodiesOf(body),
    to,
    cc,
    bcc,
    mustHaveWritten,
  });
};

function mailFieldsOfReply(message: MessageRow, assume: Assume) {
  return { ...EMPTY_MAIL, subject: replySubject(message, assume), originalMessage: message };
}

export const forwardMessage: Run<'forwardMessage'> = (context, { params, body }) => {
  const { inbox, message } = findMessage(context, params);
  const { to, subject } = body;
  const attachments = context.principal.world.attachments.by('messageId', message.id);
  const forward = composeForward(message, { subject, ...bodiesOf(body) }, context);
  const { cc, bcc } = copiesOf(body);
  const mustHaveWritten: MustHaveWritten = {
    recipients: [...to, ...cc, ...bcc],
    onlyUnder: ['send-and-forward', 'every-send'],
  };
  return send(context, inbox, { ...EMPTY_MAIL, ...forward, attachments, to, cc, bcc, mustHaveWritten });
};

function bodiesOf({ plainBody, htmlBody }: Bodies) {
  return { plainBody: plainBody ?? '', htmlBody: htmlBody ?? null };
}

function copiesOf({ cc, bcc }: CopyRecipients) {
  return { cc: cc ?? [], bcc: bcc ?? [] };
}

function send(context: SendingContext, inbox: InboxRow, mail: OutgoingMail): Outcome<ReplyOf<'sendMessage'>> {
  return { body: showSent(sendMail(context, context.principal.world, inbox, mail), context.choose) };
}
