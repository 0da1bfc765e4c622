import type { MadeAttempt } from './attempt.ts';
import type { Attempt, Delivery } from './delivery.ts';

/** The most that the log of a tenant keeps: so many deliveries, and so many characters in them. */
const MAX_DELIVERIES = 10_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** What became of the events of one tenant. It is bounded: the delivery that has been over for longest goes first. */
export class DeliveryLog {
  readonly #deliveries = new Map<string, Delivery>();
  readonly #lengths = new Map<string, number>();
  readonly #over = new Set<string>();
  readonly #onFull: () => void;
  #characters = 0;
  #evicted = 0;

  /** Only what is over makes room. Where nothing is, `onFull` should end a delivery, or else the log grows. */
  constructor(onFull: () => void) {
    this.#onFull = onFull;
  }

  /** How many deliveries were removed to make room. */
  get evicted(): number {
    return this.#evicted;
  }

  get(id: string): Delivery | undefined {
    return this.#deliveries.get(id);
  }

  /** Every delivery, oldest first. */
  all(): Delivery[] {
    return [...this.#deliveries.values()];
  }

  add(delivery: Delivery): Delivery {
    this.#put(delivery, lengthOfFields(delivery.payload));
    return delivery;
  }

  /** Replaces properties of a delivery; does nothing if the log does not have it any more. */
  update(id: string, changes: Partial<Omit<Delivery, 'id' | 'payload' | 'attempts'>>): void {
    const previous = this.#deliveries.get(id);
    if (previous) this.#put({ ...previous, ...changes }, 0);
  }

  /** Adds an attempt to a delivery, with what comes of it; does nothing if the log does not have it any more. */
  addAttempt(
    id: string,
    { isRefused: _, ...made }: MadeAttempt,
    changes: Pick<Delivery, 'state' | 'reason' | 'nextAttemptAt'>,
  ): void {
    const previous = this.#deliveries.get(id);
    if (!previous) return;
    const attempt = Object.freeze({ ...made, nextAttemptAt: changes.nextAttemptAt });
    const attempts = Object.freeze([...previous.attempts, attempt]);
    this.#put({ ...previous, ...changes, attempts }, lengthOfAttempt(attempt));
  }

  clear(): void {
    this.#deliveries.clear();
    this.#lengths.clear();
    this.#over.clear();
    this.#characters = 0;
    this.#evicted = 0;
  }

  #put(delivery: Delivery, lengthAdded: number): void {
    const { id } = delivery;
    this.#deliveries.set(id, Object.freeze(delivery));
    this.#lengths.set(id, (this.#lengths.get(id) ?? 0) + lengthAdded);
    this.#characters += lengthAdded;
    if (isOver(delivery)) this.#over.add(id);
    else this.#over.delete(id);
    this.#makeRoom(id);
  }

  #makeRoom(newest: string): void {
    while (this.#deliveries.size > MAX_DELIVERIES || this.#characters > MAX_CHARACTERS) {
      if (this.#over.size === 0 && this.#deliveries.size > MAX_DELIVERIES) this.#onFull();
      const [oldest] = this.#over;
      if (oldest === undefined || oldest === newest) return;
      this.#evict(oldest);
    }
  }

  #evict(id: string): void {
    this.#evicted += 1;
    this.#characters -= this.#lengths.get(id) ?? 0;
    this.#deliveries.delete(id);
    this.#lengths.delete(id);
    this.#over.delete(id);
  }
}

function isOver({ state }: Delivery): boolean {
  return state !== 'pending' && state !== 'held';
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
