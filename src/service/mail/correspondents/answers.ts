import { fromBase64 } from '../../../basics/base64.ts';
import {
  domainOf,
  formatAddress,
  isIncomingAddress,
  parseAddress,
  toAddressKey,
  toBareAddress,
} from '../../../contract/addresses/email-address.ts';
import { parseOrRefuse } from '../../../contract/errors.ts';
import { composedMessage } from '../../../contract/incoming-message.ts';
import { MAX_SUBJECT_LENGTH } from '../../../contract/schemas.ts';
import { type Environment, newId } from '../../../world/environment.ts';
import type { IncomingMail } from '../incoming/parse-eml.ts';
import { createDeliveryReport } from '../mime/delivery-report.ts';
import { replySubject } from '../outgoing/reply.ts';
import { referencesTo } from '../outgoing/send.ts';
import type { Mail } from '../show-mail.ts';
import { type Correspondent, type CorrespondentKind, correspondentReply, type ReplyFunction } from './correspondent.ts';
import { quoteBelow } from './quoting.ts';

/** A correspondent and the state of its correspondence. An entry is immutable: a change creates a new entry. */
export interface Entry {
  /** The fields that users see. */
  readonly shown: Omit<Correspondent, 'due'>;
  /** The bare address in lower case. */
  readonly address: string;
  /** The user's function that writes the answers, if `replies` is a function. */
  readonly write: ReplyFunction | undefined;
  /** The bare addresses that have got the notice of an absent person. */
  readonly notified: readonly string[];
  /** The number of tickets, and the number of later mails that belong to these tickets. */
  readonly tickets: number;
  readonly followUps: number;
}

/** The turn of a mail in the correspondence: which reply the mail gets, and which ticket the mail belongs to. */
export interface Turn {
  /** The index in the list of replies. */
  readonly reply: number;
  /** The number of the ticket, in a ticket system. */
  readonly ticket?: number;
  /** Whether the mail opened the ticket. */
  readonly isNewTicket?: boolean;
}

/** The new state of a correspondent after a mail has reached it. Without `turn`, the correspondent does not answer. */
interface AcceptResult {
  readonly entry: Entry;
  readonly turn?: Turn | undefined;
}

/** The numbers of the tickets begin after this number. */
const TICKET_BASE = 1_000;

/** Counts a mail that reaches a correspondent, and decides which reply the mail gets, if any. */
export function acceptMail(entry: Entry, mail: Mail): AcceptResult {
  const accepted = ACCEPT[entry.shown.kind](entry, mail);
  const { shown } = accepted.entry;
  return { ...accepted, entry: { ...accepted.entry, shown: { ...shown, received: shown.received + 1 } } };
}

const ACCEPT: Readonly<Record<CorrespondentKind, (entry: Entry, mail: Mail) => AcceptResult>> = {
  person: (entry) => ({ entry, turn: findTurn(entry, entry.shown.received) }),
  'out-of-office': acceptOnce,
  // Like many real autoresponders, this one ignores RFC 3834 and answers every mail, also mail from programs.
  autoresponder: (entry) => ({ entry, turn: { reply: 0 } }),
  'ticket-system': acceptTicket,
  'mailing-list': acceptUnlessAutomatic,
  bounces: acceptUnlessAutomatic,
};

/** An absent person answers each sender only once, and only if To or Cc contains the person's address. */
function acceptOnce(entry: Entry, mail: Mail): AcceptResult {
  const sender = toAddressKey(mail.from);
  const isNamed = [...mail.to, ...mail.cc].some((address) => toAddressKey(address) === entry.address);
  if (!isNamed || isAutomatic(mail) || entry.notified.includes(sender)) return { entry };
  return { entry: { ...entry, notified: [...entry.notified, sender] }, turn: { reply: 0 } };
}

function acceptTicket(entry: Entry, mail: Mail): AcceptResult {
  if (isAutomatic(mail)) return { entry };
  const ticket = findTicket(entry, mail);
  if (ticket === undefined) {
    const tickets = entry.tickets + 1;
    return { entry: { ...entry, tickets }, turn: { reply: 0, ticket: TICKET_BASE + tickets, isNewTicket: true } };
  }
  const turn = findTurn(entry, entry.followUps);
  return { entry: { ...entry, followUps: entry.followUps + 1 }, turn: turn && { ...turn, ticket } };
}

function acceptUnlessAutomatic(entry: Entry, mail: Mail): AcceptResult {
  return isAutomatic(mail) ? { entry } : { entry, turn: { reply: 0 } };
}

function findTurn({ write, shown: { replies } }: Entry, replyIndex: number): Turn | undefined {
  return write || replyIndex < (replies?.length ?? 0) ? { reply: replyIndex } : undefined;
}

/**
 * Finds the ticket of a mail: its number is in the subject, or in the Message-ID of an earlier answer that the mail
 * refers to.
 */
function findTicket({ tickets }: Entry, { subject, headers }: Mail): number | undefined {
  const named = `${subject} ${headers['in-reply-to'] ?? ''} ${headers.references ?? ''}`.matchAll(
    /\[#(\d{1,9})\]|<ticket-(\d{1,9})\./g,
  );
  return Array.from(named, ([, inSubject, inId]) => Number(inSubject ?? inId)).find(
    (ticket) => ticket > TICKET_BASE && ticket <= TICKET_BASE + tickets,
  );
}

/** The part of a mail that says whether a program sent it. */
type SenderFields = Pick<Mail, 'from' | 'headers'>;

/**
 * Matches addresses of senders that no program may answer: those of RFC 3834, section 2, and other common addresses.
 */
const UNATTENDED_SENDER =
  /^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply)(?:@|$)|^owner-[^@]*(?:@|$)|-(?:request|bounces?)(?:@|$)/;

/** Returns whether a program sent a mail. No program may answer such a mail (RFC 3834, section 2). */
export function isAutomatic({ from, headers }: SenderFields): boolean {
  const {
    'auto-submitted': autoSubmitted = 'no',
    precedence = '',
    'return-path': returnPath = '',
    'x-auto-response-suppress': suppressed = 'none',
  } = headers;
  return (
    !/^no\b/i.test(autoSubmitted) ||
    /^(?:bulk|list|junk)\b/i.test(precedence) ||
    returnPath.trim() === '<>' ||
    !/^none\b/i.test(suppressed) ||
    Object.keys(headers).some((name) => name.startsWith('list-')) ||
    UNATTENDED_SENDER.test(toBareAddress(from))
  );
}

/** A mail that a correspondent sends, as its fields or as raw bytes. */
export type Answer = {
  readonly to: string;
  /** The sender in the envelope; empty for the null sender. */
  readonly envelopeFrom: string;
} & ({ readonly mail: IncomingMail } | { readonly eml: Uint8Array });

/** The input for writing an answer: the mail, the correspondent that answers, and which reply the mail gets. */
interface AnswerInput {
  readonly entry: Entry;
  readonly mail: Mail;
  readonly turn: Turn;
  readonly environment: Environment;
}

/** Writes the mails with which a correspondent answers. @throws what the user's function throws, or {@link ApiError} */
export async function composeAnswers(input: AnswerInput): Promise<Answer[]> {
  return COMPOSE[input.entry.shown.kind](input);
}

const COMPOSE: Readonly<Record<CorrespondentKind, (input: AnswerInput) => Answer[] | Promise<Answer[]>>> = {
  person: (input) => writeAnswer(input),
  'out-of-office': (input) => writeAnswer(input, ABSENT_TEXT, true),
  autoresponder: (input) => writeAnswer(input, RECEIVED_TEXT),
  'ticket-system': answerTicket,
  'mailing-list': copyToMembers,
  bounces: writeBounce,
};

const ABSENT_TEXT = 'Thank you for your mail. I am out of the office, and will answer when I am back.';

const RECEIVED_TEXT = 'Thank you for your mail. We have received it and will answer soon.';

/** The header fields of an automatic answer: the field of RFC 3834, and the field that Microsoft Exchange reads. */
const AUTOMATIC_HEADERS = { 'Auto-Submitted': 'auto-replied', 'X-Auto-Response-Suppress': 'All' };

/** Writes the next reply, or the usual text if there are no replies. */
async function writeAnswer(input: AnswerInput, usualText?: string, isAutomaticAnswer = false): Promise<Answer[]> {
  const { entry, mail, turn, environment } = input;
  const { shown, address } = entry;
  const given = entry.write ? await entry.write(mail) : (shown.replies?.[turn.reply] ?? usualText);
  if (given === null || given === undefined) return [];
  const reply = parseOrRefuse('The reply', correspondentReply(), given);
  // An automatic answer has the null sender, so that no program answers it (RFC 3834, section 3.3).
  const sendOptions = isAutomaticAnswer
    ? { target: mail.from, envelopeFrom: '', headers: AUTOMATIC_HEADERS }
    : { target: mail.replyTo ?? mail.from, envelopeFrom: address, headers: {} };
  const idPrefix = turn.ticket === undefined ? '' : `ticket-${turn.ticket}.`;
  const answer = {
    ...quoteBelow(shown.quoting, { plainBody: reply.plainBody, htmlBody: reply.htmlBody ?? null }, mail),
    from: shown.address,
    to: [sendOptions.target],
    cc: [],
    replyTo: null,
    subject: reply.subject ?? subjectOf(mail, turn),
    messageIdHeader: `<${idPrefix}${newId(environment)}@${domainOf(address)}>`,
    inReplyTo: mail.messageIdHeader,
    references: referencesTo({ messageIdHeader: mail.messageIdHeader, references: readReferences(mail) }),
    headers: { ...sendOptions.headers, ...reply.headers },
    raw: null,
    attachments: composedMessage().shape.attachments.parse(reply.attachments),
  };
  return [{ to: sendOptions.target, envelopeFrom: sendOptions.envelopeFrom, mail: answer }];
}

/** Answers the first mail of a ticket with the number of the ticket, and each later mail with the next reply. */
function answerTicket(input: AnswerInput): Promise<Answer[]> {
  const { entry, turn } = input;
  if (!turn.isNewTicket) return writeAnswer(input);
  const usualText =
    `We have received your message. Its ticket has the number ${turn.ticket}. Please keep [#${turn.ticket}] in ` +
    'the subject when you answer.';
  const withoutReplies = { ...entry, write: undefined, shown: { ...entry.shown, replies: null } };
  return writeAnswer({ ...input, entry: withoutReplies }, usualText, true);
}

/** Returns the subject of an answer: `Re: Order`, or `Re: [#1001] Order` for a ticket. */
function subjectOf({ subject }: Mail, { ticket }: Turn): string {
  if (ticket === undefined || subject.includes(`[#${ticket}]`)) return replySubject({ subject });
  return `Re: [#${ticket}] ${subject.replace(/^(?:re:\s*)+/i, '')}`.slice(0, MAX_SUBJECT_LENGTH);
}

function readReferences({ headers }: Mail): string[] {
  return headers.references?.match(/<[^<>\s]+>/g) ?? [];
}

/**
 * Creates a copy of a mail for each member of a mailing list. From is the address of the list, because a copy with the
 * author in From would fail DMARC. Reply-To still names the author.
 */
function copyToMembers({ entry: { shown, address }, mail }: AnswerInput): Answer[] {
  const author = parseAddress(mail.from, isIncomingAddress);
  const [local, domain] = splitAtSign(address);
  const name = parseAddress(shown.address, isIncomingAddress)?.name || local;
  const { plainBody, htmlBody, to, cc, subject, messageIdHeader, inReplyTo, attachments } = mail;
  const copy = {
    to,
    cc,
    subject,
    plainBody,
    htmlBody,
    messageIdHeader,
    inReplyTo,
    from: formatAddress({ name: `${author?.name || author?.address} via ${name}`, address }),
    replyTo: mail.replyTo ?? mail.from,
    references: readReferences(mail),
    headers: createListHeaders(address, name),
    raw: null,
    attachments: attachments.map((file) => ({ ...file, content: fromBase64(file.content) })),
  };
  const members = shown.members.length > 0 ? shown.members : [mail.from];
  return members.map((member) => ({ to: member, envelopeFrom: `${local}-bounces@${domain}`, mail: copy }));
}

/** Splits an address at its last `@`, because a quoted part before that may contain others. */
function splitAtSign(address: string): [local: string, domain: string] {
  const at = address.lastIndexOf('@');
  return [address.slice(0, at), address.slice(at + 1)];
}

/** Creates the header fields of a mailing list: RFC 2919, RFC 2369, and RFC 8058 for unsubscribing by one click. */
function createListHeaders(address: string, name: string): Record<string, string> {
  const [local, domain] = splitAtSign(address);
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

/** Writes a delivery report for the sender of a mail. The report has the null sender. */
function writeBounce({ entry: { shown, address }, mail, environment }: AnswerInput): Answer[] {
  const status = shown.status ?? '5.1.1';
  const diagnostic =
    shown.diagnostic ?? `550 ${status} ${status === '5.1.1' ? 'There is no such mailbox' : 'The mail is refused'}.`;
  const { bytes } = createDeliveryReport({
    id: newId(environment),
    at: environment.now(),
    reportingMta: `mx.${domainOf(address)}`,
    recipient: address,
    status,
    diagnostic,
    original: { ...mail, references: readReferences(mail), headers: null },
  });
  return [{ to: toBareAddress(mail.from), envelopeFrom: '', eml: bytes }];
}
