import type { Environment } from '../environment.ts';
import type { Fault, FaultTarget } from './fault.ts';
import { RateLimits } from './rate-limits.ts';
import { Waits } from './waits.ts';

/** The fields of a fault that limit what it applies to; null stands for anything. */
const CONDITIONS = ['tenantId', 'webhookId', 'operation', 'key', 'tier', 'recipient'] as const;

/**
 * Something that happens, such as a request. `due` and `take` use it to find the faults that apply. `tenantId` is null
 * for the operator and for a public operation.
 */
export type FaultOccasion<On extends FaultTarget = FaultTarget> = {
  readonly on: On;
  readonly tenantId: string | null;
} & {
  readonly [Condition in (typeof CONDITIONS)[number]]?: string | null | undefined;
};

/** A fault with the given target. */
type FaultOn<On extends FaultTarget> = Extract<Fault, { readonly on: On }>;

interface Entry {
  fault: Fault;
  /** Its place in the order in which faults were added: 1, 2, 3 and so on. */
  readonly order: number;
}

/** The faults of a mailbox that still apply. */
export class Faults {
  /** Counts the requests for each fault that is a rate limit. */
  readonly rateLimits = new RateLimits();
  /** The replies that wait because of a fault. */
  readonly waits: Waits;
  /** Every fault by its id, oldest first. */
  readonly #entries = new Map<string, Entry>();
  /** The same faults by target and tenant, so that the faults of other tenants cost nothing. */
  readonly #groups = new Map<string, Set<Entry>>();
  readonly #usedListeners = new Set<(fault: Fault) => void>();
  #added = 0;

  constructor(environment: Pick<Environment, 'setTimer'>) {
    this.waits = new Waits(environment);
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Returns every fault, oldest first, or only those that are bound to one tenant. */
  list(tenantId?: string): Fault[] {
    const faults = Array.from(this.#entries.values(), ({ fault }) => fault);
    return tenantId === undefined ? faults : faults.filter((fault) => fault.tenantId === tenantId);
  }

  add(fault: Fault): void {
    this.#added += 1;
    const entry = { fault, order: this.#added };
    const group = this.#groups.get(groupOf(fault)) ?? new Set();
    this.#entries.set(fault.id, entry);
    this.#groups.set(groupOf(fault), group.add(entry));
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    const group = this.#groups.get(groupOf(entry.fault));
    this.#entries.delete(id);
    group?.delete(entry);
    if (group?.size === 0) this.#groups.delete(groupOf(entry.fault));
  }

  /** Removes every fault and ends every wait, or only those of one tenant. */
  clear(tenantId?: string): void {
    for (const { id } of this.list(tenantId)) this.remove(id);
    this.waits.endAll(tenantId);
  }

  /** Removes every fault and ends every wait, or only those of one tenant, as `clear` does. Then adds the given faults. */
  restore(faults: readonly Fault[], tenantId?: string): void {
    this.clear(tenantId);
    // The faults are copied, so that rate limits count from zero again: `RateLimits` has the fault object as the key.
    for (const fault of faults) this.add({ ...fault });
  }

  /**
   * Returns the faults that apply: first those with more conditions, then the older ones. The field `after` of a fault
   * says how many matching occasions it still ignores. While it is above 0, the fault does not apply, and this call
   * reduces `after` by one.
   */
  due<On extends FaultTarget>(occasion: FaultOccasion<On>): FaultOn<On>[] {
    const matching = this.#entriesFor(occasion).filter(({ fault }) => matches(fault, occasion));
    const due = matching.filter(({ fault }) => fault.after === 0);
    for (const entry of matching) reduceAfter(entry);
    return due
      .sort(
        (one, other) => conditionsOf(other.fault).length - conditionsOf(one.fault).length || one.order - other.order,
      )
      .map(({ fault }) => fault as FaultOn<On>);
  }

  /** Reduces `times` of a fault by one, and removes the fault after its last use. `times` of a rate limit is null. */
  use({ id, times }: Fault): void {
    const entry = this.#entries.get(id);
    if (!entry || times === null) return;
    const used = { ...entry.fault, times: times - 1 };
    if (times > 1) entry.fault = used;
    else this.remove(id);
    for (const notify of this.#usedListeners) notify(used);
  }

  /** Calls the listener after each use of a fault, with the times that are left. */
  onUsed(listener: (fault: Fault) => void): void {
    this.#usedListeners.add(listener);
  }

  /** Returns the first fault that applies, if any, and uses it once. */
  take<On extends FaultTarget>(occasion: FaultOccasion<On>): FaultOn<On> | undefined {
    if (this.isEmpty) return undefined;
    const [first] = this.due(occasion);
    if (first) this.use(first);
    return first;
  }

  #entriesFor({ on: target, tenantId }: FaultOccasion): Entry[] {
    const tenants = new Set([tenantId, null]);
    return [...tenants].flatMap((each) => [...(this.#groups.get(groupOf({ on: target, tenantId: each })) ?? [])]);
  }
}

/**
 * Reduces `after` by one. If it is 0 already, the fault object must stay the same, because `RateLimits` has this object as
 * the key of its count.
 */
function reduceAfter(entry: Entry): void {
  if (entry.fault.after > 0) entry.fault = { ...entry.fault, after: entry.fault.after - 1 };
}

function groupOf({ on: target, tenantId }: Pick<Fault, 'on' | 'tenantId'>): string {
  return `${target} ${tenantId}`;
}

/** Returns the conditions of a fault that are set. */
function conditionsOf(fault: Readonly<Partial<Record<string, unknown>>>): (typeof CONDITIONS)[number][] {
  return CONDITIONS.filter((condition) => (fault[condition] ?? null) !== null);
}

function matches(fault: Readonly<Partial<Record<string, unknown>>>, occasion: FaultOccasion): boolean {
  return conditionsOf(fault).every((condition) => fault[condition] === occasion[condition]);
}
