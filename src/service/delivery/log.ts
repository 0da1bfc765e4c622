import { PriorityQueue } from '../../world/priority-queue.ts';
import type { AttemptResult } from './attempt-sender.ts';
import type { Attempt, Delivery } from './delivery.ts';

/** The limits for the log of one tenant: the number of deliveries, and the number of their characters. */
const MAX_DELIVERIES = 10_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** The effect of an attempt on its delivery. */
export type AttemptOutcome = Pick<Delivery, 'state' | 'reason' | 'nextAttemptAt'>;

/** The deliveries of one tenant. When the log is full, the delivery that ended first is removed. */
export class DeliveryLog {
  readonly #deliveries = new Map<string, Delivery>();
  readonly #lengths = new Map<string, number>();
  #ended = new PriorityQueue<string>();
  readonly #maxCharacters: number;
  readonly #onFull: () => void;
  #characters = 0;
  /** How many deliveries were removed because the log was full. */
  evicted = 0;

  /**
   * Creates an empty log for at most `memoryCharacters` characters. A full log removes only deliveries that have ended.
   * If there are none, `onFull` should end one.
   */
  constructor(memoryCharacters: number, onFull: () => void) {
    this.#maxCharacters = Math.min(MAX_CHARACTERS, memoryCharacters);
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

  /** Changes properties of a delivery; does nothing if the log does not have it any more. */
  update(id: string, changes: Partial<Omit<Delivery, 'id' | 'payload' | 'attempts'>>): void {
    const previous = this.#deliveries.get(id);
    if (previous) this.#put({ ...previous, ...changes }, 0);
  }

  /** Adds an attempt to a delivery and changes its state; does nothing if the log does not have it any more. */
  addAttempt(id: string, { isRefused: _, ...result }: AttemptResult, changes: AttemptOutcome): void {
    const previous = this.#deliveries.get(id);
    if (!previous) return;
    const attempt = Object.freeze({ ...result, nextAttemptAt: changes.nextAttemptAt });
    const attempts = Object.freeze([...previous.attempts, attempt]);
    this.#put({ ...previous, ...changes, attempts }, lengthOfAttempt(attempt));
  }

  clear(): void {
    this.#deliveries.clear();
    this.#lengths.clear();
    this.#ended = new PriorityQueue();
    this.#characters = 0;
    this.evicted = 0;
  }

  #put(delivery: Delivery, lengthAdded: number): void {
    const { id } = delivery;
    this.#deliveries.set(id, Object.freeze(delivery));
    this.#lengths.set(id, (this.#lengths.get(id) ?? 0) + lengthAdded);
    this.#characters += lengthAdded;
    const isOpen = delivery.state === 'pending' || delivery.state === 'held';
    if (isOpen) this.#ended.remove(id);
    else this.#ended.add(id);
    this.#evictExcess(id);
  }

  #evictExcess(newest: string): void {
    while (this.#deliveries.size > MAX_DELIVERIES || this.#characters > this.#maxCharacters) {
      if (this.#ended.size === 0) this.#onFull();
      const oldest = this.#ended.first;
      if (oldest === undefined || oldest === newest) return;
      this.#evict(oldest);
    }
  }

  #evict(id: string): void {
    this.evicted += 1;
    this.#characters -= this.#lengths.get(id) ?? 0;
    this.#deliveries.delete(id);
    this.#lengths.delete(id);
    this.#ended.remove(id);
  }
}

function lengthOfFields(fields: object): number {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  return Object.entries(fields).reduce((sum, [field, value]) => sum + field.length + textOf(value).length, 0);
}

function lengthOfAttempt({ requestHeaders, requestBody, responseHeaders, responseBody, error }: Attempt): number {
  const headers = lengthOfFields(requestHeaders) + lengthOfFields(responseHeaders);
  return headers + requestBody.length + responseBody.length + (error?.length ?? 0);
}
