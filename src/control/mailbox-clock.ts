import { z } from 'zod';
import type { Clock } from '../clock/clock.ts';
import { type Duration, parseDuration } from '../clock/duration.ts';
import { ApiError } from '../contract/errors.ts';
import type { Worlds } from '../store/worlds.ts';
import { absent } from './find-worlds.ts';

/** Which tenant a control call is about; all of them where none is named. */
export interface TenantOption {
  /** The id of a tenant. */
  readonly tenant?: string | undefined;
}

/**
 * The time of a mailbox. Each tenant has its own; a call that names none is about all, and about the tenants to come.
 * Everything with a time in it follows: `createdAt`, `receivedAt`, signatures, retries.
 *
 * @throws {ApiError} NOT_FOUND for a tenant that is not there; VALIDATION_ERROR for what is no time or no duration, and
 *   for a time outside the years 0 to 9999. Then no clock has changed.
 * @example
 * mailbox.clock.freeze('2026-03-01T09:00:00Z');
 * await mailbox.clock.advance('3d');
 * mailbox.clock.now(); // 2026-03-04T09:00:00.000Z
 * mailbox.clock.resume();
 */
export interface MailboxClock {
  /** The present moment; without a tenant, that of the operator. */
  now(options?: TenantOption): Date;
  /** Whether time stands still. */
  isFrozen(options?: TenantOption): boolean;
  /** Stops time, where it is or at another moment: a `Date`, or ISO 8601 such as `2026-03-01T09:00:00Z`. */
  freeze(at?: Date | string, options?: TenantOption): void;
  /** Lets time go on from where it stands. */
  resume(options?: TenantOption): void;
  /**
   * Moves time on by milliseconds or a text such as `5m` or `3d`, frozen or not; does what falls due on the way, in
   * order, and resolves when it is done.
   */
  advance(duration: Duration, options?: TenantOption): Promise<void>;
}

/** Makes the clock of a mailbox out of those of its tenants. */
export function createMailboxClock(worlds: Worlds): MailboxClock {
  const one = (options: TenantOption = {}): Clock =>
    options.tenant === undefined ? worlds.clock : findTenant(worlds, options.tenant).clock;
  const each = (options: TenantOption = {}): Clock[] =>
    options.tenant === undefined ? [worlds.clock, ...worlds.all().map(({ clock }) => clock)] : [one(options)];

  return {
    now: (options) => one(options).now(),
    isFrozen: (options) => one(options).isFrozen,
    freeze(at, options) {
      const moment = at === undefined ? undefined : parseMoment(at);
      if (at !== undefined && moment === undefined) {
        throw new ApiError('VALIDATION_ERROR', `The time to freeze at must be ${MOMENT_RULE}.`);
      }
      for (const clock of each(options)) clock.freeze(moment);
    },
    resume(options) {
      for (const clock of each(options)) clock.resume();
    },
    async advance(duration, options) {
      const durationMs = parseDuration(duration);
      const clocks = each(options);
      if (clocks.some((clock) => !isWritable(clock.now().getTime() + durationMs))) {
        throw new ApiError('VALIDATION_ERROR', 'The clock cannot go beyond the year 9999.');
      }
      await advanceTogether(worlds.clock, clocks, durationMs);
    },
  };
}

/**
 * Moves clocks on in step, from one moment at which something is due to the next, so that none is ahead of another.
 * A reset of the mailbox, and so of the operator's clock, ends it.
 */
async function advanceTogether(operator: Clock, clocks: readonly Clock[], durationMs: number): Promise<void> {
  const { resets } = operator;
  // A delay of zero runs first: what is on its way ends, and may make something due.
  let moving = await advanceEach(clocks, 0);
  for (let leftMs = durationMs; moving.length > 0 && leftMs > 0 && operator.resets === resets; ) {
    const stepMs = Math.min(leftMs, ...moving.map(untilNextDue));
    moving = await advanceEach(moving, stepMs);
    leftMs -= stepMs;
  }
}

/** Answers the clocks that got there: that of a tenant which is deleted meanwhile does not. */
async function advanceEach(clocks: readonly Clock[], durationMs: number): Promise<readonly Clock[]> {
  const arrived = await Promise.all(clocks.map((clock) => clock.advance(durationMs)));
  return clocks.filter((_, index) => arrived[index]);
}

function untilNextDue(clock: Clock): number {
  const next = clock.nextDue();
  return next ? Math.max(next.getTime() - clock.now().getTime(), 0) : Number.POSITIVE_INFINITY;
}

function findTenant(worlds: Worlds, id: string) {
  const world = worlds.get(String(id).toLowerCase());
  if (world) return world;
  throw absent('tenant');
}

/** What is right for a moment, for messages. */
export const MOMENT_RULE = 'a time such as 2026-01-05T09:00:00.000Z';

const isoTime = z.iso.datetime({ offset: true });

/** Reads a moment; `undefined` for anything that is none, or that a timestamp cannot write. */
export function parseMoment(at: Date | string): Date | undefined {
  const moment = at instanceof Date || isoTime.safeParse(at).success ? new Date(at) : undefined;
  return moment && isWritable(moment.getTime()) ? moment : undefined;
}

/** Says whether a timestamp can write this time: it has four digits for the year. */
function isWritable(timeMs: number): boolean {
  return timeMs >= Date.parse('0000-01-01T00:00:00Z') && timeMs <= Date.parse('9999-12-31T23:59:59.999Z');
}
