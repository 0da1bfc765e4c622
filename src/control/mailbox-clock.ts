import { z } from 'zod';
import type { Duration } from '../basics/duration.ts';
import { lazy } from '../basics/lazy-schema.ts';
import { ApiError } from '../contract/errors.ts';
import { type Clock, parseDuration } from '../world/clock.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import { type ControlScope, notFound } from './control-scope.ts';
import type { ClockFeedItem } from './journal/feed-event.ts';

/** The tenant to which a call applies. Without `tenant`, the call applies to all tenants. */
export interface TenantOption {
  /** The id of a tenant. */
  readonly tenant?: string | undefined;
}

/**
 * The time of a mailbox. Each tenant has its own clock; a call without a tenant applies to all tenants, including those
 * that are created later. Times such as `createdAt` and `receivedAt` follow the clock, and so do retries. Deliveries are
 * signed in real time, unless the behaviour `deliveries.timestamp` is `clock`.
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
   * becomes due in this time happens, in order. Resolves when all of this is done.
   */
  advance(duration: Duration, options?: TenantOption): Promise<void>;
}

/** Creates the clock of a mailbox from the clocks of its tenants. Each change is published in the feed. */
export function createMailboxClock({ worlds, recorder }: ControlScope): MailboxClock {
  const clockFor = ({ tenant }: TenantOption = {}): Clock =>
    tenant === undefined ? worlds.clock : findTenant(worlds, tenant).clock;
  const clocksFor = ({ tenant }: TenantOption = {}): Clock[] =>
    tenant === undefined ? [...new Set([worlds, ...worlds.all()].map(({ clock }) => clock))] : [clockFor({ tenant })];
  const publish = (action: ClockFeedItem['action'], options: TenantOption = {}) => {
    const tenant = options.tenant ?? worlds.sandboxId ?? null;
    recorder.publish(tenant, { kind: 'clock', action, tenantId: tenant, now: clockFor(options).now().toISOString() });
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
    async advance(duration, options) {
      const durationMs = parseDuration(duration);
      const clocks = clocksFor(options);
      if (clocks.some((clock) => !hasFourDigitYear(clock.now().getTime() + durationMs))) {
        throw new ApiError('VALIDATION_ERROR', 'The clock cannot go beyond the year 9999.');
      }
      const { epoch } = worlds.whole;
      await advanceTogether(worlds.clock, clocks, durationMs);
      // A reset has interrupted the advance, and has set the time itself.
      if (worlds.parts.epoch <= epoch) publish('advance', options);
    },
  };
}

/**
 * Advances clocks together, from one due time to the next, so that no clock is ahead of another. Stops early if the
 * mailbox is reset, because a reset also resets the operator's clock.
 */
async function advanceTogether(operatorClock: Clock, clocks: readonly Clock[], durationMs: number): Promise<void> {
  const { resets } = operatorClock;
  // The clocks are first advanced by zero. This finishes the running work, which may make more work due.
  let active = await advanceEach(clocks, 0);
  for (let remainingMs = durationMs; active.length > 0 && remainingMs > 0 && operatorClock.resets === resets; ) {
    const stepMs = Math.min(remainingMs, ...active.map(msUntilNextDue));
    active = await advanceEach(active, stepMs);
    remainingMs -= stepMs;
  }
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
