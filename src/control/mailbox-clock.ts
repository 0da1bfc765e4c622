import { z } from 'zod';
import type { Duration } from '../basics/duration.ts';
import { lazy } from '../basics/lazy-schema.ts';
import { ApiError } from '../contract/errors.ts';
import type { ClockChange } from '../service/journal/entry-data.ts';
import { type Advance, type Clock, parseDuration } from '../world/clock.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import { type ControlScope, notFound, parseTenantOption, type TenantOption } from './control-scope.ts';

/** The options of `advance`. */
export interface AdvanceOptions extends TenantOption {
  /**
   * Stops the advance when it is aborted. The clock keeps the time that it has reached, and what is being sent then goes
   * on.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The time of a mailbox. Each tenant has its own clock; a call without a tenant applies to all tenants, including those
 * that are created later. Times such as `createdAt` and `receivedAt` follow the clock, and so do retries. Deliveries are
 * signed in real time, unless the behaviour `deliveries.timestamp` is `clock`. The clock shows the `Date` of the process,
 * also a faked one, until a call moves it; afterwards only such calls move it.
 *
 * @throws {ApiError} NOT_FOUND for an unknown tenant; VALIDATION_ERROR for an invalid time or duration, and for a time
 *   outside the years 0 to 9999. After an error no clock has changed.
 * @example
 * mailbox.clock.freeze('2026-03-01T09:00:00Z');
 * await mailbox.clock.advance('3d');
 * mailbox.clock.now(); // 2026-03-04T09:00:00.000Z
 * mailbox.clock.resume();
 */
export interface MailboxClock {
  /** Returns the current time of a tenant. Without a tenant, returns the time of the operator. */
  now(options?: TenantOption): Date;
  /** Returns whether the clock is frozen. */
  isFrozen(options?: TenantOption): boolean;
  /**
   * Stops the clock at its current time or at the given time: a `Date`, or a text in ISO 8601 such as
   * `2026-03-01T09:00:00Z`.
   */
  freeze(at?: Date | string, options?: TenantOption): void;
  /** Lets a frozen clock run again, from the time that it shows. */
  resume(options?: TenantOption): void;
  /**
   * Advances the clock, frozen or not, by a number of milliseconds or by a text such as `5m` or `3d`. Everything that
   * becomes due in this time happens, in order. Resolves when all of this is done. A receiver of webhooks that does not
   * answer in time gets only one second for each of its further attempts in the same call.
   *
   * @throws {ApiError} CONFLICT if `signal` is aborted, with the reason of the signal as its cause.
   */
  advance(duration: Duration, options?: AdvanceOptions): Promise<void>;
}

/** Creates the clock of a mailbox from the clocks of its tenants. Each change is published in the feed. */
export function createMailboxClock({ worlds, service }: ControlScope): MailboxClock {
  const clockFor = (options?: TenantOption): Clock => {
    const { tenant } = parseTenantOption('the clock', options);
    return tenant === undefined ? worlds.clock : findTenant(worlds, tenant).clock;
  };
  const clocksFor = (options?: TenantOption): Clock[] => {
    const { tenant } = parseTenantOption('the clock', options);
    if (tenant !== undefined) return [clockFor({ tenant })];
    return [...new Set([worlds, ...worlds.all()].map(({ clock }) => clock))];
  };
  const publish = (action: ClockChange['action'], options: TenantOption = {}) => {
    const tenant = options.tenant ?? worlds.sandboxId ?? null;
    const now = clockFor(options).now().toISOString();
    service.journals.publish(tenant?.toLowerCase() ?? null, 'clock', { action, tenantId: tenant, now });
  };

  return {
    now: (options) => clockFor(options).now(),
    isFrozen: (options) => clockFor(options).isFrozen,
    freeze(at, options) {
      const moment = at === undefined ? undefined : parseMoment(at);
      if (at !== undefined && moment === undefined) {
        throw new ApiError('VALIDATION_ERROR', `The time to freeze at must be ${MOMENT_RULE}.`);
      }
      for (const clock of clocksFor(options)) clock.freeze(moment);
      publish('freeze', options);
    },
    resume(options) {
      for (const clock of clocksFor(options)) clock.resume();
      publish('resume', options);
    },
    async advance(duration, given) {
      const { signal, ...options } = { ...given };
      if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
        throw new ApiError('VALIDATION_ERROR', 'The option signal must be an AbortSignal.');
      }
      const durationMs = parseDuration(duration);
      const clocks = clocksFor(options);
      if (clocks.some((clock) => !hasFourDigitYear(clock.now().getTime() + durationMs))) {
        throw new ApiError('VALIDATION_ERROR', 'The clock cannot go beyond the year 9999.');
      }
      const { epoch } = worlds.mailbox;
      const startMs = clockFor(options).now().getTime();
      const isDone = await untilAborted(signal, () => advanceTogether(worlds.clock, clocks, durationMs, signal));
      // A reset has interrupted the advance, and has set the time itself.
      if (!worlds.isOver(epoch)) publish('advance', options);
      if (!isDone) throw createAbortError(clockFor(options).now(), startMs + durationMs, signal);
    },
  };
}

/**
 * Advances clocks together, from one due time to the next, so that no clock is ahead of another. Stops early if the
 * mailbox is reset, because a reset also resets the operator's clock, and if the signal is aborted. The signal is
 * checked only between two steps, when all clocks show the same time.
 */
async function advanceTogether(
  operatorClock: Clock,
  clocks: readonly Clock[],
  durationMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { resets } = operatorClock;
  const isStopped = () => operatorClock.resets !== resets || signal?.aborted;
  const advance: Advance = { durationMs };
  for (const clock of clocks) clock.advances.add(advance);
  try {
    // The clocks are first advanced by zero. This finishes the running work, which may make more work due.
    let active = await advanceEach(clocks, 0);
    for (let remainingMs = durationMs; active.length > 0 && remainingMs > 0 && !isStopped(); ) {
      const stepMs = Math.min(remainingMs, ...active.map(msUntilNextDue));
      active = await advanceEach(active, stepMs);
      remainingMs -= stepMs;
    }
  } finally {
    for (const clock of clocks) clock.advances.delete(advance);
  }
}

/**
 * Runs some work and resolves to true when it is done, or to false as soon as the signal is aborted. The work itself
 * must stop by the signal.
 */
async function untilAborted(signal: AbortSignal | undefined, run: () => Promise<void>): Promise<boolean> {
  if (signal?.aborted) return false;
  let stop = () => {};
  const aborted = new Promise<false>((resolve) => {
    stop = () => resolve(false);
  });
  signal?.addEventListener('abort', stop);
  try {
    return await Promise.race([run().then(() => true), aborted]);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

function createAbortError(now: Date, targetMs: number, signal: AbortSignal | undefined): ApiError {
  const target = new Date(targetMs).toISOString();
  const message = `The clock stopped at ${now.toISOString()} on its way to ${target}, because the signal was aborted.`;
  return Object.assign(new ApiError('CONFLICT', message), { cause: signal?.reason });
}

/**
 * Advances each clock, and returns the clocks that were advanced. The clock of a tenant that is deleted meanwhile is
 * not returned.
 */
async function advanceEach(clocks: readonly Clock[], durationMs: number): Promise<readonly Clock[]> {
  const isAdvanced = await Promise.all(clocks.map((clock) => clock.advance(durationMs)));
  return clocks.filter((_, index) => isAdvanced[index]);
}

function msUntilNextDue(clock: Clock): number {
  const next = clock.nextDue();
  return next ? Math.max(next.getTime() - clock.now().getTime(), 0) : Number.POSITIVE_INFINITY;
}

function findTenant(worlds: ReachableWorlds, id: string) {
  const world = worlds.get(String(id).toLowerCase());
  if (world) return world;
  throw notFound('tenant');
}

/** A description of a valid time, for error messages. */
export const MOMENT_RULE = 'a time such as 2026-01-05T09:00:00.000Z';

const isoTime = lazy(() => z.iso.datetime({ offset: true }));

/** Parses a time; returns `undefined` if it is invalid or outside the years 0 to 9999. */
export function parseMoment(at: Date | string): Date | undefined {
  const moment = at instanceof Date || isoTime().safeParse(at).success ? new Date(at) : undefined;
  return moment && hasFourDigitYear(moment.getTime()) ? moment : undefined;
}

/** Returns whether the year of a time has four digits, because a timestamp cannot have more. */
function hasFourDigitYear(timeMs: number): boolean {
  return timeMs >= Date.parse('0000-01-01T00:00:00Z') && timeMs <= Date.parse('9999-12-31T23:59:59.999Z');
}
