import { type Attempt, type Delivery, isOver } from './delivery.ts';

/** The most that the log of a tenant keeps: so many deliveries, and so many characters in them. */
const MAX_DELIVERIES = 10_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** What became of the events of one tenant. Bounded: what has been over for longest goes first, and then the oldest. */
export interface DeliveryLog {
  get(id: string): Delivery | undefined;
  /** Every delivery, oldest first. */
  all(): Delivery[];
  add(delivery: Delivery): Delivery;
  /** Replaces properties of a delivery; nothing happens to one that is not there any more. */
  update(id: string, changes: Partial<Delivery>): void;
  clear(): void;
}

/** Creates an empty log; `onEvicted` hears of each delivery for which there is no room any more. */
export function createDeliveryLog(onEvicted: (id: string) => void): DeliveryLog {
  const deliveries = new Map<string, Delivery>();
  const over = new Set<string>();
  let characters = 0;

  function put(delivery: Delivery): void {
    const previous = deliveries.get(delivery.id);
    characters += lengthOf(delivery) - (previous ? lengthOf(previous) : 0);
    deliveries.set(delivery.id, Object.freeze(delivery));
    if (isOver(delivery)) over.add(delivery.id);
    else over.delete(delivery.id);
  }

  function makeRoom(newest: string): void {
    while (deliveries.size > MAX_DELIVERIES || characters > MAX_CHARACTERS) {
      const [oldest] = over.size > 0 ? over : deliveries.keys();
      if (oldest === undefined || oldest === newest) return;
      evict(oldest);
    }
  }

  function evict(id: string): void {
    const delivery = deliveries.get(id);
    if (!delivery) return;
    characters -= lengthOf(delivery);
    deliveries.delete(id);
    over.delete(id);
    onEvicted(id);
  }

  return {
    get: (id) => deliveries.get(id),
    all: () => [...deliveries.values()],
    add(delivery) {
      put(delivery);
      makeRoom(delivery.id);
      return delivery;
    },
    update(id, changes) {
      const previous = deliveries.get(id);
      if (!previous) return;
      put({ ...previous, ...changes });
      makeRoom(id);
    },
    clear() {
      deliveries.clear();
      over.clear();
      characters = 0;
    },
  };
}

function lengthOf({ payload, attempts }: Delivery): number {
  return attempts.reduce((sum, attempt) => sum + lengthOfAttempt(attempt), lengthOfPayload(payload));
}

function lengthOfPayload(payload: object): number {
  return Object.values(payload).reduce<number>((sum, value) => sum + lengthOfValue(value), 0);
}

function lengthOfValue(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0);
}

function lengthOfAttempt({ requestBody, responseBody }: Attempt): number {
  return requestBody.length + responseBody.length;
}
