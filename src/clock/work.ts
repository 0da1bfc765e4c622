import type { Environment } from '../environment.ts';

/** Work that failed because of a bug in the emulator. */
export interface Failure {
  /** What failed, such as `a scheduled task`. */
  readonly what: string;
  readonly error: unknown;
}

/** The work that is being done for one tenant, and its failures. */
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

  /** Counts work until it ends; if it fails, that is reported as a scheduled task. */
  track(work: Promise<void>): void {
    const end = () => void this.#running.delete(done);
    const done = work.then(end, (error) => {
      end();
      this.fail('a scheduled task', error);
    });
    this.#running.add(done);
  }

  /** Reports that work failed, and keeps it for `takeFailures`. */
  fail(what: string, error: unknown): void {
    this.#failures.push({ what, error });
    this.#report(error);
  }

  /** What failed since this was last called, or since the last reset. */
  takeFailures(): Failure[] {
    return this.#failures.splice(0);
  }

  forgetFailures(): void {
    this.#failures = [];
  }

  /** Resolves once nothing is being done. */
  async finish(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
