import type { Attempt, Delivery, DeliveryFilter } from '../../../service/delivery/delivery.ts';
import { matchesDelivery } from '../../../service/delivery/matches-delivery.ts';
import type { JournalEntry } from '../journal-entry.ts';

/** How a delivery was at the end, without what was sent and what was answered. */
export interface DeliveryAtEnd extends Omit<Delivery, 'payload' | 'attempts'> {
  /** The id of the message that its event is about. */
  readonly messageId: string;
  readonly attempts: readonly Omit<Attempt, SentOrAnswered>[];
}

type SentOrAnswered = 'requestHeaders' | 'requestBody' | 'responseHeaders' | 'responseBody';

/**
 * Returns the deliveries of these entries that match a filter: first those that were there at the end, in their order,
 * then those that were gone, with what their entries say. What was sent is in no entry, so it is empty.
 */
export function deliveriesOf(
  entries: readonly JournalEntry[],
  atEnd: readonly DeliveryAtEnd[],
  filter: DeliveryFilter = {},
): Delivery[] {
  const answers = new Map<string, Pick<Attempt, SentOrAnswered>>();
  const gone = new Map<string, DeliveryAtEnd>();
  const present = new Set(atEnd.map(({ id }) => id));
  for (const entry of entries) {
    if (entry.kind === 'attempt') {
      const { deliveryId, attempt, responseHeaders, responseBody } = entry.data;
      answers.set(`${deliveryId} ${attempt}`, { ...NOTHING_SENT, responseHeaders, responseBody });
    }
    if (!('deliveryId' in entry.data) || present.has(entry.data.deliveryId)) continue;
    const { deliveryId: id, tenantId, webhookId, event, eventId, messageId, state, reason } = entry.data;
    const before = gone.get(id);
    const delivery = { id, tenantId, webhookId, event, eventId, messageId, state: state as Delivery['state'], reason };
    const attempts = [...(before?.attempts ?? []), ...(entry.kind === 'attempt' ? [attemptOf(entry)] : [])];
    const nextAttemptAt = attempts.at(-1)?.nextAttemptAt ?? null;
    gone.set(id, { ...delivery, createdAt: before?.createdAt ?? entry.at, nextAttemptAt, attempts });
  }
  const deliveries = [...atEnd, ...gone.values()].map(({ messageId, attempts, ...delivery }) => {
    const { id, event, eventId } = delivery;
    return {
      ...delivery,
      payload: { id: eventId, event, messageId } as Delivery['payload'],
      attempts: attempts.map((attempt, index) => ({
        ...attempt,
        ...(answers.get(`${id} ${index + 1}`) ?? { ...NOTHING_SENT, responseHeaders: {}, responseBody: '' }),
      })),
    };
  });
  return deliveries.filter((delivery) => matchesDelivery(delivery, filter));
}

const NOTHING_SENT = { requestHeaders: {}, requestBody: '' };

function attemptOf({ at, realTime, data }: JournalEntry<'attempt'>): DeliveryAtEnd['attempts'][number] {
  const { url, status, error, durationMs, faultId, retryInMs } = data;
  const nextAttemptAt = retryInMs === null ? null : new Date(Date.parse(at) + retryInMs).toISOString();
  return { at, realTime, url: url ?? '', fault: null, faultId, status, error, durationMs, nextAttemptAt };
}
