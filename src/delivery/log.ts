import type { AttemptActivity, DeliveryActivity, EndedDeliveryActivity } from '../events/activity.ts';
import type { MadeAttempt } from './attempt.ts';
import { type Attempt, type Delivery, isOver } from './delivery.ts';
import type { Job } from './jobs.ts';

/** The most that the log of a tenant keeps: so many deliveries, and so many characters in them. */
const MAX_DELIVERIES = 10_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** What became of the events of one tenant. Bounded: what has been over for longest goes first. */
export interface DeliveryLog {
  get(id: string): Delivery | undefined;
  /** Every delivery, oldest first. */
  all(): Delivery[];
  add(delivery: Delivery): Delivery;
  /** Replaces properties of a delivery; nothing happens to one that is not there any more. */
  update(id: string, changes: Partial<Delivery>): void;
  clear(): void;
  /** How many deliveries were taken out to make room. */
  readonly evicted: number;
}

/**
 * Creates an empty log. Only what is over makes room; where nothing is, `onFull` is to end something that can wait no
 * longer, or the log grows.
 */
export function createDeliveryLog(onFull: () => void): DeliveryLog {
  const deliveries = new Map<string, Delivery>();
  const lengths = new Map<string, number>();
  const over = new Set<string>();
  let characters = 0;
  let evicted = 0;

  function put(delivery: Delivery, lengthAdded: number): void {
    const { id } = delivery;
    deliveries.set(id, Object.freeze(delivery));
    lengths.set(id, (lengths.get(id) ?? 0) + lengthAdded);
    characters += lengthAdded;
    if (isOver(delivery)) over.add(id);
    else over.delete(id);
    makeRoom(id);
  }

  const isFull = () => deliveries.size > MAX_DELIVERIES || characters > MAX_CHARACTERS;

  function oldestOver(): string | undefined {
    if (over.size === 0 && deliveries.size > MAX_DELIVERIES) onFull();
    const [oldest] = over;
    return oldest;
  }

  function makeRoom(newest: string): void {
    while (isFull()) {
      const oldest = oldestOver();
      if (oldest === undefined || oldest === newest) return;
      evict(oldest);
    }
  }

  function evict(id: string): void {
    evicted += 1;
    characters -= lengths.get(id) ?? 0;
    deliveries.delete(id);
    lengths.delete(id);
    over.delete(id);
  }

  return {
    get evicted() {
      return evicted;
    },
    get: (id) => deliveries.get(id),
    all: () => [...deliveries.values()],
    add(delivery) {
      put(delivery, lengthOfFields(delivery.payload));
      return delivery;
    },
    update(id, changes) {
      const previous = deliveries.get(id);
      if (!previous) return;
      const added = changes.attempts?.slice(previous.attempts.length) ?? [];
      put(
        { ...previous, ...changes },
        added.reduce((length, attempt) => length + lengthOfAttempt(attempt), 0),
      );
    },
    clear() {
      deliveries.clear();
      lengths.clear();
      over.clear();
      characters = 0;
      evicted = 0;
    },
  };
}

function lengthOfFields(fields: object): number {
  let length = 0;
  for (const [field, value] of Object.entries(fields)) length += field.length + lengthOfValue(value);
  return length;
}

function lengthOfValue(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0);
}

function lengthOfAttempt({ requestHeaders, requestBody, responseHeaders, responseBody, error }: Attempt): number {
  const headers = lengthOfFields(requestHeaders) + lengthOfFields(responseHeaders);
  return headers + requestBody.length + responseBody.length + (error?.length ?? 0);
}

/** Where a delivery stands. */
type Standing = Pick<DeliveryActivity, 'state' | 'reason'>;

/** Says that an attempt was made, and what came of it. */
export function attemptEntry(
  tenantId: string,
  job: Job,
  { at, status, error, durationMs }: MadeAttempt,
  { nextAt, ...standing }: Standing & { readonly nextAt?: Date },
): AttemptActivity {
  const retryInMs = nextAt ? nextAt.getTime() - Date.parse(at) : null;
  return { kind: 'attempt', ...describe(tenantId, job, standing), status, error, durationMs, retryInMs };
}

/** Says that a delivery ended without another attempt. */
export function endEntry(tenantId: string, job: Job, standing: Standing): EndedDeliveryActivity {
  return { kind: 'delivery-ended', ...describe(tenantId, job, standing) };
}

function describe(tenantId: string, { id, webhookId, event }: Job, { state, reason }: Standing): DeliveryActivity {
  return { deliveryId: id, tenantId, webhookId, event, state, reason };
}
