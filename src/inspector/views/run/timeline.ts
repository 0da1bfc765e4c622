import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import type { ReplyTo } from '../../../control/table/client.ts';
import { wordsOf } from '../../text.tsx';
import { bareAddress } from '../mail/mail-types.ts';

/** A mail of the timeline, with the fields that it uses. */
export type Mail = Pick<
  ReplyTo<'getMail'>,
  | 'id'
  | 'tenantId'
  | 'threadId'
  | 'direction'
  | 'from'
  | 'to'
  | 'subject'
  | 'plainBody'
  | 'messageIdHeader'
  | 'inReplyTo'
>;

/** A sample that was delivered, with what the agent did. */
export type Sample = ReplyTo<'listSamples'>['samples'][number];

/** Something about a delivery, or another event that has a line of its own. */
export interface EventItem {
  readonly id: string;
  readonly kind: 'event';
  readonly event: ShownEvent;
  /** The id of the fault that struck, if one did. */
  readonly fault: string | null | undefined;
  /** The id of the mail that a delivery is about. */
  readonly messageId: string | undefined;
}

/** One thing that happened. `readMails` are the mails that the requests read over IMAP. */
export type RunItem = { readonly id: string } & (
  | {
      readonly kind: 'mail';
      readonly mail: Mail;
      /** When the mail arrived or was sent, in real time. */
      readonly realTime: string;
      /** Whether the mail is the answer of a correspondent to a mail that was sent. */
      readonly isAnswer: boolean;
      readonly sample: Sample | undefined;
      /** What became of the deliveries of the mail, oldest first. */
      readonly deliveries: readonly EventItem[];
    }
  | { readonly kind: 'requests'; readonly requests: Request[]; readonly readMails: readonly Mail[] }
  | EventItem
);

type Request = RequestEvent['request'];

type RequestEvent = Extract<FeedEvent, { kind: 'request' }>;

/** The events that have a line of their own. */
export type ShownEvent = Exclude<
  FeedEvent,
  { kind: 'request' | 'mail' | 'delivery-created' | 'delivery-released' | 'gap' }
>;

/** What a timeline is made of. */
export interface RunData {
  /** Oldest first. */
  readonly events: readonly FeedEvent[];
  /** The mail since the start, oldest first. */
  readonly mail: readonly Mail[];
  readonly deliveries: ReplyTo<'listDeliveries'>['deliveries'];
  readonly correspondents: ReplyTo<'listCorrespondents'>['correspondents'];
  /** The samples with their results. */
  readonly samples: readonly Sample[];
}

/**
 * The limits of a timeline: the id of a tenant or a sandbox, the bare address of a counterpart, the id of the event
 * after which the timeline starts, a lane, the words of a search, the real times from and to which it goes, and the result of
 * a sample.
 */
export type RunFilter = {
  readonly [Name in 'tenant' | 'counterpart' | 'since' | 'lane' | 'search' | 'from' | 'to' | 'result']?:
    | string
    | undefined;
};

/** The lanes of a run, with their names. */
export const LANES = { in: 'Mail in', deliveries: 'Webhooks', requests: 'Requests', out: 'Mail out', other: 'Control' };

/** The name of a lane. */
export type Lane = keyof typeof LANES;

/** Returns the bare address of the other side: the sender of a received mail, or the first recipient of a sent mail. */
export function counterpartOf({ direction, from, to }: Pick<Mail, 'direction' | 'from' | 'to'>): string {
  return bareAddress(direction === 'inbound' ? from : (to[0] ?? ''));
}

/** An item, the id of its tenant, and the addresses of its counterparts. `undefined` stands for all. */
export interface Row {
  readonly item: RunItem;
  readonly tenant: string | null | undefined;
  readonly counterparts: readonly string[] | undefined;
  readonly lane: Lane;
  /** When it happened, in real time. */
  readonly realTime: string;
  /** Whether something failed or was refused. */
  readonly isBad: boolean;
}

/** Returns what happened since the last reset or a chosen event, oldest first, whatever the lane, search and range. */
export function createRows(data: RunData, { tenant, counterpart, since }: RunFilter): Row[] {
  const start = data.events.findLastIndex(({ id, kind }) => id === since || kind === 'reset');
  const createRows = createRowFunction(data);
  const rows = data.events.slice(start + 1).flatMap(createRows);
  return rows.filter(
    (row) =>
      (!tenant || row.tenant == null || row.tenant === tenant) &&
      (!counterpart || row.counterparts === undefined || row.counterparts.includes(counterpart)),
  );
}

/** Returns the timeline of some rows: those in a lane and a range that a search finds, with what followed from a mail. */
export function createTimeline(
  rows: readonly Row[],
  { lane, search = '', from = '', to = '~', result }: RunFilter,
): RunItem[] {
  const words = wordsOf(search);
  const chosen = rows.filter(
    (row) =>
      (!lane || row.lane === lane) &&
      (!result || (row.item.kind === 'mail' && row.item.sample?.result === result)) &&
      row.realTime >= from &&
      row.realTime <= (to || '~') &&
      (words.length === 0 || words.every((word) => textOf(row.item).includes(word))),
  );
  return joinRequests(gatherDeliveries(chosen.map(({ item }) => item)));
}

/** Returns the text of an item in which a search looks for words. */
function textOf(item: RunItem): string {
  const shown = item.kind === 'mail' ? item.mail : item.kind === 'requests' ? item.requests : item.event;
  return JSON.stringify(shown).toLowerCase();
}

/** Moves what happened to a delivery to the mail that it is about, if the mail is shown. */
function gatherDeliveries(items: readonly RunItem[]): RunItem[] {
  // The rows stay as they are, because other filters use them, too.
  const copies = items.map((item) => (item.kind === 'mail' ? { ...item, deliveries: [] as EventItem[] } : item));
  const mails = new Map(copies.flatMap((item) => (item.kind === 'mail' ? [[item.mail.id, item] as const] : [])));
  return copies.filter((item) => {
    const mail = item.kind === 'event' ? mails.get(item.messageId ?? '') : undefined;
    if (mail && item.kind === 'event') mail.deliveries.push(item);
    return !mail;
  });
}

/** Creates a function that returns the rows of an event. A request also has a row for each mail that it sent. */
function createRowFunction({ mail, deliveries, correspondents, samples }: RunData): (event: FeedEvent) => Row[] {
  const addresses = new Set(correspondents.map(({ address }) => bareAddress(address)));
  const sentIds = new Set(mail.flatMap((one) => (one.direction === 'outbound' ? [one.messageIdHeader] : [])));
  const isAnswer = ({ from, inReplyTo }: Mail) => addresses.has(bareAddress(from)) && sentIds.has(inReplyTo ?? '');
  const mailById = new Map(mail.map((one) => [one.id, one]));
  // The ids of a mail and of its thread lead to the counterpart of the mail.
  const entriesOf = (one: Mail) => [one.id, one.threadId].map((id) => [id, counterpartOf(one)] as const);
  const counterpartById = new Map(mail.flatMap(entriesOf));
  const deliveryById = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  // The card of a sample is shown at the last mail of the sample.
  const sampleByMail = new Map(samples.map((sample) => [sample.messages.at(-1)?.id, sample]));
  const rowOf = (one: Mail, realTime: string): Row => ({
    item: {
      ...{ kind: 'mail', id: one.id, mail: one, realTime, isAnswer: isAnswer(one) },
      ...{ sample: sampleByMail.get(one.id), deliveries: [] },
    },
    tenant: one.tenantId,
    counterparts: [counterpartOf(one)],
    lane: one.direction === 'inbound' ? 'in' : 'out',
    realTime,
    isBad: sampleByMail.get(one.id)?.result === 'breached',
  });
  const mailsOf = (ids: readonly string[]) => ids.flatMap((id) => mailById.get(id) ?? []);
  const rowsOfRequest = ({ id, realTime, request }: RequestEvent): Row[] => {
    const sent = mailsOf(request.messages).filter(({ direction }) => direction === 'outbound');
    const namedIds = [...request.path.split('/'), ...request.messages, ...request.read];
    const counterparts = namedIds.flatMap((id) => counterpartById.get(id) ?? []);
    const item: RunItem = { kind: 'requests', id, requests: [request], readMails: mailsOf(request.read) };
    const tenant = request.principal?.tenantId;
    const row: Row = { item, tenant, counterparts, lane: 'requests', realTime, isBad: request.status >= 400 };
    return [row, ...sent.map((one) => rowOf(one, realTime))];
  };
  const rowOfEvent = (event: ShownEvent): Row => {
    const { payload, attempts } = ('deliveryId' in event && deliveryById.get(event.deliveryId)) || {};
    const counterpart = counterpartById.get(payload?.messageId ?? '');
    const fault = 'attempt' in event ? attempts?.[event.attempt - 1]?.faultId : undefined;
    const item: EventItem = { kind: 'event', id: event.id, event, fault, messageId: payload?.messageId };
    const { realTime } = event;
    return {
      item,
      tenant: 'tenantId' in event ? event.tenantId : undefined,
      counterparts: counterpart === undefined ? undefined : [counterpart],
      lane: 'deliveryId' in event ? 'deliveries' : 'other',
      realTime,
      isBad: event.kind === 'failure' || ('error' in event && event.error !== null) || event.kind === 'delivery-ended',
    };
  };
  return (event) => {
    if (event.kind === 'delivery-created' || event.kind === 'delivery-released' || event.kind === 'gap') return [];
    if (event.kind === 'request') return rowsOfRequest(event);
    if (event.kind !== 'mail') return [rowOfEvent(event)];
    return mailsOf([event.messageId]).map((one) => rowOf(one, event.realTime));
  };
}

/** Joins requests that followed each other into one item. A request that read mail over IMAP has its own item. */
function joinRequests(items: readonly RunItem[]): RunItem[] {
  const joined: RunItem[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (item.kind === 'requests' && last?.kind === 'requests' && item.readMails.length + last.readMails.length === 0) {
      for (const request of item.requests) last.requests.push(request);
    } else joined.push(item.kind === 'requests' ? { ...item, requests: [...item.requests] } : item);
  }
  return joined;
}
