import { fromBase64 } from '../../../basics/base64.ts';
import {
  domainOf,
  formatAddress,
  isIncomingAddress,
  parseAddress,
  toBareAddress,
} from '../../../contract/email-address.ts';
import { parseOrRefuse } from '../../../contract/errors.ts';
import { composedMessage } from '../../../contract/incoming-message.ts';
import { MAX_SUBJECT_LENGTH } from '../../../contract/schemas.ts';
import { type Environment, newId } from '../../../world/environment.ts';
import type { IncomingMail } from '../incoming/parse-eml.ts';
import { createDeliveryReport } from '../mime/delivery-report.ts';
import { replySubject } from '../outgoing/reply.ts';
import { referencesTo } from '../outgoing/send.ts';
import type { Mail } from '../show-mail.ts';
import { type CorrespondentKind, correspondentReply } from './correspondent.ts';
import type { Entry, Turn } from './entry.ts';
import { quoteBelow } from './quoting.ts';

/** A mail that a correspondent sends, by its parts or as raw bytes. */
export type Answer = {
  readonly to: string;
  /** The sender in the envelope; empty for the null sender. */
  readonly envelopeFrom: string;
} & ({ readonly mail: IncomingMail } | { readonly eml: Uint8Array });

/** What an answer is written from. */
interface Occasion {
  readonly entry: Entry;
  readonly mail: Mail;
  readonly turn: Turn;
  readonly environment: Environment;
}

/** Writes what a correspondent sends because of a mail. @throws what its function throws, and {@link ApiError} */
export async function composeAnswers(occasion: Occasion): Promise<Answer[]> {
  return COMPOSE[occasion.entry.shown.kind](occasion);
}

const COMPOSE: Readonly<Record<CorrespondentKind, (occasion: Occasion) => Answer[] | Promise<Answer[]>>> = {
  person: (occasion) => writeAnswer(occasion),
  'out-of-office': (occasion) => writeAnswer(occasion, ABSENT, true),
  autoresponder: (occasion) => writeAnswer(occasion, RECEIVED),
  'ticket-system': answerTicket,
  'mailing-list': distribute,
  bounces: writeBounce,
};

const ABSENT = 'Thank you for your mail. I am out of the office, and will answer when I am back.';

const RECEIVED = 'Thank you for your mail. We have received it and will answer soon.';

/** The header fields of an automatic answer: that of RFC 3834, and the one that Microsoft Exchange reads. */
const AUTOMATIC_HEADERS = { 'Auto-Submitted': 'auto-replied', 'X-Auto-Response-Suppress': 'All' };

/** Writes the next reply, or the usual text if there are no replies. */
async function writeAnswer(occasion: Occasion, usualText?: string, isAutomatic = false): Promise<Answer[]> {
  const { entry, mail, turn, environment } = occasion;
  const { shown, address } = entry;
  const given = entry.write ? await entry.write(mail) : (shown.replies?.[turn.reply] ?? usualText);
  if (given === null || given === undefined) return [];
  const reply = parseOrRefuse('The reply', correspondentReply(), given);
  // An automatic answer has the null sender, so that nothing answers it (RFC 3834, section 3.3).
  const manner = isAutomatic
    ? { target: mail.from, envelopeFrom: '', headers: AUTOMATIC_HEADERS }
    : { target: mail.replyTo ?? mail.from, envelopeFrom: address, headers: {} };
  const prefix = turn.ticket === undefined ? '' : `ticket-${turn.ticket}.`;
  const answer = {
    ...quoteBelow(shown.quoting, { plainBody: reply.text, htmlBody: reply.html ?? null }, mail),
    from: shown.address,
    to: [manner.target],
    cc: [],
    replyTo: null,
    subject: reply.subject ?? subjectOf(mail, turn),
    messageIdHeader: `<${prefix}${newId(environment)}@${domainOf(address)}>`,
    inReplyTo: mail.messageIdHeader,
    references: referencesTo({ messageIdHeader: mail.messageIdHeader, references: readReferences(mail) }),
    headers: { ...manner.headers, ...reply.headers },
    raw: null,
    attachments: composedMessage().shape.attachments.parse(reply.attachments),
  };
  return [{ to: manner.target, envelopeFrom: manner.envelopeFrom, mail: answer }];
}

/** Acknowledges a new ticket; a later mail of the ticket gets the next reply. */
function answerTicket(occasion: Occasion): Promise<Answer[]> {
  const { entry, turn } = occasion;
  if (!turn.isNewTicket) return writeAnswer(occasion);
  const usualText =
    `We have received your message. Its ticket has the number ${turn.ticket}. Please keep [#${turn.ticket}] in ` +
    'the subject when you answer.';
  const withoutReplies = { ...entry, write: undefined, shown: { ...entry.shown, replies: null } };
  return writeAnswer({ ...occasion, entry: withoutReplies }, usualText, true);
}

/** Returns the subject of an answer: `Re: Order`, or `Re: [#1001] Order` for a ticket. */
function subjectOf({ subject }: Mail, { ticket }: Turn): string {
  if (ticket === undefined || subject.includes(`[#${ticket}]`)) return replySubject({ subject }, () => {});
  return `Re: [#${ticket}] ${subject.replace(/^(?:re:\s*)+/i, '')}`.slice(0, MAX_SUBJECT_LENGTH);
}

function readReferences({ headers }: Mail): string[] {
  return headers.references?.match(/<[^<>\s]+>/g) ?? [];
}

/**
 * Sends a copy of a mail to each member of a mailing list. The list is the sender, as lists do because of DMARC; the
 * answer still goes to the author.
 */
function distribute({ entry: { shown, address }, mail }: Occasion): Answer[] {
  const author = parseAddress(mail.from, isIncomingAddress);
  const name = parseAddress(shown.address, isIncomingAddress)?.name || address.slice(0, address.lastIndexOf('@'));
  const { plainBody, htmlBody, to, cc, subject, messageIdHeader, inReplyTo, attachments } = mail;
  const copy = {
    ...{ to, cc, subject, plainBody, htmlBody, messageIdHeader, inReplyTo },
    from: formatAddress({ name: `${author?.name || author?.address} via ${name}`, address }),
    replyTo: mail.replyTo ?? mail.from,
    references: readReferences(mail),
    headers: listHeaders(address, name),
    raw: null,
    attachments: attachments.map((file) => ({ ...file, content: fromBase64(file.content) })),
  };
  const members = shown.members.length > 0 ? shown.members : [mail.from];
  const [local, domain] = address.split('@');
  return members.map((member) => ({ to: member, envelopeFrom: `${local}-bounces@${domain}`, mail: copy }));
}

/** Returns the header fields of a list: RFC 2919, RFC 2369, and RFC 8058 for unsubscribing by one click. */
function listHeaders(address: string, name: string): Record<string, string> {
  const [local = '', domain = ''] = address.split('@');
  return {
    'List-Id': `${name} <${local}.${domain}>`,
    'List-Post': `<mailto:${address}>`,
    'List-Unsubscribe': [
      `<https://${domain}/lists/${encodeURIComponent(local)}/unsubscribe>`,
      `<mailto:${local}-leave@${domain}>`,
    ].join(', '),
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    Precedence: 'list',
  };
}

/** Writes a delivery report to the sender, from the null sender. */
function writeBounce({ entry: { shown, address }, mail, environment }: Occasion): Answer[] {
  const status = shown.status ?? '5.1.1';
  const diagnostic =
    shown.diagnostic ?? `550 ${status} ${status === '5.1.1' ? 'There is no such mailbox' : 'The mail is refused'}.`;
  const { bytes } = createDeliveryReport({
    ...{ id: newId(environment), at: environment.now(), reportingMta: `mx.${domainOf(address)}`, recipient: address },
    ...{ status, diagnostic },
    original: { ...mail, references: readReferences(mail), headers: null },
  });
  return [{ to: toBareAddress(mail.from), envelopeFrom: '', eml: bytes }];
}
