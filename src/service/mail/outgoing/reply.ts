import { escapeHtml } from '../../../basics/markup.ts';
import {
  describeAddressProblem,
  findAddressProblem,
  MAX_ADDRESSES,
  toAddressKey,
} from '../../../contract/addresses/email-address.ts';
import type { BehaviourReader } from '../../../contract/behaviours.ts';
import { ApiError } from '../../../contract/errors.ts';
import { MAX_SUBJECT_LENGTH } from '../../../contract/schemas.ts';
import type { InboxRow, MessageRow } from '../../../world/store/rows.ts';
import type { LookupContext } from '../../access/find-in-scope.ts';
import { toHtml } from '../html.ts';
import { readReplyTo } from '../incoming/parse-eml.ts';

/**
 * Finds the recipients of a reply: the sender of the message, or, if the inbox itself sent the message, the recipients
 * of the message. Use `cc` only for a reply to all.
 *
 * @throws {ApiError} VALIDATION_ERROR if there is no recipient.
 */
export function recipientsOfReply(
  { world }: Pick<LookupContext, 'world'>,
  inbox: InboxRow,
  message: MessageRow,
): Pick<MessageRow, 'to' | 'cc'> {
  const isSent = message.direction === 'outbound';
  const named = isSent ? message.to : askedForReplies(message);
  const to = withoutAddresses(
    named.filter((address) => findAddressProblem(address) === undefined),
    [],
  );
  if (to.length === 0) {
    const [first] = named;
    const role = isSent ? 'recipient in To' : message.replyTo === null ? 'sender' : 'Reply-To';
    const problem = first === undefined ? `it has no ${role}` : `its ${role} ${describeAddressProblem(first)}`;
    throw new ApiError('VALIDATION_ERROR', `This message cannot be replied to: ${problem}.`);
  }
  const excluded = [...to, ...world.addresses.by('inboxId', inbox.id).map(({ address }) => address)];
  const others = (isSent ? message.cc : [...message.to, ...message.cc]).filter(
    (address) => findAddressProblem(address) === undefined,
  );
  return { to, cc: withoutAddresses(others, excluded) };
}

/**
 * Returns the addresses to which the sender of a message wants replies. The column has only the first address of
 * Reply-To, so further addresses are read from the mail itself.
 */
function askedForReplies({ from, replyTo, raw }: MessageRow): string[] {
  const first = replyTo ?? from;
  const others = replyTo !== null && raw ? readReplyTo(raw).filter((address) => address !== replyTo) : [];
  return first === '' ? [] : [first, ...others].slice(0, MAX_ADDRESSES);
}

/** Removes the addresses that are in `excluded`, and duplicates. */
function withoutAddresses(addresses: readonly string[], excluded: readonly string[]): string[] {
  const seen = new Set(excluded.map(toAddressKey));
  const kept: string[] = [];
  for (const address of addresses) {
    const bare = toAddressKey(address);
    if (seen.has(bare)) continue;
    seen.add(bare);
    kept.push(address);
  }
  return kept;
}

/** Returns the subject of a reply to a message. */
export function replySubject({ subject }: Pick<MessageRow, 'subject'>): string {
  return /^re:/i.test(subject) ? subject : `Re: ${subject}`.slice(0, MAX_SUBJECT_LENGTH);
}

/** The subject and the text that the sender adds to a forwarded message. */
interface ForwardNote extends Pick<MessageRow, 'plainBody' | 'htmlBody'> {
  readonly subject?: string | null | undefined;
}

/** Composes the subject and the bodies of a forwarded message: the sender's note, then the original with its header. */
export function composeForward(
  original: MessageRow,
  { subject, plainBody, htmlBody }: ForwardNote,
  { readBehaviour }: BehaviourReader,
): Pick<MessageRow, 'subject' | 'plainBody' | 'htmlBody'> {
  const note = { subject: subject ?? forwardSubject(original), plainBody, htmlBody };
  if (readBehaviour('sending.forward.body') === 'as-sent') return note;
  const hasHtml = original.htmlBody !== null || htmlBody !== null;
  return { ...note, plainBody: writePlain(original, note), htmlBody: hasHtml ? writeHtml(original, note) : null };
}

function forwardSubject({ subject }: MessageRow): string {
  return /^fwd?:/i.test(subject) ? subject : `Fwd: ${subject}`.slice(0, MAX_SUBJECT_LENGTH);
}

const SEPARATOR = '---------- Forwarded message ----------';

function headerLinesOf({ from, to, subject, receivedAt }: MessageRow): string[] {
  return [SEPARATOR, `From: ${from}`, `Date: ${receivedAt}`, `Subject: ${subject}`, `To: ${to.join(', ')}`];
}

function writePlain(original: MessageRow, { plainBody }: ForwardNote): string {
  const parts = [plainBody, headerLinesOf(original).join('\n'), original.plainBody];
  return parts.filter((part) => part !== '').join('\n\n');
}

function writeHtml(original: MessageRow, { plainBody, htmlBody }: ForwardNote): string {
  return [
    htmlBody ?? toHtml(plainBody),
    `<p>${headerLinesOf(original).map(escapeHtml).join('<br>')}</p>`,
    original.htmlBody ?? toHtml(original.plainBody),
  ].join('\n');
}
