import type { Environment } from '../environment.ts';

/** The replies that wait in real time. */
export class Waits {
  readonly #environment: Pick<Environment, 'setTimer'>;
  /** The function that ends each wait, with the tenant of its request. */
  readonly #tenants = new Map<() => void, string | null>();

  constructor(environment: Pick<Environment, 'setTimer'>) {
    this.#environment = environment;
  }

  /** Resolves after a time, or when `endAll` is called. `tenantId` is the tenant of the request, if it has one. */
  wait(durationMs: number, tenantId: string | null): Promise<void> {
    // The timer of the environment lets the process exit, but somebody waits for this one.
    const keepAlive = setTimeout(() => {}, durationMs);
    return new Promise((resolve) => {
      let cancel = () => {};
      const end = () => {
        clearTimeout(keepAlive);
        cancel();
        this.#tenants.delete(end);
        resolve();
      };
      cancel = this.#environment.setTimer(durationMs, end);
      this.#tenants.set(end, tenantId);
    });
  }

  /** Ends every wait at once, or only those of one tenant. */
  endAll(tenantId?: string): void {
    for (const [end, each] of this.#tenants) if (tenantId === undefined || each === tenantId) end();
  }
}
