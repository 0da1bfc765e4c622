import type { Environment } from '../environment.ts';

/** Real time, a way to be woken by it, and who is told of a bug. */
export type TimeSource = Pick<Environment, 'now' | 'setTimer' | 'report'>;

/** Work that failed by a fault of the emulator. */
export interface Failure {
  /** What failed, such as `a scheduled task`. */
  readonly what: string;
  readonly error: unknown;
}

/** What is to be done at some time; the clock waits for it where it is asked to move on. */
export type Task = () => Promise<void> | void;

/**
 * The time of one tenant: real until it is frozen or moved, and then its own. It also does what falls due, so that
 * three days of retries take as long as what is done in them.
 */
export interface Clock {
  now(): Date;
  readonly isFrozen: boolean;
  /** Stops time, now or at another moment; what falls due by then is done. */
  freeze(at?: Date): void;
  /** Lets time go on from where it stands. */
  resume(): void;
  /**
   * Moves time on, does what falls due on the way, in order, and resolves when it is done: with whether it got there,
   * because a reset ends it.
   */
  advance(durationMs: number): Promise<boolean>;
  /** Does a task at this time, at once if it has come; the answer cancels it. */
  schedule(at: Date, task: Task): () => void;
  /** Counts other work among what is being done. */
  track(work: Promise<void>): void;
  /** Reports that work failed, and keeps it for `takeFailures`. */
  fail(what: string, error: unknown): void;
  /** What failed since this was last called, or since the last reset. */
  takeFailures(): Failure[];
  /** Resolves once nothing is being done and nothing is due. */
  idle(): Promise<void>;
  /** How many tasks are being done at present. */
  readonly busy: number;
  /** When the next task is due. */
  nextDue(): Date | undefined;
  /** How often it was reset. */
  readonly resets: number;
  /** Forgets every task and goes back to real time. */
  reset(): void;
  /** Shows the time of another clock from now on: stopped where that one is, or going on from there. */
  follow(other: Clock): void;
}

interface Scheduled {
  readonly atMs: number;
  readonly task: Task;
}

/** The longest that a platform's timer waits. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** How many moments a clock moves past before anything else may happen in the process. */
const STEPS_AT_ONCE = 1000;

/** Does a task a moment later. */
async function perform(task: Task): Promise<void> {
  await null;
  await task();
}

/** Lets the platform do something else, such as read what was sent; until then the process stays alive. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Creates a clock that shows real time. */
export function createClock(source: TimeSource): Clock {
  /** Sorted by time, then by the order in which they came. */
  const waiting: Scheduled[] = [];
  const doing = new Set<Promise<void>>();
  const failures: Failure[] = [];
  let offsetMs = 0;
  let frozenMs: number | undefined;
  let cancelTimer = () => {};
  let moves: Promise<unknown> = Promise.resolve();
  /** How often it was reset: what was on its way before must not move it afterwards. */
  let resets = 0;
  let steps = 0;

  const nowMs = () => frozenMs ?? source.now().getTime() + offsetMs;

  function moveTo(timeMs: number): void {
    if (frozenMs === undefined) offsetMs += timeMs - nowMs();
    else frozenMs = timeMs;
  }

  function add(scheduled: Scheduled): void {
    let [low, high] = [0, waiting.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((waiting[middle]?.atMs ?? 0) <= scheduled.atMs) low = middle + 1;
      else high = middle;
    }
    waiting.splice(low, 0, scheduled);
  }

  function fail(what: string, error: unknown): void {
    failures.push({ what, error });
    source.report(error);
  }

  function track(work: Promise<void>): void {
    const end = () => void doing.delete(done);
    const done = work.then(end, (error) => {
      end();
      fail('a scheduled task', error);
    });
    doing.add(done);
  }

  function startDue(untilMs = nowMs()): void {
    for (let [first] = waiting; first && first.atMs <= untilMs; [first] = waiting) {
      waiting.shift();
      track(perform(first.task));
    }
    arm();
  }

  /** Lets the platform wake us for the next task, unless time stands still. */
  function arm(): void {
    cancelTimer();
    const [first] = waiting;
    if (frozenMs !== undefined || !first) return;
    const delayMs = Math.min(Math.max(first.atMs - nowMs(), 0), MAX_TIMER_MS);
    cancelTimer = source.setTimer(delayMs, wake);
  }

  /** The platform calls this, so nobody else could take what it throws. */
  function wake(): void {
    try {
      startDue();
    } catch (error) {
      fail('a scheduled task', error);
    }
  }

  async function finishWork(): Promise<void> {
    while (doing.size > 0) await Promise.all(doing);
  }

  /** Goes to the next moment at which something is due, and does it. */
  async function step(first: Scheduled): Promise<void> {
    moveTo(Math.max(first.atMs, nowMs()));
    startDue();
    await finishWork();
    steps += 1;
    if (steps % STEPS_AT_ONCE === 0) await nextTurn();
  }

  async function move(durationMs: number, resetsBefore: number): Promise<boolean> {
    const isOver = () => resets !== resetsBefore;
    await finishWork();
    if (isOver()) return false;
    const targetMs = nowMs() + durationMs;
    for (let [first] = waiting; first && first.atMs <= targetMs; [first] = waiting) {
      await step(first);
      if (isOver()) return false;
    }
    moveTo(Math.max(targetMs, nowMs()));
    arm();
    return true;
  }

  return {
    now: () => new Date(nowMs()),
    get isFrozen() {
      return frozenMs !== undefined;
    },
    freeze(at) {
      frozenMs = at?.getTime() ?? nowMs();
      startDue();
    },
    resume() {
      if (frozenMs === undefined) return;
      offsetMs = frozenMs - source.now().getTime();
      frozenMs = undefined;
      startDue();
    },
    advance(durationMs) {
      const resetsBefore = resets;
      const moved = moves.then(() => move(durationMs, resetsBefore));
      // One that fails tells its caller, and holds up none of the others.
      moves = Promise.allSettled([moved]);
      return moved;
    },
    schedule(at, task) {
      const scheduled = { atMs: at.getTime(), task };
      add(scheduled);
      startDue();
      return () => {
        const index = waiting.indexOf(scheduled);
        if (index < 0) return;
        waiting.splice(index, 1);
        arm();
      };
    },
    track,
    fail,
    takeFailures: () => failures.splice(0),
    async idle() {
      await moves;
      startDue();
      await finishWork();
    },
    get busy() {
      return doing.size;
    },
    get resets() {
      return resets;
    },
    nextDue() {
      const [first] = waiting;
      return first && new Date(first.atMs);
    },
    follow(other) {
      const timeMs = other.now().getTime();
      frozenMs = other.isFrozen ? timeMs : undefined;
      offsetMs = timeMs - source.now().getTime();
      startDue();
    },
    reset() {
      resets += 1;
      waiting.length = 0;
      failures.length = 0;
      cancelTimer();
      offsetMs = 0;
      frozenMs = undefined;
    },
  };
}
