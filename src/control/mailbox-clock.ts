import { z } from 'zod';
import type { Duration } from '../basics/duration.ts';
import { lazy } from '../basics/lazy-schema.ts';
import { ApiError } from '../contract/errors.ts';
import { type Clock, parseDuration } from '../world/clock.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import { type ControlScope, notFound } from './control-scope.ts';
import type { ClockFeedItem } from './journal/feed-event.ts';

/** The tenant to which a call applies; without one, it applies to all tenants. */
export interface TenantOption {
  /** The id of a tenant. */
  readonly tenant?: string | undefined;
}

/**
 * The time of a mailbox. Each tenant has its own clock; a call without a tenant applies to all tenants, including those
 * that are created later. The clock sets every time: `createdAt`, `receivedAt`, signatures, retries.
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
  /** Returns the current time of a tenant; without a tenant, that of the operator. */
  now(options?: TenantOption): Date;
  /** Returns whether the clock is frozen. */
  isFrozen(options?: TenantOption): boolean;
  /** Stops the clock, now or at the given time: a `Date`, or ISO 8601 such as `2026-03-01T09:00:00Z`. */
  freeze(at?: Date | string, options?: TenantOption): void;
  /** Lets a frozen clock run again, from the time that it shows. */
  resume(options?: TenantOption): void;
  /**
   * Advances the clock, frozen or not, by milliseconds or a text such as `5m` or `3d`. It runs everything that becomes
   * due on the way, in order, and resolves when that is done.
   */
  advance(duration: Duration, options?: TenantOption): Promise<void>;
}

/** Creates the clock of a mailbox from the clocks of its tenants. It publishes each change in the feed. */
export function createMailboxClock({ worlds, recorder }: ControlScope): MailboxClock {
  const clockFor = ({ tenant }: TenantOption = {}): Clock =>
    tenant === undefined ? worlds.clock : findTenant(worlds, tenant).clock;
  const clocksFor = ({ tenant }: TenantOption = {}): Clock[] =>
    tenant === undefined ? [...new Set([worlds, ...worlds.all()].map(({ clock }) => clock))] : [clockFor({ tenant })];
  const publish = (action: ClockFeedItem['action'], options: TenantOption = {}) => {
    const owner = options.tenant ?? worlds.sandboxId ?? null;
    recorder.publish(owner, { kind: 'clock', action, tenantId: owner, now: clockFor(options).now().toISOString() });
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
      await advanceTogether(worlds.clock, clocks, durationMs);
      publish('advance', options);
    },
  };
}

/**
 * Advances clocks together, from one due time to the next, so that none is ahead of another. It stops when the mailbox,
 * and with it the operator's clock, is reset.
 */
async function advanceTogether(operator: Clock, clocks: readonly Clock[], durationMs: number): Promise<void> {
  const { resets } = operator;
  // An advance by zero comes first: it finishes running work, which may make more work due.
  let moving = await advanceEach(clocks, 0);
  for (let leftMs = durationMs; moving.length > 0 && leftMs > 0 && operator.resets === resets; ) {
    const stepMs = Math.min(leftMs, ...moving.map(untilNextDue));
    moving = await advanceEach(moving, stepMs);
    leftMs -= stepMs;
  }
}

/** Returns the clocks that were advanced, without the clocks of tenants that were deleted meanwhile. */
async function advanceEach(clocks: readonly Clock[], durationMs: number): Promise<readonly Clock[]> {
  const isAdvanced = await Promise.all(clocks.map((clock) => clock.advance(durationMs)));
  return clocks.filter((_, index) => isAdvanced[index]);
}

function untilNextDue(clock: Clock): number {
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
