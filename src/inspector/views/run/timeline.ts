import type { RequestSummary } from '../../../control/journal/request-entry.ts';
import type { Sample } from '../../samples.tsx';
import { wordsOf } from '../../text.tsx';
import type { MailEvent, Row, ShownEvent, ShownKind } from './run-log.ts';

/** One line or card of the run. `id` is the id of its first event. */
export type RunItem = { readonly id: string } & (
  | {
      readonly kind: 'mail';
      readonly mail: MailEvent;
      /** The sample to which the mail belongs; its card is shown at the last mail of the sample. */
      readonly sample: Sample | undefined;
      /** What became of the deliveries of the mail, oldest first. */
      readonly deliveries: ShownEvent[];
    }
  | {
      readonly kind: 'requests';
      readonly requests: [RequestSummary, ...RequestSummary[]];
      readonly readMails: readonly MailEvent[];
    }
  | { readonly kind: 'events'; readonly events: [ShownEvent, ...ShownEvent[]] }
);

/** Returns when the first event of an item was. */
export function momentOf(item: RunItem): { readonly at: string; readonly realTime: string } {
  if (item.kind === 'mail') return item.mail;
  return item.kind === 'requests' ? item.requests[0] : item.events[0];
}

/**
 * What limits a run: the id of a tenant or a sandbox, the same id if it is a sandbox, the bare address of a counterpart,
 * and the id of an event.
 */
export type RunScope = { readonly [Name in 'tenant' | 'sandbox' | 'counterpart' | 'since']?: string | undefined };

/** The kinds of events of no tenant that concern each sandbox, too. */
const FOR_ALL_KINDS: ReadonlySet<string> = new Set<ShownKind>([
  ...(['clock', 'journal', 'behaviours', 'fault', 'failure'] as const),
]);

/**
 * What limits the list: a lane, the words of a search, the real times from and to which it goes, the result of a sample,
 * and whether only failures are shown.
 */
export type RunFilter = {
  readonly [Name in 'lane' | 'search' | 'from' | 'to' | 'result' | 'failed']?: string | undefined;
};

/** Returns the rows of a tenant and a counterpart after an event. A sandbox begins when it was made. */
export function selectRows(rows: readonly Row[], { tenant, sandbox, counterpart, since }: RunScope): readonly Row[] {
  const made = sandbox ? rows.findIndex((row) => row.tenant === sandbox) : 0;
  const start = Math.max(made < 0 ? rows.length : made, since ? rows.findLastIndex(({ id }) => id === since) + 1 : 0);
  if (!tenant && !counterpart) return start === 0 ? rows : rows.slice(start);
  // Other events of no tenant, such as a checkpoint of the whole emulator, do not concern a sandbox.
  const isForAll = (row: Row) => !sandbox || row.kind !== 'event' || FOR_ALL_KINDS.has(row.event.kind);
  return rows
    .slice(start)
    .filter(
      (row) =>
        (!tenant || row.tenant === tenant || (row.tenant == null && isForAll(row))) &&
        (!counterpart || row.counterparts === undefined || row.counterparts.includes(counterpart)),
    );
}

/** Returns the bare addresses of those who sent mail to the inboxes or got mail from them. */
export function counterpartsOf(rows: readonly Row[]): Set<string> {
  return new Set(rows.flatMap(({ kind, counterparts = [] }) => (kind === 'mail' ? counterparts : [])));
}

/** The sample of each mail that shows the card of a sample, by the id of the mail. */
export type SampleByMail = ReadonlyMap<string, Sample>;

/** Returns each sample by the id of its last mail, at which the run shows its card. */
export function sampleByLastMail(samples: readonly Sample[]): SampleByMail {
  return new Map(samples.flatMap((sample) => sample.messages.slice(-1).map(({ id }) => [id, sample] as const)));
}

/** Returns the samples whose last mail is among the rows. */
export function samplesIn(rows: readonly Row[], samples: SampleByMail): Sample[] {
  return rows.flatMap((row) => (row.kind === 'mail' && samples.get(row.mail.data.mail.id)) || []);
}

/** Returns whether a row is about a failure: of a request, a delivery, or an agent that a sample has misled. */
export function isBadRow(row: Row, samples: SampleByMail): boolean {
  return row.isBad || (row.kind === 'mail' && samples.get(row.mail.data.mail.id)?.result === 'breached');
}

/** Returns the rows that the filters choose. */
export function filterRows(rows: readonly Row[], filter: RunFilter, samples: SampleByMail): readonly Row[] {
  const { lane, search = '', from = '', to = '', result, failed } = filter;
  const words = wordsOf(search);
  if (!lane && words.length === 0 && !from && !to && !result && !failed) return rows;
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  return rows.filter(
    (row) =>
      (!lane || row.lane === lane) &&
      (!failed || isBadRow(row, samples)) &&
      (!result || (row.kind === 'mail' && samples.get(row.mail.data.mail.id)?.result === result)) &&
      // A time that is missing or that nobody can read is not a number, and limits nothing.
      !(row.timeMs < fromMs || row.timeMs > toMs) &&
      (words.length === 0 || matches(row, words)),
  );
}

/**
 * Groups rows: deliveries at their mail, and requests and events that followed each other in one item. If only failures
 * are shown, all requests and then all events are one item each, below the mail, so that equal failures are one line.
 */
export function createTimeline(rows: readonly Row[], { failed }: RunFilter, samples: SampleByMail): RunItem[] {
  if (failed)
    return group(
      [...rows].sort((one, other) => KIND_ORDER[one.kind] - KIND_ORDER[other.kind]),
      false,
      samples,
    );
  return group(rows, true, samples);
}

const KIND_ORDER = { mail: 0, request: 1, event: 2 } as const;

function group(rows: readonly Row[], isByMail: boolean, samples: SampleByMail): RunItem[] {
  const items: RunItem[] = [];
  const deliveriesByMail = new Map<string, ShownEvent[]>();
  for (const row of rows) {
    const { id } = row;
    const last = items.at(-1);
    if (row.kind === 'mail') {
      const { mail } = row;
      const deliveries: ShownEvent[] = [];
      const messageId = mail.data.mail.id;
      deliveriesByMail.set(messageId, deliveries);
      items.push({ id, kind: 'mail', mail, sample: samples.get(messageId), deliveries });
    } else if (row.kind === 'request') {
      const { request, readMails } = row;
      // A command that has read mail over IMAP names it, so it has an item of its own.
      if (last?.kind === 'requests' && last.readMails.length + readMails.length === 0) last.requests.push(request);
      else items.push({ id, kind: 'requests', requests: [request], readMails });
    } else {
      const { event } = row;
      const { data } = event;
      const deliveries = isByMail && 'deliveryId' in data ? deliveriesByMail.get(data.messageId) : undefined;
      if (deliveries) deliveries.push(event);
      else if (last?.kind === 'events') {
        // A long advance has many parts; the time after the last one says it all.
        if (isAdvance(event) && isAdvance(last.events.at(-1), event.tenantId)) last.events.pop();
        last.events.push(event);
      } else items.push({ id, kind: 'events', events: [event] });
    }
  }
  return items;
}

/** Returns whether an event is that a test advanced the clock, of this tenant if one is given. */
function isAdvance(event: ShownEvent | undefined, tenantId: string | null | undefined = event?.tenantId): boolean {
  return event?.kind === 'clock' && event.data.action === 'advance' && event.tenantId === tenantId;
}

function matches(row: Row, words: readonly string[]): boolean {
  row.searchText ??= JSON.stringify(shownValues(row)).toLowerCase();
  const text = row.searchText;
  return words.every((word) => text.includes(word));
}

/** Returns the values that a row shows, without the names of their fields. */
function shownValues(row: Row): unknown[] {
  if (row.kind === 'request') return Object.values(row.request);
  const { kind, realTime, data } = row.kind === 'mail' ? row.mail : row.event;
  const { mail, ...others } = { mail: {}, ...data };
  return [kind, realTime, ...Object.values(others), ...Object.values(mail)];
}
