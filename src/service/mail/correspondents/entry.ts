import { toBareAddress } from '../../../contract/email-address.ts';
import type { Mail } from '../show-mail.ts';
import type { Correspondent, CorrespondentKind, ReplyFunction } from './correspondent.ts';

/** A correspondent and the state of its correspondence. An entry is never changed, but replaced by a new one. */
export interface Entry {
  readonly shown: Correspondent;
  /** The bare address in lower case. */
  readonly address: string;
  /** The function that writes its answers, if there is one. */
  readonly write: ReplyFunction | undefined;
  /** The bare addresses to which an absent person has sent the notice. */
  readonly notified: readonly string[];
  /** How many tickets there are, and how many later mails the tickets have. */
  readonly tickets: number;
  readonly followUps: number;
}

/** How a mail is answered. */
export interface Turn {
  /** The index in the list of replies. */
  readonly reply: number;
  /** The number of the ticket, in a ticket system. */
  readonly ticket?: number;
  /** Whether the mail opened the ticket. */
  readonly isNewTicket?: boolean;
}

/** The new state of a correspondent that a mail has reached; without a turn it does not answer. */
interface Accepted {
  readonly entry: Entry;
  readonly turn?: Turn | undefined;
}

/** The number before that of the first ticket. */
const TICKET_BASE = 1_000;

/** Counts a mail that reaches a correspondent, and decides whether it is answered. */
export function acceptMail(entry: Entry, mail: Mail): Accepted {
  const accepted = ACCEPT[entry.shown.kind](entry, mail);
  const { shown } = accepted.entry;
  return { ...accepted, entry: { ...accepted.entry, shown: { ...shown, received: shown.received + 1 } } };
}

const ACCEPT: Readonly<Record<CorrespondentKind, (entry: Entry, mail: Mail) => Accepted>> = {
  person: (entry) => ({ entry, turn: findTurn(entry, entry.shown.received) }),
  'out-of-office': acceptOnce,
  // Like many programs, it ignores RFC 3834: it answers every mail, also that of programs.
  autoresponder: (entry) => ({ entry, turn: { reply: 0 } }),
  'ticket-system': acceptTicket,
  'mailing-list': acceptUnlessAutomatic,
  bounces: acceptUnlessAutomatic,
};

/** An absent person answers once to each sender, and only mail that names their address. */
function acceptOnce(entry: Entry, mail: Mail): Accepted {
  const sender = toBareAddress(mail.from);
  const isNamed = [...mail.to, ...mail.cc].some((address) => toBareAddress(address) === entry.address);
  if (!isNamed || isAutomatic(mail) || entry.notified.includes(sender)) return { entry };
  return { entry: { ...entry, notified: [...entry.notified, sender] }, turn: { reply: 0 } };
}

function acceptTicket(entry: Entry, mail: Mail): Accepted {
  if (isAutomatic(mail)) return { entry };
  const known = findTicket(entry, mail);
  if (known === undefined) {
    const tickets = entry.tickets + 1;
    return { entry: { ...entry, tickets }, turn: { reply: 0, ticket: TICKET_BASE + tickets, isNewTicket: true } };
  }
  const turn = findTurn(entry, entry.followUps);
  return { entry: { ...entry, followUps: entry.followUps + 1 }, turn: turn && { ...turn, ticket: known } };
}

function acceptUnlessAutomatic(entry: Entry, mail: Mail): Accepted {
  return isAutomatic(mail) ? { entry } : { entry, turn: { reply: 0 } };
}

function findTurn({ write, shown: { replies } }: Entry, reply: number): Turn | undefined {
  return write || reply < (replies?.length ?? 0) ? { reply } : undefined;
}

/** Finds the ticket that a mail names in its subject, or by the Message-ID of an earlier answer. */
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

/** Names of senders that no automatic mail may answer (RFC 3834, section 2, and those of common use). */
const UNATTENDED_SENDER = /^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|owner-.*|.*-(?:request|bounces?))@/;

/** Returns whether a mail comes from a program, so that no program may answer it (RFC 3834, section 2). */
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
