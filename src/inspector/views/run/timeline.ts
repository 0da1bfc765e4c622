import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import type { ReplyTo } from '../../../control/table/client.ts';
import { bareAddress } from '../mail/mail-types.ts';

type Mail = ReplyTo<'listMail'>['messages'][number];

/** A sample that was delivered, with what the agent did. */
export type Sample = ReplyTo<'listSamples'>['samples'][number];

/** One thing that happened. `read` is the mail that the requests read over IMAP. */
export type RunItem = { readonly id: string } & (
  | {
      readonly kind: 'mail';
      readonly mail: Mail;
      /** When it arrived or was sent, in real time. */
      readonly realTime: string;
      /** Whether it is the answer of a correspondent to a mail that was sent. */
      readonly isAnswer: boolean;
      readonly sample: Sample | undefined;
    }
  | { readonly kind: 'requests'; readonly requests: Request[]; readonly read: readonly Mail[] }
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

/** An item, the id of its tenant, and the counterparts that it concerns: `undefined` if it concerns all. */
interface Row {
  readonly item: RunItem;
  readonly ofTenant: string | null | undefined;
  readonly counterparts: readonly string[] | undefined;
}

/** Returns what happened since the last reset or a chosen event, oldest first. */
export function createTimeline(data: RunData, { tenant, counterpart, since }: RunFilter): RunItem[] {
  const start = data.events.findLastIndex(({ id, kind }) => id === since || kind === 'reset');
  const createRows = createRowFunction(data);
  const rows = data.events.slice(start + 1).flatMap(createRows);
  const chosen = rows.filter(
    ({ ofTenant, counterparts }) =>
      (!tenant || ofTenant == null || ofTenant === tenant) &&
      (!counterpart || counterparts === undefined || counterparts.includes(counterpart)),
  );
  return joinRequests(chosen.map(({ item }) => item));
}

/** Creates a function that returns the rows of an event: one for the event, and one for each mail that it sent. */
function createRowFunction({ mail, deliveries, correspondents, samples }: RunData): (event: FeedEvent) => Row[] {
  const addresses = new Set(correspondents.map(({ address }) => bareAddress(address)));
  const sentIds = new Set(mail.flatMap((one) => (one.direction === 'outbound' ? [one.messageIdHeader] : [])));
  const isAnswer = ({ from, inReplyTo }: Mail) => addresses.has(bareAddress(from)) && sentIds.has(inReplyTo ?? '');
  const mails = new Map(mail.map((one) => [one.id, one]));
  // The counterpart of each mail and of each thread, by its id.
  const others = new Map(mail.flatMap((one) => [one.id, one.threadId].map((id) => [id, counterpartOf(one)] as const)));
  const deliveryOf = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  // A sample of several mails has its card at the last one.
  const sampleOf = new Map(samples.map((sample) => [sample.messages.at(-1)?.id, sample]));
  const rowOf = (one: Mail, realTime: string): Row => ({
    item: { kind: 'mail', id: one.id, mail: one, realTime, isAnswer: isAnswer(one), sample: sampleOf.get(one.id) },
    ofTenant: one.tenantId,
    counterparts: [counterpartOf(one)],
  });
  const mailsOf = (ids: readonly string[]) => ids.flatMap((id) => mails.get(id) ?? []);
  const rowsOfRequest = ({ id, realTime, request }: RequestEvent): Row[] => {
    const sent = mailsOf(request.messages).filter(({ direction }) => direction === 'outbound');
    const read = mailsOf(request.read);
    const named = [...request.path.split('/'), ...request.messages, ...request.read];
    const counterparts = named.flatMap((part) => others.get(part) ?? []);
    const item: RunItem = { kind: 'requests', id, requests: [request], read };
    return [{ item, ofTenant: request.principal?.tenantId, counterparts }, ...sent.map((one) => rowOf(one, realTime))];
  };
  const rowOfEvent = (event: ShownEvent): Row => {
    const { payload, attempts } = ('deliveryId' in event && deliveryOf.get(event.deliveryId)) || {};
    const counterpart = others.get(payload?.messageId ?? '');
    const fault = 'attempt' in event ? attempts?.[event.attempt - 1]?.faultId : undefined;
    const item: RunItem = { kind: 'event', id: event.id, event, fault };
    const ofTenant = 'tenantId' in event ? event.tenantId : undefined;
    return { item, ofTenant, counterparts: counterpart === undefined ? undefined : [counterpart] };
  };
  return (event) => {
    if (event.kind === 'delivery-created') return [];
    if (event.kind === 'request') return rowsOfRequest(event);
    if (event.kind !== 'mail') return [rowOfEvent(event)];
    const one = mails.get(event.messageId);
    return one ? [rowOf(one, event.realTime)] : [];
  };
}

/** Joins requests between which nothing else happened, except those that read mail over IMAP. */
function joinRequests(items: readonly RunItem[]): RunItem[] {
  const joined: RunItem[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (item.kind === 'requests' && last?.kind === 'requests' && item.read.length + last.read.length === 0) {
      last.requests.push(...item.requests);
    } else joined.push(item);
  }
  return joined;
}
