import { performance, setImmediate } from '../basics/real-timers.ts';
import type { Work } from '../basics/work.ts';
import type { RunInSlices } from '../service/pipeline/reply.ts';
import { LIMITS } from './server-limits.ts';

/** Work that pauses at each `yield` of `undefined`, and may yield other values, such as a piece of a reply. */
type SlicedWork<Value, Result> = Generator<Value | undefined, Result, undefined>;

/** Work that waits for its turn. */
interface Waiting {
  /** Does the work until its next pause. Returns whether the work is done, so that it leaves the queue. */
  step(): boolean;
}

/**
 * Runs long work of all connections in slices, so that a server with much to do still answers everybody else: in each
 * turn of the event loop, all work together runs for about as long as `LIMITS.turn` says. The work takes turns at each pause, so that a
 * short command does not wait until a long one is done.
 */
export class WorkQueue {
  readonly #waiting: Waiting[] = [];
  /** The functions that let work begin, the first one first. */
  readonly #beginning: (() => void)[] = [];
  readonly #readMs: () => number;
  /** When the work of this turn must pause; `undefined` if none has run in this turn. */
  #pauseAt: number | undefined;

  constructor(readMs: () => number = () => performance.now()) {
    this.#readMs = readMs;
  }

  /**
   * Runs work until it yields a value other than `undefined`, or until its end. Stops the work when `isStopped` returns
   * true; the result is then `undefined`. An error of the work rejects the promise.
   */
  next<Value, Result>(
    work: SlicedWork<Value, Result>,
    isStopped: () => boolean,
  ): Promise<IteratorResult<Value, Result> | undefined> {
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          if (isStopped()) {
            work.return(undefined as never);
            resolve(undefined);
            return true;
          }
          const result = work.next();
          if (!result.done && result.value === undefined) return false;
          resolve(result as IteratorResult<Value, Result>);
        } catch (error) {
          reject(error);
        }
        return true;
      };
      this.#waiting.push({ step });
      // Short work is done at once, if this turn has time left.
      if (this.#waiting.length === 1) this.#run();
    });
  }

  /**
   * Resolves when work may begin that cannot pause, such as a control call that reads a whole list. If this turn of the
   * event loop has no time left, one such work begins in each of the next turns, in the order of the calls.
   */
  begin(): Promise<void> {
    if (this.#beginning.length === 0 && this.#hasTime()) return Promise.resolve();
    return new Promise((resolve) => this.#beginning.push(resolve));
  }

  /** Runs work until its end; nothing stops it. It is a property, so that it can be passed on. */
  readonly inSlices: RunInSlices = async <Result>(work: Work<Result>): Promise<Result> => {
    const { value } = (await this.next<never, Result>(work, () => false)) as IteratorReturnResult<Result>;
    return value;
  };

  /** Runs work that yields no values until its end. The result is `undefined` if it was stopped. */
  async run<Result>(work: SlicedWork<never, Result>, isStopped: () => boolean): Promise<Result | undefined> {
    const result = await this.next(work, isStopped);
    return result?.done ? result.value : undefined;
  }

  /** Returns whether this turn has time left. Its time begins with the first call in a turn. */
  #hasTime(): boolean {
    if (this.#pauseAt === undefined) {
      this.#pauseAt = this.#readMs() + LIMITS.turn.value;
      setImmediate(() => {
        this.#pauseAt = undefined;
        if (this.#waiting.length > 0 || this.#beginning.length > 0) this.#run();
        this.#beginning.shift()?.();
      });
    }
    return this.#readMs() < this.#pauseAt;
  }

  #run(): void {
    while (this.#hasTime() && this.#waiting.length > 0) {
      const work = this.#waiting.shift();
      if (work && !work.step()) this.#waiting.push(work);
    }
  }
}
