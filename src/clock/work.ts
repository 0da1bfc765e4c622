import type { Environment } from '../environment.ts';

/** Work that failed because of a bug in the emulator. */
export interface Failure {
  /** The work that failed, such as `a scheduled task`. */
  readonly what: string;
  readonly error: unknown;
}

/** The running work of one tenant, and its failures. */
export class Work {
  readonly #running = new Set<Promise<void>>();
  readonly #report: Environment['report'];
  #failures: Failure[] = [];

  constructor(report: Environment['report']) {
    this.#report = report;
  }

  /** How many promises have not settled yet. */
  get count(): number {
    return this.#running.size;
  }

  /** Counts work until it ends; a failure is reported as one of `a scheduled task`. */
  track(work: Promise<void>): void {
    const end = () => void this.#running.delete(done);
    const done = work.then(end, (error) => {
      end();
      this.reportFailure('a scheduled task', error);
    });
    this.#running.add(done);
  }

  /** Reports that work failed, and keeps the failure for `takeFailures`. */
  reportFailure(what: string, error: unknown): void {
    this.#failures.push({ what, error });
    this.#report(error);
  }

  /** Returns the failures since the last call or reset, and removes them. */
  takeFailures(): Failure[] {
    return this.#failures.splice(0);
  }

  forgetFailures(): void {
    this.#failures = [];
  }

  /** Resolves when no work is running. */
  async finish(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
