import type { Environment } from '../environment.ts';
import { DueTasks, type Scheduled, type Task } from './due-tasks.ts';
import { type Failure, Work } from './work.ts';

/** Real time, timers, and where bugs are reported. */
export type TimeSource = Pick<Environment, 'now' | 'setTimer' | 'report'>;

/** The longest delay that `setTimeout` accepts. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** How many due moments a clock handles before it lets the event loop run. */
const STEPS_AT_ONCE = 1000;

/**
 * The time of one tenant: real time until it is frozen or moved. It also runs the tasks that fall due, so that three
 * days of retries only take as long as the retries themselves.
 */
export class Clock {
  readonly #source: TimeSource;
  readonly #tasks = new DueTasks();
  readonly #work: Work;
  #offsetMs = 0;
  #frozenMs: number | undefined;
  #cancelTimer = () => {};
  #moves: Promise<unknown> = Promise.resolve();
  #resets = 0;
  #steps = 0;

  /** Creates a clock that shows real time. */
  constructor(source: TimeSource) {
    this.#source = source;
    this.#work = new Work((error) => source.report(error));
  }

  now(): Date {
    return new Date(this.#nowMs());
  }

  get isFrozen(): boolean {
    return this.#frozenMs !== undefined;
  }

  /** Stops time, now or at another moment; what falls due by then is done. */
  freeze(at?: Date): void {
    this.#frozenMs = at?.getTime() ?? this.#nowMs();
    this.#startDue();
  }

  /** Lets time run on from where it stands. */
  resume(): void {
    if (this.#frozenMs === undefined) return;
    this.#offsetMs = this.#frozenMs - this.#source.now().getTime();
    this.#frozenMs = undefined;
    this.#startDue();
  }

  /** Shows the time of another clock from now on: stopped where that one is, or going on from there. */
  follow(other: Clock): void {
    const timeMs = other.now().getTime();
    this.#frozenMs = other.isFrozen ? timeMs : undefined;
    this.#offsetMs = timeMs - this.#source.now().getTime();
    this.#startDue();
  }

  /**
   * Moves time on and runs the tasks that fall due on the way, in order. Resolves when they are done: with false if a
   * reset has ended the move.
   */
  advance(durationMs: number): Promise<boolean> {
    const resetsBefore = this.#resets;
    const moved = this.#moves.then(() => this.#move(durationMs, resetsBefore));
    // A move that fails rejects for its own caller, and does not hold up the others.
    this.#moves = Promise.allSettled([moved]);
    return moved;
  }

  /** Runs a task at this time, or at once if it is past; the answer cancels it. */
  schedule(at: Date, task: Task): () => void {
    const scheduled = { atMs: at.getTime(), task };
    this.#tasks.add(scheduled);
    this.#startDue();
    return () => {
      if (this.#tasks.remove(scheduled)) this.#arm();
    };
  }

  /** When the next task is due. */
  nextDue(): Date | undefined {
    const { first } = this.#tasks;
    return first && new Date(first.atMs);
  }

  /** Counts other work among what is being done. */
  track(work: Promise<void>): void {
    this.#work.track(work);
  }

  /** Reports that work failed, and keeps it for `takeFailures`. */
  fail(what: string, error: unknown): void {
    this.#work.fail(what, error);
  }

  /** What failed since this was last called, or since the last reset. */
  takeFailures(): Failure[] {
    return this.#work.takeFailures();
  }

  /** Resolves once nothing is being done and nothing is due. */
  async idle(): Promise<void> {
    await this.#moves;
    this.#startDue();
    await this.#work.finish();
  }

  /** How many tasks are being done at present. */
  get busy(): number {
    return this.#work.count;
  }

  /** How often the clock was reset: a move that began before a reset must stop after it. */
  get resets(): number {
    return this.#resets;
  }

  /** Forgets every task and goes back to real time. */
  reset(): void {
    this.#resets += 1;
    this.#tasks.clear();
    this.#work.forgetFailures();
    this.#cancelTimer();
    this.#offsetMs = 0;
    this.#frozenMs = undefined;
  }

  #nowMs(): number {
    return this.#frozenMs ?? this.#source.now().getTime() + this.#offsetMs;
  }

  #moveTo(timeMs: number): void {
    if (this.#frozenMs === undefined) this.#offsetMs += timeMs - this.#nowMs();
    else this.#frozenMs = timeMs;
  }

  #startDue(): void {
    const untilMs = this.#nowMs();
    for (let due = this.#tasks.takeDue(untilMs); due; due = this.#tasks.takeDue(untilMs)) {
      this.#work.track(perform(due.task));
    }
    this.#arm();
  }

  /** Sets a timer for the next task, unless time is frozen. */
  #arm(): void {
    this.#cancelTimer();
    const { first } = this.#tasks;
    if (this.#frozenMs !== undefined || !first) return;
    const delayMs = Math.min(Math.max(first.atMs - this.#nowMs(), 0), MAX_TIMER_MS);
    this.#cancelTimer = this.#source.setTimer(delayMs, () => this.#wake());
  }

  /** The timer calls this, so no caller could catch what it throws. */
  #wake(): void {
    try {
      this.#startDue();
    } catch (error) {
      this.#work.fail('a scheduled task', error);
    }
  }

  async #move(durationMs: number, resetsBefore: number): Promise<boolean> {
    const isOver = () => this.#resets !== resetsBefore;
    await this.#work.finish();
    if (isOver()) return false;
    const targetMs = this.#nowMs() + durationMs;
    for (let { first } = this.#tasks; first && first.atMs <= targetMs; { first } = this.#tasks) {
      await this.#step(first);
      if (isOver()) return false;
    }
    this.#moveTo(Math.max(targetMs, this.#nowMs()));
    this.#arm();
    return true;
  }

  /** Moves to the time of the first task and runs what is due then. */
  async #step(first: Scheduled): Promise<void> {
    this.#moveTo(Math.max(first.atMs, this.#nowMs()));
    this.#startDue();
    await this.#work.finish();
    this.#steps += 1;
    if (this.#steps % STEPS_AT_ONCE === 0) await nextTurn();
  }
}

/** Runs a task, but never synchronously. */
async function perform(task: Task): Promise<void> {
  await null;
  await task();
}

/** Lets the event loop run once, such as to read from sockets; the timer keeps the process alive until then. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
