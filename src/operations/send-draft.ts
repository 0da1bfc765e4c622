import { findInInbox } from '../access/find-in-scope.ts';
import type { BehaviourReader } from '../contract/behaviour-reader.ts';
import type { Assume } from '../contract/behaviours.ts';
import { describeWrongAddress, emailAddress } from '../contract/email-address-schema.ts';
import { ApiError } from '../contract/errors.ts';
import { recipientsOfReply, replySubject } from '../mail/reply.ts';
import { type OutgoingMail, sendMail } from '../mail/send.ts';
import type { DraftRow, InboxRow, MessageRow } from '../store/rows.ts';
import type { Run } from './context.ts';
import { showSent } from './replies/show-sent.ts';
import type { SendingContext } from './sending.ts';

/** Sends a draft and then deletes it. A draft that cannot be sent is kept. */
export const sendDraft: Run<'sendDraft'> = (context, { params }) => {
  const { principal, readBehaviour } = context;
  const { inbox, row: draft } = findInInbox(context, 'drafts', params.id, params.draftId);
  const mail = toMail(context, inbox, draft);
  const message = sendMail(context, principal.world, inbox, mail);
  principal.world.drafts.remove(draft.id);
  return { body: { ...showSent(message, readBehaviour), draftId: draft.id } };
};

function toMail(context: SendingContext, inbox: InboxRow, draft: DraftRow): OutgoingMail {
  const originalMessage = findOriginal(context, draft);
  const recipients = recipientsOf(context, inbox, draft, originalMessage);
  const { to, cc, bcc } = recipients;
  return {
    ...recipients,
    recipientCheck: { recipients: [...to, ...cc, ...bcc], onlyIfVerifiedScopeIs: ['every-send'] },
    subject: draft.subject ?? (originalMessage ? replySubject(originalMessage, context.assume) : ''),
    plainBody: draft.plainBody ?? '',
    htmlBody: draft.htmlBody,
    replyTo: null,
    originalMessage,
    attachments: [],
  };
}

/** Finds the message that a draft replies to, even if it has been deleted since. */
function findOriginal({ principal }: SendingContext, { replyToMessageId }: DraftRow): MessageRow | null {
  return replyToMessageId === null ? null : (principal.world.messages.get(replyToMessageId) ?? null);
}

function recipientsOf(
  context: SendingContext,
  inbox: InboxRow,
  { to, cc, bcc }: DraftRow,
  originalMessage: MessageRow | null,
): Pick<OutgoingMail, 'to' | 'cc' | 'bcc'> {
  if (to.length + cc.length + bcc.length > 0) return checkRecipients({ to, cc, bcc }, context);
  if (originalMessage) return { to: recipientsOfReply(context, inbox, originalMessage).to, cc, bcc };
  throw noRecipient(context.assume);
}

/** Checks the addresses of a draft. This happens on sending only, because a draft may contain invalid addresses. */
function checkRecipients<Recipients extends Pick<OutgoingMail, 'to' | 'cc' | 'bcc'>>(
  recipients: Recipients,
  { readBehaviour, assume }: BehaviourReader,
): Recipients {
  const problems = Object.entries(recipients).flatMap(([field, addresses]: [string, readonly string[]]) =>
    addresses.flatMap((address, index) =>
      isAddress(address) ? [] : [`${field}[${index}] ${describeWrongAddress(address)}`],
    ),
  );
  if (problems.length === 0) return recipients;
  assume('sending.addresses');
  readBehaviour('drafts.recipients');
  throw new ApiError('VALIDATION_ERROR', `The draft cannot be sent: ${problems.slice(0, 5).join('; ')}.`);
}

function isAddress(text: string): boolean {
  return emailAddress.safeParse(text).success;
}

function noRecipient(assume: Assume): ApiError {
  assume('drafts.send.incomplete');
  return new ApiError('VALIDATION_ERROR', 'The draft has no recipient; set to, cc or bcc.');
}
