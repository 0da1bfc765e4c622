import { DURATION_RULE, type Duration, readDuration } from '../basics/duration.ts';
import { setTimeout } from '../basics/real-timers.ts';
import { ApiError } from '../contract/errors.ts';
import type { Environment } from './environment.ts';
import { PriorityQueue } from './priority-queue.ts';

/** Real time, timers, and the function that reports bugs. */
export type TimeSource = Pick<Environment, 'now' | 'setTimer' | 'realNow' | 'setClockTimer' | 'report'>;

/**
 * The setting of a clock, in milliseconds. A frozen clock shows `frozenMs`. A running clock has no `frozenMs`, and is
 * `offsetMs` ahead of real time. If `offsetMs` is 0, nothing has moved it, and it shows the `Date` of the process, which
 * a test may fake. A clock that was moved does not follow such a test: if the test then sets `Date` to the time of this
 * clock, the clock must not move for a second time.
 */
export interface ClockSetting {
  readonly offsetMs: number;
  readonly frozenMs: number | undefined;
}

const REAL_TIME: ClockSetting = { offsetMs: 0, frozenMs: undefined };

/** The longest delay that `setTimeout` accepts. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `advance` moves in steps, from one due task to the next. After this many steps, it lets the event loop run once. */
const STEPS_PER_TURN = 1000;

/**
 * `advance` waits for work that becomes due, for what follows from it, for what follows from that, and so on, this many
 * times. Work can follow without an end, for example from two agents that answer each other, or from clients that go on
 * sending; then `advance` does not wait for all of it.
 */
const MAX_LINKS = 20;

/** Work that runs at a scheduled time; `advance` waits for it. */
type Task = () => Promise<void> | void;

/** A task and the time at which it is due. */
interface ScheduledTask {
  readonly atMs: number;
  readonly task: Task;
}

/** One call that advances clocks, perhaps those of several tenants. Each call has an object of its own. */
export interface Advance {
  readonly durationMs: number;
}

/**
 * The clock of one tenant. It shows real time until it is frozen or advanced, and runs scheduled tasks when they are
 * due. When a test advances the clock by three days, the retries of these days run immediately, one after another.
 */
export class Clock {
  /** The scheduled tasks, sorted by the time at which they are due. */
  #tasks = new PriorityQueue<ScheduledTask>();
  /** The tasks and other work that are running now. */
  readonly #running = new Set<Promise<void>>();
  #failures: Failure[] = [];
  #setting = REAL_TIME;
  #cancelTimer = () => {};
  /** Settles when the last call of `advance` is done. */
  #lastMove: Promise<unknown> = Promise.resolve();
  /** The calls that advance this clock now, or that wait for their turn. */
  readonly advances = new Set<Advance>();
  /** How many times the clock was reset, so that a caller can detect a reset during its own work. */
  resets = 0;
  #steps = 0;

  /** Creates a clock that shows real time. */
  constructor(readonly source: TimeSource) {}

  now(): Date {
    return new Date(this.#nowMs());
  }

  get isFrozen(): boolean {
    return this.#setting.frozenMs !== undefined;
  }

  /** Stops the clock at the given time or at the current time, and starts the tasks that are due at that time. */
  freeze(at?: Date): void {
    this.restoreSetting({ ...this.#setting, frozenMs: at?.getTime() ?? this.#nowMs() });
  }

  /** Lets a frozen clock run again, from the time that it shows. */
  resume(): void {
    const { frozenMs } = this.#setting;
    if (frozenMs === undefined) return;
    this.restoreSetting({ offsetMs: this.#offsetTo(frozenMs), frozenMs: undefined });
  }

  /** The current setting of this clock, for `restoreSetting`. */
  get setting(): ClockSetting {
    return this.#setting;
  }

  /**
   * Sets this clock to a setting that was read earlier, from this clock or from an earlier clock of the same tenant.
   */
  restoreSetting(setting: ClockSetting): void {
    this.#setting = setting;
    this.#startDueTasks();
  }

  /** Sets this clock to the time of another clock, and freezes it if the other clock is frozen. */
  copyTimeFrom(other: Clock): void {
    this.restoreSetting(other.setting);
  }

  /**
   * Moves the clock forward and runs the tasks that become due, in order. Resolves to true when these tasks are done,
   * or to false if `reset` interrupted the move.
   */
  advance(durationMs: number): Promise<boolean> {
    const resetsBefore = this.resets;
    const move = this.#lastMove.then(() => this.#moveForward(durationMs, resetsBefore));
    // If a move fails, only its caller gets the error; the next moves still run.
    this.#lastMove = Promise.allSettled([move]);
    return move;
  }

  /** Runs the task at the given time, or immediately if it is in the past. Returns a function that cancels the task. */
  schedule(at: Date, task: Task): () => void {
    const scheduled = { atMs: at.getTime(), task };
    this.#tasks.add(scheduled, scheduled.atMs);
    this.#startDueTasks();
    return () => {
      if (this.#tasks.remove(scheduled)) this.#setTimer();
    };
  }

  /** Returns the time at which the next task is due. */
  nextDue(): Date | undefined {
    const { first } = this.#tasks;
    return first && new Date(first.atMs);
  }

  /** Makes `idle` and `advance` wait for this work. Reports a failure of the work as `a scheduled task`. */
  track(work: Promise<void>): void {
    const { resets } = this;
    const remove = () => void this.#running.delete(done);
    const done = work.then(remove, (error) => {
      remove();
      if (resets === this.resets) this.reportFailure('a scheduled task', error);
      else this.source.report(error);
    });
    this.#running.add(done);
  }

  /** Reports that work failed, and keeps the failure for `takeFailures`. */
  reportFailure(what: string, error: unknown): void {
    this.#failures.push({ what, error });
    this.source.report(error);
  }

  /** Returns the failures since the last call or reset, and removes them. */
  takeFailures(): Failure[] {
    return this.#failures.splice(0);
  }

  /** Resolves when no task is due and no work is running. */
  async idle(): Promise<void> {
    await this.#lastMove;
    this.#startDueTasks();
    while (this.#running.size > 0) await this.#finishWork();
  }

  /** How many tasks and other pieces of tracked work are running. */
  get runningWork(): number {
    return this.#running.size;
  }

  /** Removes every task and failure, no longer waits for running work, and returns to real time. */
  reset(): void {
    this.resets += 1;
    this.#tasks = new PriorityQueue();
    this.#running.clear();
    this.#lastMove = Promise.resolve();
    this.#failures = [];
    this.#cancelTimer();
    this.#setting = REAL_TIME;
  }

  #nowMs(): number {
    const { offsetMs, frozenMs } = this.#setting;
    if (frozenMs !== undefined) return frozenMs;
    return offsetMs === 0 ? this.source.now().getTime() : this.source.realNow().getTime() + offsetMs;
  }

  /** Returns the offset with which the clock shows a time now. */
  #offsetTo(timeMs: number): number {
    return timeMs - this.source.realNow().getTime();
  }

  #setTime(timeMs: number): void {
    const { offsetMs, frozenMs } = this.#setting;
    this.#setting =
      frozenMs === undefined
        ? { offsetMs: timeMs === this.#nowMs() ? offsetMs : this.#offsetTo(timeMs), frozenMs }
        : { offsetMs, frozenMs: timeMs };
  }

  #startDueTasks(): void {
    const untilMs = this.#nowMs();
    for (let { first } = this.#tasks; first && first.atMs <= untilMs; { first } = this.#tasks) {
      this.#tasks.remove(first);
      this.track(runLater(first.task));
    }
    this.#setTimer();
  }

  /** Sets a timer for the next task, unless the clock is frozen. */
  #setTimer(): void {
    this.#cancelTimer();
    const { first } = this.#tasks;
    if (this.isFrozen || !first) return;
    const delayMs = Math.min(Math.max(first.atMs - this.#nowMs(), 0), MAX_TIMER_MS);
    const start = this.#setting.offsetMs === 0 ? this.source.setClockTimer : this.source.setTimer;
    this.#cancelTimer = start(delayMs, () => this.#onTimer());
  }

  /** Starts the due tasks. Reports an error, and does not throw it, because a timer does not catch errors. */
  #onTimer(): void {
    try {
      this.#startDueTasks();
    } catch (error) {
      this.reportFailure('a scheduled task', error);
    }
  }

  /** Waits for the work that is running, and for what follows from it, but not for a chain without an end. */
  async #finishWork(): Promise<void> {
    for (let links = 0; this.#running.size > 0 && links < MAX_LINKS; links += 1) await Promise.all(this.#running);
  }

  async #moveForward(durationMs: number, resetsBefore: number): Promise<boolean> {
    const wasReset = () => this.resets !== resetsBefore;
    await this.#finishWork();
    if (wasReset()) return false;
    const targetMs = this.#nowMs() + durationMs;
    for (let { first } = this.#tasks; first && first.atMs <= targetMs; { first } = this.#tasks) {
      await this.#step(first);
      if (wasReset()) return false;
    }
    this.#setTime(Math.max(targetMs, this.#nowMs()));
    this.#setTimer();
    return true;
  }

  /** Moves to the time of the first task and runs the tasks that are due then. */
  async #step(first: ScheduledTask): Promise<void> {
    this.#setTime(Math.max(first.atMs, this.#nowMs()));
    this.#startDueTasks();
    await this.#finishWork();
    this.#steps += 1;
    if (this.#steps % STEPS_PER_TURN === 0) await new Promise((resolve) => setTimeout(resolve));
  }
}

/** Runs a task after the synchronous code of the caller. */
async function runLater(task: Task): Promise<void> {
  await null;
  await task();
}

/** Work that failed because of a bug in the emulator. */
export interface Failure {
  /** The work that failed, such as `a scheduled task`. */
  readonly what: string;
  readonly error: unknown;
}

/**
 * Converts a duration to milliseconds.
 *
 * @throws {ApiError} VALIDATION_ERROR on an invalid, negative or too long duration.
 */
export function parseDuration(duration: Duration): number {
  const durationMs = readDuration(duration);
  if (durationMs !== undefined) return durationMs;
  throw new ApiError('VALIDATION_ERROR', `The duration ${DURATION_RULE}.`);
}
