import type { Environment } from '../environment.ts';

/** The replies that wait in real time. */
export class Waits {
  readonly #environment: Pick<Environment, 'setTimer'>;
  readonly #ends = new Set<() => void>();

  constructor(environment: Pick<Environment, 'setTimer'>) {
    this.#environment = environment;
  }

  /** Resolves after a time, or when `endAll` is called. */
  wait(durationMs: number): Promise<void> {
    // The timer of the environment lets the process exit, but somebody waits for this one.
    const keepAlive = setTimeout(() => {}, durationMs);
    return new Promise((resolve) => {
      let cancel = () => {};
      const end = () => {
        clearTimeout(keepAlive);
        cancel();
        this.#ends.delete(end);
        resolve();
      };
      cancel = this.#environment.setTimer(durationMs, end);
      this.#ends.add(end);
    });
  }

  /** Ends every wait at once. */
  endAll(): void {
    for (const end of this.#ends) end();
  }
}
