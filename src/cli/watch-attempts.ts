import { setTimeout as wait } from 'node:timers/promises';
import type { Attempt, Delivery } from '../delivery/delivery.ts';

/** The interval between two requests for the deliveries. */
const POLL_MS = 250;

/** An attempt that was made, and its delivery. */
export interface WatchedAttempt {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
}

/**
 * Yields each attempt that is made from now on, until `signal` is aborted. `list` returns all deliveries; `known` is
 * what it returned before.
 */
export async function* watchAttempts(
  list: () => Promise<readonly Delivery[]>,
  known: readonly Delivery[],
  signal: AbortSignal,
): AsyncGenerator<WatchedAttempt> {
  let counts = countAttempts(known);
  while (!signal.aborted) {
    const deliveries = await list();
    for (const delivery of deliveries) {
      for (const attempt of delivery.attempts.slice(counts.get(delivery.id))) yield { delivery, attempt };
    }
    counts = countAttempts(deliveries);
    // The wait rejects only if the signal is aborted.
    await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

function countAttempts(deliveries: readonly Delivery[]): ReadonlyMap<string, number> {
  return new Map(deliveries.map(({ id, attempts }) => [id, attempts.length]));
}
