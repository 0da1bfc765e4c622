import type { ReplyOf } from '../../contract/operations.ts';
import type { InboxRow } from '../../world/store/rows.ts';
import { findInScope, findMessage, type LookupContext } from '../access/find-in-scope.ts';
import { composeForward, recipientsOfReply, replySubject } from '../mail/outgoing/reply.ts';
import { type OutgoingMail, type RecipientCheck, sendMail } from '../mail/outgoing/send.ts';
import type { MailContext } from '../mail/store-message.ts';
import type { Outcome, Run } from './context.ts';
import { showSent } from './replies.ts';

/** The context of every operation that sends mail. */
export type SendingContext = MailContext & LookupContext;

/** The fields that the body of every request that sends mail can have. */
interface SendingBody {
  readonly plainBody?: string | null | undefined;
  readonly htmlBody?: string | null | undefined;
  readonly cc?: readonly string[] | null | undefined;
  readonly bcc?: readonly string[] | null | undefined;
}

const EMPTY_MAIL = { replyTo: null, originalMessage: null, attachments: [] };

export const sendMessage: Run<'sendMessage'> = (context, { params, body }) => {
  const inbox = findInScope(context, 'inboxes', params.id);
  const { to, subject, replyTo = null, verified } = body;
  const content = contentOf(body);
  const recipients = verified ? [] : [...to, ...content.cc, ...content.bcc];
  const recipientCheck: RecipientCheck = { recipients, canSkip: true };
  return send(context, inbox, { ...EMPTY_MAIL, ...content, to, subject, replyTo, recipientCheck });
};

export const replyToMessage: Run<'replyToMessage'> = (context, { params, body }) => {
  const found = findMessage(context, params, 'messages.answer.deleted');
  const { to } = recipientsOfReply(context, found.inbox, found.message);
  const content = contentOf(body);
  return sendReply(context, found, { ...content, to }, [...content.cc, ...content.bcc]);
};

export const replyAllToMessage: Run<'replyAllToMessage'> = (context, { params, body }) => {
  const found = findMessage(context, params, 'messages.answer.deleted');
  const { to, cc: originalCc } = recipientsOfReply(context, found.inbox, found.message);
  const content = contentOf(body);
  const cc = [...originalCc, ...content.cc];
  return sendReply(context, found, { ...content, to, cc }, [...to, ...cc, ...content.bcc]);
};

/**
 * Sends a reply to a message. If `sending.verified.scope` is `every-send`, each of `recipientsToCheck` must have
 * written to the inbox before.
 */
function sendReply(
  context: SendingContext,
  { inbox, message }: ReturnType<typeof findMessage>,
  content: ReturnType<typeof contentOf> & Pick<OutgoingMail, 'to'>,
  recipientsToCheck: readonly string[],
) {
  const subject = replySubject(message);
  const recipientCheck: RecipientCheck = { recipients: recipientsToCheck, checkedInScopes: ['every-send'] };
  return send(context, inbox, { ...EMPTY_MAIL, ...content, subject, originalMessage: message, recipientCheck });
}

export const forwardMessage: Run<'forwardMessage'> = (context, { params, body }) => {
  const { inbox, message } = findMessage(context, params, 'messages.answer.deleted');
  const { to, subject } = body;
  const content = contentOf(body);
  const attachments = context.world.attachments.by('messageId', message.id);
  const forward = composeForward(message, { subject, ...content }, context);
  const recipientCheck: RecipientCheck = {
    recipients: [...to, ...content.cc, ...content.bcc],
    checkedInScopes: ['send-and-forward', 'every-send'],
  };
  const mail = { ...EMPTY_MAIL, ...content, ...forward, attachments, to, recipientCheck, forwarded: message };
  return send(context, inbox, mail);
};

function contentOf({ plainBody, htmlBody, cc, bcc }: SendingBody) {
  return { plainBody: plainBody ?? '', htmlBody: htmlBody ?? null, cc: cc ?? [], bcc: bcc ?? [] };
}

function send(context: SendingContext, inbox: InboxRow, mail: OutgoingMail): Outcome<ReplyOf<'sendMessage'>> {
  return { body: showSent(sendMail(context, context.world, inbox, mail), context.readBehaviour) };
}
