import type { Clock } from './clock.ts';
import type { RequestFault } from './fault.ts';

/** A rate limit after it has counted a request. */
export interface RateLimitState {
  readonly fault: RequestFault;
  readonly limit: number;
  readonly perSeconds: number;
  /** How many more requests are allowed before the count starts again at 0. */
  readonly remaining: number;
  /** After how many seconds the count starts again at 0, rounded up. */
  readonly resetSeconds: number;
  /** Whether this request is above the limit. */
  readonly isExceeded: boolean;
}

/** A span of time, and how many requests it has had. */
interface Span {
  readonly startMs: number;
  count: number;
}

/** Counts the requests of one tenant for each rate limit, in spans of the tenant's time. A request begins a span. */
export class RateLimits {
  readonly #spans = new WeakMap<RequestFault, Span>();

  /**
   * Counts a request for each rate limit. Returns the state of an exceeded limit. If no limit is exceeded, returns the
   * state of the limit with the fewest remaining requests. Returns `undefined` without limits.
   */
  count(faults: readonly RequestFault[], clock: Clock): RateLimitState | undefined {
    const states = faults.flatMap((fault) => (fault.rateLimit ? this.#count(fault, fault.rateLimit, clock) : []));
    const compareStates = (one: RateLimitState, other: RateLimitState) =>
      Number(other.isExceeded) - Number(one.isExceeded) || one.remaining - other.remaining;
    return states.sort(compareStates)[0];
  }

  #count(fault: RequestFault, { limit, perMs }: NonNullable<RequestFault['rateLimit']>, clock: Clock): RateLimitState {
    const nowMs = clock.now().getTime();
    const span = this.#spanOf(fault, nowMs);
    span.count += 1;
    return {
      fault,
      limit,
      perSeconds: Math.ceil(perMs / 1000),
      remaining: Math.max(limit - span.count, 0),
      resetSeconds: Math.ceil((span.startMs + perMs - nowMs) / 1000),
      isExceeded: span.count > limit,
    };
  }

  #spanOf(fault: RequestFault, nowMs: number): Span {
    const current = this.#spans.get(fault);
    const elapsedMs = current ? nowMs - current.startMs : -1;
    // If the clock was set back, a new span begins, too.
    if (current && elapsedMs >= 0 && elapsedMs < (fault.rateLimit?.perMs ?? 0)) return current;
    const span = { startMs: nowMs, count: 0 };
    this.#spans.set(fault, span);
    return span;
  }
}

/** Returns the headers that describe a rate limit to a client. */
export function rateLimitHeaders(state: RateLimitState): Record<string, string> {
  const { limit, perSeconds, remaining, resetSeconds, isExceeded } = state;
  const headers: Record<string, string> = {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
    'ratelimit-policy': `${limit};w=${perSeconds}`,
  };
  if (isExceeded) headers['retry-after'] = String(resetSeconds);
  return headers;
}
