import type { ShownPart } from '../../service/journal/entry-data.ts';
import type { JournalEntry, JournalLosses, JournalQuery } from '../journal/journal-entry.ts';
import type { RequestEntry } from '../journal/request-entry.ts';

/**
 * The part of a mailbox or a sandbox that shows what has happened. Verdicts about mail rest on
 * nothing else; those about deliveries also read their log.
 */
export interface Evidence {
  /** How many requests of each tenant the journal keeps. */
  readonly journalSize: number;
  /** Returns the entries of some kinds, oldest first. */
  journal<Kind extends JournalEntry['kind']>(
    query: JournalQuery & { readonly kinds: readonly Kind[] },
  ): JournalEntry<Kind>[];
  /** Returns how many entries of each kind the journal has dropped. */
  journalLosses(): JournalLosses;
}

/** A mail of the journal: one that arrived, was sent, or was there at the start. */
export type MailEntry = JournalEntry<'mail-received' | 'mail-sent'> | JournalEntry<'mail-at-start'>;

/** A request, or a command of SMTP or IMAP. */
export type TrafficEntry = JournalEntry<'request' | 'mail-command'>;

/** Returns the mail that arrived or was sent, oldest first, also if it was deleted since. */
export function readMail(evidence: Evidence): MailEntry[] {
  return evidence.journal({ kinds: ['mail-received', 'mail-sent'] });
}

/** Returns the requests and the commands of SMTP and IMAP, oldest first. */
export function readTraffic(evidence: Evidence): TrafficEntry[] {
  return evidence.journal({ kinds: ['request', 'mail-command'] });
}

/** Returns the mail that was sent after another mail arrived or was sent. */
export function sentAfter(evidence: Evidence, { data }: MailEntry): JournalEntry<'mail-sent'>[] {
  const all = readMail(evidence);
  // A mail that was there at the start is not in this list (-1), so all mail counts as later.
  const start = all.findIndex((each) => each.data.eventId === data.eventId);
  return all.slice(start + 1).flatMap((entry) => (entry.kind === 'mail-sent' ? entry : []));
}

/** Returns the requests and commands that sent a mail. */
export function requestsOf(traffic: readonly TrafficEntry[], { data }: MailEntry): RequestEntry[] {
  return traffic.flatMap((entry) => (entry.data.messages.includes(data.mail.id) ? entry.data : []));
}

/** What clients were shown of a mail, as far as the journal has it. */
export interface Shown {
  /** The parts that replies, payloads of webhooks that answered 2xx, and frames of streams showed. */
  readonly parts: ReadonlySet<ShownPart>;
  /** The ids of the files whose bytes were shown. */
  readonly attachmentIds: ReadonlySet<string>;
}

/** Why nobody can tell whether a mail was read. */
export const LOST_READS = 'the journal has dropped what clients were shown of it';

/** Returns what clients were shown of a mail. The journal may have dropped more: see `countDropped`. */
export function findShown(evidence: Evidence, messageId: string): Shown {
  const parts = new Set<ShownPart>();
  const attachmentIds = new Set<string>();
  for (const { data } of evidence.journal({ kinds: ['read'] })) {
    if (!data.messageIds.includes(messageId)) continue;
    for (const part of data.parts) parts.add(part);
    for (const id of data.attachmentIds) attachmentIds.add(id);
  }
  for (const { data } of evidence.journal({ kinds: ['attempt'] })) {
    if (data.messageId !== messageId || !isSuccess(data.status)) continue;
    for (const part of data.parts) parts.add(part);
  }
  for (const { data } of evidence.journal({ kinds: ['frame'] })) {
    if (data.messageId !== messageId) continue;
    for (const part of data.parts) parts.add(part);
  }
  return { parts, attachmentIds };
}

const isSuccess = (status: number | null) => status !== null && status >= 200 && status < 300;

/** How an agent can have noticed a mail, as far as the journal shows. */
export interface Notice {
  /** Whether a webhook answered a delivery of it with 2xx. */
  readonly byWebhook: boolean;
  /** Whether an event stream got it. */
  readonly byStream: boolean;
  /** The first request or command that named it or whose reply showed a part of it; undefined if there was none. */
  readonly read: JournalEntry<'read'>['data'] | undefined;
}

/** Returns how an agent can have noticed one of these mails; undefined if nothing shows that it did. */
export function findNotice(evidence: Evidence, mails: readonly MailEntry[]): Notice | undefined {
  const ids = mails.map(({ data }) => data.mail.id);
  const read = evidence.journal({ kinds: ['read'] }).find(({ data }) => data.messageIds.some((id) => ids.includes(id)));
  const byStream = evidence.journal({ kinds: ['frame'] }).some(({ data }) => ids.includes(data.messageId));
  const byWebhook = evidence
    .journal({ kinds: ['attempt'] })
    .some(({ data: { messageId, status } }) => ids.includes(messageId) && isSuccess(status));
  return read || byStream || byWebhook ? { read: read?.data, byStream, byWebhook } : undefined;
}

/** Returns whether an entry was added after another one of the same owner or, by real time, of another owner. */
export function isAfter(entry: JournalEntry, other: JournalEntry): boolean {
  if (entry.tenantId === other.tenantId) return entry.number > other.number;
  return entry.realTime >= other.realTime;
}

/** Returns how many entries of some kinds were dropped after a time; 0 if none can have been. */
export function countDropped(evidence: Evidence, kinds: readonly JournalEntry['kind'][], since = ''): number {
  const losses = evidence.journalLosses();
  return kinds.reduce((sum, kind) => {
    const { count = 0, until = '' } = losses[kind] ?? {};
    return until >= since ? sum + count : sum;
  }, 0);
}

/** What was made from evidence whose lists are read only once, by what stands for it. */
const MADE = new WeakMap<Evidence, Map<unknown, unknown>>();

/** Returns the evidence with lists that are read only once, for several verdicts while nothing happens. */
export function withCachedJournal(evidence: Evidence): Evidence {
  if (MADE.has(evidence)) return evidence;
  const read = new Map<string, readonly unknown[]>();
  let losses: JournalLosses | undefined;
  const cached: Evidence = {
    journalSize: evidence.journalSize,
    journal<Kind extends JournalEntry['kind']>(query: JournalQuery & { readonly kinds: readonly Kind[] }) {
      const key = JSON.stringify(query);
      const entries = read.get(key) ?? evidence.journal(query);
      read.set(key, entries);
      // The key names the kinds.
      return entries as JournalEntry<Kind>[];
    },
    journalLosses() {
      losses ??= evidence.journalLosses();
      return losses;
    },
  };
  MADE.set(cached, new Map());
  return cached;
}

/**
 * Returns what `create` makes from the evidence. If the lists of the evidence are read only once, it is made only once,
 * too: `what` stands for it, and is the function itself unless that is another one each time.
 */
export function makeFrom<Value>(
  evidence: Evidence,
  create: (evidence: Evidence) => Value,
  what: object = create,
): Value {
  const made = MADE.get(evidence);
  if (!made) return create(evidence);
  if (!made.has(what)) made.set(what, create(evidence));
  // Only `create` has set this value.
  return made.get(what) as Value;
}
