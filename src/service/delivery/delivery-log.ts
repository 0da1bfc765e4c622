import { PriorityQueue } from '../../world/priority-queue.ts';
import type { Attempt, Delivery } from './delivery.ts';

/** How many deliveries the log of one tenant keeps. */
export const MAX_DELIVERIES = 10_000;

/** The effect of an attempt on its delivery. */
export type AttemptOutcome = Pick<Delivery, 'state' | 'reason' | 'nextAttemptAt'>;

/** The deliveries of one tenant. When the log is full, the delivery that ended first is removed. */
export class DeliveryLog {
  readonly #deliveries = new Map<string, Delivery>();
  /** How many characters each delivery has, by its id. */
  readonly #charactersById = new Map<string, number>();
  /** The ids of the deliveries that have ended; first the id of the delivery that ended first. */
  #endedIds = new PriorityQueue<string>();
  readonly #maxCharacters: number;
  readonly #onFull: (changedId: string) => void;
  #totalCharacters = 0;
  /** How many deliveries were removed because the log was full. */
  evictedCount = 0;

  /**
   * Creates an empty log for at most `maxCharacters` characters. A full log removes only deliveries that have ended. If
   * no delivery has ended, the log calls `onFull`, which should end a delivery other than `changedId`, the delivery that
   * has just changed.
   */
  constructor(maxCharacters: number, onFull: (changedId: string) => void) {
    this.#maxCharacters = maxCharacters;
    this.#onFull = onFull;
  }

  get(id: string): Delivery | undefined {
    return this.#deliveries.get(id);
  }

  /** Returns every delivery, oldest first. */
  all(): Delivery[] {
    return [...this.#deliveries.values()];
  }

  add(delivery: Delivery): Delivery {
    this.#put(delivery, lengthOfFields(delivery.payload));
    return delivery;
  }

  /** Changes properties of a delivery; does nothing if the delivery is no longer in the log. */
  update(id: string, changes: Partial<Omit<Delivery, 'id' | 'payload' | 'attempts'>>): void {
    const previous = this.#deliveries.get(id);
    if (previous) this.#put({ ...previous, ...changes }, 0);
  }

  /** Adds an attempt to a delivery and applies its outcome; does nothing if the delivery is no longer in the log. */
  addAttempt(id: string, attempt: Attempt, outcome: AttemptOutcome): void {
    const previous = this.#deliveries.get(id);
    if (!previous) return;
    const attempts = Object.freeze([...previous.attempts, Object.freeze(attempt)]);
    this.#put({ ...previous, ...outcome, attempts }, lengthOfAttempt(attempt));
  }

  clear(): void {
    this.#deliveries.clear();
    this.#charactersById.clear();
    this.#endedIds = new PriorityQueue();
    this.#totalCharacters = 0;
    this.evictedCount = 0;
  }

  #put(delivery: Delivery, addedCharacters: number): void {
    const { id } = delivery;
    this.#deliveries.set(id, Object.freeze(delivery));
    this.#charactersById.set(id, (this.#charactersById.get(id) ?? 0) + addedCharacters);
    this.#totalCharacters += addedCharacters;
    const hasEnded = delivery.state !== 'pending' && delivery.state !== 'held';
    if (hasEnded) this.#endedIds.add(id);
    else this.#endedIds.remove(id);
    this.#evictExcess(id);
  }

  /** Removes deliveries until the log is within its limits, but keeps the delivery that has just changed. */
  #evictExcess(changedId: string): void {
    while (this.#deliveries.size > MAX_DELIVERIES || this.#totalCharacters > this.#maxCharacters) {
      if (this.#endedIds.size === 0) this.#onFull(changedId);
      const firstId = this.#endedIds.first;
      if (firstId === undefined || firstId === changedId) return;
      this.#evict(firstId);
    }
  }

  #evict(id: string): void {
    this.evictedCount += 1;
    this.#totalCharacters -= this.#charactersById.get(id) ?? 0;
    this.#deliveries.delete(id);
    this.#charactersById.delete(id);
    this.#endedIds.remove(id);
  }
}

function lengthOfFields(fields: object): number {
  const asText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  return Object.entries(fields).reduce((sum, [field, value]) => sum + field.length + asText(value).length, 0);
}

function lengthOfAttempt({ requestHeaders, requestBody, responseHeaders, responseBody, error }: Attempt): number {
  const headers = lengthOfFields(requestHeaders) + lengthOfFields(responseHeaders);
  return headers + requestBody.length + responseBody.length + (error?.length ?? 0);
}
