import type { Fault, FaultTarget } from './fault.ts';

/** The delivery for which a fault is looked up. */
interface FaultQuery {
  readonly on: FaultTarget;
  readonly tenantId: string;
  readonly webhookId: string;
}

/** The faults of a mailbox that still apply, oldest first. */
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
   * Returns the fault that applies, if any, and reduces its `times` by one. The order of priority is: for this webhook,
   * for its tenant, for any tenant. Of faults with the same priority, the oldest is taken.
   */
  take(query: FaultQuery): Fault | undefined {
    const matching = this.#faults.filter((fault) => matches(fault, query));
    const highest = Math.max(...matching.map(specificityOf));
    const taken = matching.find((fault) => specificityOf(fault) === highest);
    if (taken) this.#faults = this.#faults.flatMap((fault) => (fault === taken ? decrementTimes(fault) : [fault]));
    return taken;
  }
}

function matches(fault: Fault, { on: target, tenantId, webhookId }: FaultQuery): boolean {
  const isForTenant = fault.tenantId === null || fault.tenantId === tenantId;
  return fault.on === target && isForTenant && (fault.webhookId === null || fault.webhookId === webhookId);
}

function specificityOf({ tenantId, webhookId }: Fault): number {
  if (webhookId !== null) return 2;
  return tenantId === null ? 0 : 1;
}

function decrementTimes(fault: Fault): Fault[] {
  return fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : [];
}
