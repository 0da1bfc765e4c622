import { findInReach, type Reach } from '../access/find-in-reach.ts';
import { findMessage } from '../access/find-message.ts';
import type { Assume } from '../contract/behaviours.ts';
import type { ReplyOf } from '../contract/operations.ts';
import type { Guard } from '../mail/check-sending.ts';
import { composeForward } from '../mail/forward.ts';
import type { MailContext } from '../mail/mail-context.ts';
import { recipientsOfReply, replySubject } from '../mail/reply.ts';
import { type OutgoingMail, sendMail } from '../mail/send.ts';
import type { InboxRow, MessageRow } from '../store/rows.ts';
import type { Outcome, Run } from './context.ts';
import { showSent } from './replies/show-sent.ts';

/** What sending works with, whichever operation it is for. */
export type Sending = MailContext & Reach;

/** The bodies of a mail as a request has them. */
interface Bodies {
  readonly plainBody?: string | null | undefined;
  readonly htmlBody?: string | null | undefined;
}

/** Who gets a copy as a request names them. */
interface Copies {
  readonly cc?: readonly string[] | null | undefined;
  readonly bcc?: readonly string[] | null | undefined;
}

const NOTHING_ELSE = { cc: [], bcc: [], replyTo: null, repliesTo: null, attachments: [], guard: { recipients: [] } };

export const sendMessage: Run<'sendMessage'> = (context, { params, body }) => {
  const inbox = findInReach(context, 'inboxes', params.id);
  const { to, subject, replyTo = null, verified } = body;
  const { cc, bcc } = copiesOf(body);
  const guard = { recipients: verified ? [] : [...to, ...cc, ...bcc] };
  return send(context, inbox, { ...NOTHING_ELSE, ...bodiesOf(body), to, cc, bcc, subject, replyTo, guard });
};

export const replyToMessage: Run<'replyToMessage'> = (context, { params, body }) => {
  const { inbox, message } = findMessage(context, params);
  const { to } = recipientsOfReply(context, inbox, message);
  const { cc, bcc } = copiesOf(body);
  const guard: Guard = { recipients: [...cc, ...bcc], scopes: ['every-send'] };
  return send(context, inbox, { ...replyTo(message, context.assume), ...bodiesOf(body), to, cc, bcc, guard });
};

export const replyAllToMessage: Run<'replyAllToMessage'> = (context, { params, body }) => {
  const { inbox, message } = findMessage(context, params);
  const { to, cc: others } = recipientsOfReply(context, inbox, message);
  const { cc: further, bcc } = copiesOf(body);
  const cc = [...others, ...further];
  const guard: Guard = { recipients: [...to, ...cc, ...bcc], scopes: ['every-send'] };
  return send(context, inbox, { ...replyTo(message, context.assume), ...bodiesOf(body), to, cc, bcc, guard });
};

function replyTo(message: MessageRow, assume: Assume) {
  return { ...NOTHING_ELSE, subject: replySubject(message, assume), repliesTo: message };
}

export const forwardMessage: Run<'forwardMessage'> = (context, { params, body }) => {
  const { inbox, message } = findMessage(context, params);
  const { to, subject } = body;
  const attachments = context.principal.world.attachments.by('messageId', message.id);
  const forward = composeForward(message, { subject, ...bodiesOf(body) }, context);
  const { cc, bcc } = copiesOf(body);
  const guard: Guard = { recipients: [...to, ...cc, ...bcc], scopes: ['send-and-forward', 'every-send'] };
  return send(context, inbox, { ...NOTHING_ELSE, ...forward, attachments, to, cc, bcc, guard });
};

function bodiesOf({ plainBody, htmlBody }: Bodies) {
  return { plainBody: plainBody ?? '', htmlBody: htmlBody ?? null };
}

function copiesOf({ cc, bcc }: Copies) {
  return { cc: cc ?? [], bcc: bcc ?? [] };
}

function send(context: Sending, inbox: InboxRow, mail: OutgoingMail): Outcome<ReplyOf<'sendMessage'>> {
  return { body: showSent(sendMail(context, context.principal.world, inbox, mail), context.choose) };
}
