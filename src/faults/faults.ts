import type { Fault, FaultTarget } from './fault.ts';

/** What is about to happen: a fault for it happens now. */
interface FaultOccasion {
  readonly on: FaultTarget;
  readonly tenantId: string;
  readonly webhookId: string;
}

/** The faults of a mailbox that have times left, the oldest first. */
export class Faults {
  #faults: readonly Fault[] = [];

  list(): Fault[] {
    return [...this.#faults];
  }

  add(fault: Fault): void {
    this.#faults = [...this.#faults, fault];
  }

  /** Keeps only the faults that pass the test. */
  keep(test: (fault: Fault) => boolean): void {
    this.#faults = this.#faults.filter(test);
  }

  clear(): void {
    this.#faults = [];
  }

  /**
   * Uses up one time of a fault that matches, if there is one: a fault for the webhook before one for its tenant, that
   * before one for any, and an older one before a newer one.
   */
  take(occasion: FaultOccasion): Fault | undefined {
    const matching = this.#faults.filter((fault) => matches(fault, occasion));
    const narrowest = Math.max(...matching.map(narrowness));
    const taken = matching.find((fault) => narrowness(fault) === narrowest);
    if (taken) this.#faults = this.#faults.flatMap((fault) => (fault === taken ? oneTimeLess(fault) : [fault]));
    return taken;
  }
}

function matches(fault: Fault, { on, tenantId, webhookId }: FaultOccasion): boolean {
  const isForTenant = fault.tenantId === null || fault.tenantId === tenantId;
  return fault.on === on && isForTenant && (fault.webhookId === null || fault.webhookId === webhookId);
}

function narrowness({ tenantId, webhookId }: Fault): number {
  if (webhookId !== null) return 2;
  return tenantId === null ? 0 : 1;
}

function oneTimeLess(fault: Fault): Fault[] {
  return fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : [];
}
