import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import type { ReplyTo } from '../../../control/table/client.ts';
import { bareAddress } from '../mail/mail-types.ts';

type Mail = ReplyTo<'listMail'>['messages'][number];

/** A sample that was delivered, with what the agent did. */
export type Sample = ReplyTo<'listSamples'>['samples'][number];

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
    }
  | { readonly kind: 'requests'; readonly requests: Request[]; readonly readMails: readonly Mail[] }
  | {
      readonly kind: 'event';
      readonly event: ShownEvent;
      /** The id of the fault that struck, if one did. */
      readonly fault: string | null | undefined;
    }
);

type Request = RequestEvent['request'];

type RequestEvent = Extract<FeedEvent, { kind: 'request' }>;

/** The events that have a line of their own. */
export type ShownEvent = Exclude<FeedEvent, { kind: 'request' | 'mail' | 'delivery-created' }>;

/** What a timeline is made of. */
export interface RunData {
  /** Oldest first. */
  readonly events: readonly FeedEvent[];
  /** The mail since the start, oldest first. */
  readonly mail: readonly Mail[];
  readonly deliveries: ReplyTo<'listDeliveries'>['deliveries'];
  readonly correspondents: ReplyTo<'listCorrespondents'>['correspondents'];
  readonly samples: readonly Sample[];
}

/**
 * The limits of a timeline: the id of a tenant or a sandbox, the bare address of a counterpart, and the id of the event
 * after which the timeline starts.
 */
export type RunFilter = { readonly [Name in 'tenant' | 'counterpart' | 'since']: string | undefined };

/** Returns the bare address of the other side: the sender of a received mail, or the first recipient of a sent mail. */
export function counterpartOf({ direction, from, to }: Pick<Mail, 'direction' | 'from' | 'to'>): string {
  return bareAddress(direction === 'inbound' ? from : (to[0] ?? ''));
}

/** An item, the id of its tenant, and the addresses of its counterparts. `undefined` stands for all. */
interface Row {
  readonly item: RunItem;
  readonly tenant: string | null | undefined;
  readonly counterparts: readonly string[] | undefined;
}

/** Returns what happened since the last reset or a chosen event, oldest first. */
export function createTimeline(data: RunData, { tenant, counterpart, since }: RunFilter): RunItem[] {
  const start = data.events.findLastIndex(({ id, kind }) => id === since || kind === 'reset');
  const createRows = createRowFunction(data);
  const rows = data.events.slice(start + 1).flatMap(createRows);
  const chosen = rows.filter(
    (row) =>
      (!tenant || row.tenant == null || row.tenant === tenant) &&
      (!counterpart || row.counterparts === undefined || row.counterparts.includes(counterpart)),
  );
  return joinRequests(chosen.map(({ item }) => item));
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
    item: { kind: 'mail', id: one.id, mail: one, realTime, isAnswer: isAnswer(one), sample: sampleByMail.get(one.id) },
    tenant: one.tenantId,
    counterparts: [counterpartOf(one)],
  });
  const mailsOf = (ids: readonly string[]) => ids.flatMap((id) => mailById.get(id) ?? []);
  const rowsOfRequest = ({ id, realTime, request }: RequestEvent): Row[] => {
    const sent = mailsOf(request.messages).filter(({ direction }) => direction === 'outbound');
    const namedIds = [...request.path.split('/'), ...request.messages, ...request.read];
    const counterparts = namedIds.flatMap((id) => counterpartById.get(id) ?? []);
    const item: RunItem = { kind: 'requests', id, requests: [request], readMails: mailsOf(request.read) };
    return [{ item, tenant: request.principal?.tenantId, counterparts }, ...sent.map((one) => rowOf(one, realTime))];
  };
  const rowOfEvent = (event: ShownEvent): Row => {
    const { payload, attempts } = ('deliveryId' in event && deliveryById.get(event.deliveryId)) || {};
    const counterpart = counterpartById.get(payload?.messageId ?? '');
    const fault = 'attempt' in event ? attempts?.[event.attempt - 1]?.faultId : undefined;
    const item: RunItem = { kind: 'event', id: event.id, event, fault };
    const tenant = 'tenantId' in event ? event.tenantId : undefined;
    return { item, tenant, counterparts: counterpart === undefined ? undefined : [counterpart] };
  };
  return (event) => {
    if (event.kind === 'delivery-created') return [];
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
      last.requests.push(...item.requests);
    } else joined.push(item);
  }
  return joined;
}
