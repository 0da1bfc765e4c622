import type { FeedEntry, FeedEvent } from '../../../control/journal/feed-event.ts';
import { isRefused, NO_REPLY, resultOf } from '../../../control/journal/from-entries/call-of.ts';
import type { RequestSummary } from '../../../control/journal/request-entry.ts';
import type { FeedKind } from '../../../service/journal/entry-kinds.ts';
import { bareAddress } from '../mail/mail-types.ts';

/** An event of the feed that is an entry of the journal. */
type EventOf<Kind extends FeedKind> = FeedEntry<Kind> & { readonly id: string };

/** A mail as the feed reports it when it arrives or is sent. */
export type MailEvent = EventOf<'mail-received' | 'mail-sent'>;

type RequestEvent = EventOf<'request' | 'mail-command'>;

/** A kind of entry that has a line of its own. */
export type ShownKind = Exclude<FeedKind, MailEvent['kind'] | RequestEvent['kind']>;

/** The events that have a line of their own. */
export type ShownEvent = EventOf<ShownKind>;

/** The lanes of a run, with their names. The strip above the list has a lane for each but the last. */
export const LANES = {
  in: 'Mail in',
  deliveries: 'Deliveries',
  requests: 'Requests',
  out: 'Mail out',
  time: 'Time moved',
  other: 'Control',
} as const;

/** The name of a lane. */
export type Lane = keyof typeof LANES;

/** What a row is about. `readMails` are the mails that a command of IMAP has read. */
type Content =
  | { readonly kind: 'mail'; readonly mail: MailEvent }
  | { readonly kind: 'request'; readonly request: RequestSummary; readonly readMails: readonly MailEvent[] }
  | { readonly kind: 'event'; readonly event: ShownEvent };

/** One thing that happened. */
export type Row = Content & {
  /** The id of its event. */
  readonly id: string;
  /** The id of its tenant; null or undefined if it belongs to no tenant. */
  readonly tenant: string | null | undefined;
  /** The bare addresses of the people outside that it is about. `undefined` stands for all. */
  readonly counterparts: readonly string[] | undefined;
  readonly lane: Lane;
  /** When it happened, in real time, in milliseconds since 1970. */
  readonly timeMs: number;
  /** Whether something failed or was refused. */
  readonly isBad: boolean;
  /** The text in which a search looks for words. It is made by the first search. */
  searchText?: string;
};

/** The lane of each kind of entry in the feed. */
export const LANE_OF: Readonly<Record<FeedKind, Lane>> = {
  'mail-received': 'in',
  'mail-sent': 'out',
  'mail-held': 'in',
  request: 'requests',
  'mail-command': 'requests',
  'delivery-created': 'deliveries',
  'delivery-released': 'deliveries',
  attempt: 'deliveries',
  'delivery-ended': 'deliveries',
  'stream-opened': 'other',
  'stream-closed': 'other',
  'agent-done': 'other',
  fault: 'other',
  clock: 'time',
  sandbox: 'other',
  checkpoint: 'other',
  key: 'other',
  journal: 'other',
  messages: 'other',
  behaviours: 'other',
  reset: 'other',
  failure: 'requests',
};

/** How many rows the page keeps while an emulator runs. */
const MAX_ROWS = 100_000;

/** How many rows are dropped at once. */
const DROPPED_AT_ONCE = 10_000;

/** A request is put before a mail that it has sent if the mail is at most this many rows before it. */
const LOOKED_BACK = 50;

const NO_MAILS: readonly MailEvent[] = [];

/** Returns the bare address of the other side: the sender of a received mail, or the first recipient of a sent mail. */
export function counterpartOf({ kind, data: { mail } }: MailEvent): string {
  return bareAddress(kind === 'mail-received' ? mail.from : (mail.to[0] ?? ''));
}

/** What happened since the last reset, oldest first. Each event is applied once. */
export class RunLog {
  /** The rows. The array is changed in place. */
  rows: Row[] = [];
  /** How many rows were dropped because there were too many. */
  droppedCount = 0;
  /** The events that added a checkpoint. */
  checkpoints: EventOf<'checkpoint'>[] = [];
  /** The id of the event that was applied last. */
  lastEventId: string | undefined;
  readonly #mails = new Map<string, MailEvent>();
  /** The counterpart of each mail, by the id of the mail and by the id of its thread. */
  readonly #counterparts = new Map<string, string>();

  /** Applies an event. */
  add(event: FeedEvent): void {
    this.lastEventId = event.id;
    if (event.kind === 'gap') return;
    if (event.kind === 'reset') this.#reset(event.data.tenantId);
    if (event.kind === 'checkpoint' && event.data.action === 'added') this.checkpoints.push(event);
    if (event.kind === 'request' || event.kind === 'mail-command') this.#addRequest(event);
    else if (event.kind === 'mail-received' || event.kind === 'mail-sent') this.#addMail(event);
    else if (isShown(event)) this.#addEvent(event);
    if (this.rows.length >= MAX_ROWS + DROPPED_AT_ONCE) this.#dropOldest();
  }

  #reset(tenant: string | null): void {
    this.rows = tenant === null ? [] : this.rows.filter((row) => row.tenant !== tenant);
    if (tenant !== null) return;
    this.checkpoints = [];
    this.#mails.clear();
    this.#counterparts.clear();
  }

  #addMail(mail: MailEvent): void {
    const counterpart = counterpartOf(mail);
    const { id, threadId } = mail.data.mail;
    this.#mails.set(id, mail);
    this.#counterparts.set(id, counterpart).set(threadId, counterpart);
    const lane = LANE_OF[mail.kind];
    this.rows.push({ ...rowOf(mail), kind: 'mail', mail, lane, counterparts: [counterpart], isBad: false });
  }

  #addRequest(event: RequestEvent): void {
    const { data: request } = event;
    const row: Row = {
      ...rowOf(event),
      kind: 'request',
      request,
      readMails: request.read.length === 0 ? NO_MAILS : request.read.flatMap((id) => this.#mails.get(id) ?? []),
      tenant: request.principal?.tenantId,
      counterparts: this.#counterpartsOf(request),
      lane: 'requests',
      isBad: isRefused(request) || resultOf(request) === NO_REPLY,
    };
    if (request.messages.length === 0) {
      this.rows.push(row);
      return;
    }
    // A request has ended after its mail was sent, but it comes first for a reader.
    const firstLooked = Math.max(0, this.rows.length - LOOKED_BACK);
    const isSent = (row: Row) =>
      row.kind === 'mail' && row.lane === 'out' && request.messages.includes(row.mail.data.mail.id);
    const offset = this.rows.slice(firstLooked).findIndex(isSent);
    if (offset < 0) this.rows.push(row);
    else this.rows.splice(firstLooked + offset, 0, row);
  }

  /** Returns the counterparts of the mails that a request names in its path, has sent or received, or has read. */
  #counterpartsOf({ path, messages, read }: RequestSummary): readonly string[] {
    const found: string[] = [];
    for (const ids of [path.split('/'), messages, read]) {
      for (const id of ids) {
        const counterpart = this.#counterparts.get(id);
        if (counterpart !== undefined) found.push(counterpart);
      }
    }
    return found;
  }

  #addEvent(event: ShownEvent): void {
    const { data } = event;
    const counterpart = 'deliveryId' in data ? this.#counterparts.get(data.messageId) : undefined;
    this.rows.push({
      ...rowOf(event),
      kind: 'event',
      event,
      counterparts: counterpart === undefined ? undefined : [counterpart],
      lane: LANE_OF[event.kind],
      isBad: isFailure(event),
    });
  }

  #dropOldest(): void {
    for (const row of this.rows.splice(0, DROPPED_AT_ONCE)) {
      if (row.kind !== 'mail') continue;
      this.#mails.delete(row.mail.data.mail.id);
      this.#counterparts.delete(row.mail.data.mail.id);
    }
    this.droppedCount += DROPPED_AT_ONCE;
  }
}

function isShown(event: ShownEvent): boolean {
  // The first attempt of a delivery has its own line, so a new delivery is only shown if it has to wait.
  if (event.kind === 'delivery-created') return event.data.state === 'held';
  // The attempt that follows has its own line.
  if (event.kind === 'delivery-released') return false;
  // After a reset of everything, the run starts again, as if nothing had happened.
  return event.kind !== 'reset' || event.data.tenantId !== null;
}

function rowOf(event: MailEvent | RequestEvent | ShownEvent) {
  const { id, realTime, data } = event;
  const owner = event.kind === 'fault' ? event.data.fault : 'tenantId' in data ? data : event;
  return { id, timeMs: Date.parse(realTime), tenant: owner?.tenantId };
}

function isFailure(event: ShownEvent): boolean {
  if (event.kind === 'attempt') return event.data.error !== null;
  return event.kind === 'delivery-ended' || event.kind === 'failure' || event.kind === 'mail-held';
}
