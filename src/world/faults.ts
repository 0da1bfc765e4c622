import { clearTimeout, setTimeout } from '../basics/real-timers.ts';
import type { Environment } from './environment.ts';
import type { Fault, FaultTarget } from './fault.ts';
import { RateLimits } from './rate-limits.ts';
import { findOwner, type Part, type PartOf, type SavePurpose } from './store/parts.ts';
import type { ReachableWorlds } from './store/reachable-worlds.ts';
import type { World } from './store/world.ts';
import type { Worlds } from './store/worlds.ts';

/** The fields of a fault that limit what it applies to within its tenant. A field that is null is no limit. */
const CONDITIONS = ['webhookId', 'operation', 'key', 'tier', 'recipient', 'inbox'] as const;

type Conditions = { readonly [Condition in (typeof CONDITIONS)[number]]?: string | null | undefined };

/**
 * Something that happens, such as a request, and to which faults can apply. `world` is undefined for the operator and
 * for a public operation.
 */
export type FaultOccasion<On extends FaultTarget = FaultTarget> = {
  readonly on: On;
  readonly world: World | undefined;
  /** The kinds of faults that can happen now. Default: any. */
  readonly kinds?: readonly string[];
} & Conditions;

/** A fault with the given target. */
type FaultOn<On extends FaultTarget> = Extract<Fault, { readonly on: On }>;

/** A fault that a test added or removed, or that has happened. */
export interface FaultChange {
  /** What the test did, or `used` each time after a fault with a limited number of `times` has happened. */
  readonly action: 'added' | 'removed' | 'cleared' | 'used';
  /** The fault; its `times` is 0 after it has happened for the last time. Null if all faults were removed. */
  readonly fault: Fault | null;
}

/** The journal, in which each use of a fault becomes an entry. */
interface FaultJournal {
  publish(tenantId: string | null, kind: 'fault', change: FaultChange): unknown;
}

interface Entry {
  fault: Fault;
  /** The first fault that was added to the mailbox has 1, the second 2, and so on. */
  readonly order: number;
}

/** The faults of one tenant or of no tenant, with the counts for their rate limits and the waits that they cause. */
class FaultList implements Part {
  /** Every fault by its id. */
  readonly entries = new Map<string, Entry>();
  /** Counts the requests for each fault that is a rate limit. */
  readonly rateLimits = new RateLimits();
  readonly #environment: Pick<Environment, 'setTimer'>;
  /** All lists that are not empty. This list adds and removes itself. */
  readonly #nonEmpty: Set<FaultList>;
  /** The highest order of the faults of all lists. */
  readonly #latest: { order: number };
  /** For each reply that waits because of a fault: the function that ends the wait. */
  readonly #endWaitFunctions = new Set<() => void>();

  constructor(environment: Pick<Environment, 'setTimer'>, nonEmpty: Set<FaultList>, latest: { order: number }) {
    this.#environment = environment;
    this.#nonEmpty = nonEmpty;
    this.#latest = latest;
  }

  /** Adds a fault as the latest of all lists. */
  add(fault: Fault): void {
    this.#set({ fault, order: this.#latest.order + 1 });
  }

  remove(id: string): void {
    this.entries.delete(id);
    if (this.entries.size === 0) this.#nonEmpty.delete(this);
  }

  /** Removes every fault and ends every wait. */
  end(): void {
    for (const id of this.entries.keys()) this.remove(id);
    this.endWaits();
  }

  /** Resolves after a time in real time, or when `endWaits` is called. */
  wait(durationMs: number): Promise<void> {
    // A timer of the environment lets the process exit. This timer does not, because a client waits for the reply.
    const keepAlive = setTimeout(() => {}, durationMs);
    return new Promise((resolve) => {
      let cancel = () => {};
      const endWait = () => {
        clearTimeout(keepAlive);
        cancel();
        this.#endWaitFunctions.delete(endWait);
        resolve();
      };
      cancel = this.#environment.setTimer(durationMs, endWait);
      this.#endWaitFunctions.add(endWait);
    });
  }

  /** Ends every wait at once. */
  endWaits(): void {
    for (const endWait of this.#endWaitFunctions) endWait();
  }

  save(): Entry[] {
    return Array.from(this.entries.values(), (entry) => ({ ...entry }));
  }

  restore(saved: readonly Entry[], purpose: SavePurpose): void {
    // The faults of a file replace those that were given at the start.
    if (purpose === 'file') this.end();
    for (const entry of saved) this.#set({ ...entry });
  }

  #set(entry: Entry): void {
    this.entries.set(entry.fault.id, entry);
    this.#nonEmpty.add(this);
    this.#latest.order = Math.max(this.#latest.order, entry.order);
  }
}

/** The faults of a mailbox that still apply. */
export class Faults {
  readonly #worlds: Worlds;
  readonly #listOf: PartOf<FaultList>;
  /** The lists that are not empty. */
  readonly #nonEmpty = new Set<FaultList>();
  readonly #journals: FaultJournal;

  constructor(worlds: Worlds, journals: FaultJournal, environment: Pick<Environment, 'setTimer'>) {
    this.#worlds = worlds;
    this.#journals = journals;
    const latest = { order: 0 };
    this.#listOf = worlds.addPart('faults', () => new FaultList(environment, this.#nonEmpty, latest));
  }

  get isEmpty(): boolean {
    return this.#nonEmpty.size === 0;
  }

  /** Returns every fault, oldest first. In a sandbox, returns only the faults of the sandbox. */
  list(worlds: ReachableWorlds): Fault[] {
    const lists = worlds.sandboxId === undefined ? [...this.#nonEmpty] : this.#listOf.in([worlds]);
    const entries = lists.flatMap((list) => [...list.entries.values()]);
    return entries.sort((one, other) => one.order - other.order).map(({ fault }) => fault);
  }

  add(fault: Fault): void {
    this.#listFor(fault).add(fault);
  }

  remove(fault: Fault): void {
    this.#listFor(fault).remove(fault.id);
  }

  /** Removes every fault and ends every wait. In a sandbox, does so only for the sandbox. */
  clear(worlds: ReachableWorlds): void {
    for (const list of this.#listOf.in(worlds.owners())) list.end();
  }

  /**
   * Counts something that happens, for the faults that wait for a later occasion: while `after` of a matching fault is
   * above 0, the fault does not apply, and this call reduces `after` by one. Returns the faults that apply. The fault
   * with the most conditions comes first. Among faults with the same number of conditions, the oldest comes first.
   */
  countOccasion<On extends FaultTarget>(occasion: FaultOccasion<On>): FaultOn<On>[] {
    const { on, world } = occasion;
    const lists = this.#listOf.in(world ? [world, this.#worlds] : [this.#worlds]);
    const entries = lists.flatMap((list) => [...list.entries.values()]);
    const matching = entries.filter(({ fault }) => fault.on === on && matches(fault, occasion));
    const due = matching.filter(({ fault }) => fault.after === 0);
    for (const entry of matching) reduceAfter(entry);
    return due
      .sort((one, other) => countConditions(other.fault) - countConditions(one.fault) || one.order - other.order)
      .map(({ fault }) => fault as FaultOn<On>);
  }

  /** Reduces `times` of a fault by one, and removes the fault after its last use. `times` of a rate limit is null. */
  use(fault: Fault): void {
    const { times } = fault;
    const entry = this.#listFor(fault).entries.get(fault.id);
    if (!entry || times === null) return;
    const used = { ...entry.fault, times: times - 1 };
    if (times > 1) entry.fault = used;
    else this.remove(fault);
    this.#journals.publish(fault.tenantId, 'fault', { action: 'used', fault: used });
  }

  /** Uses the first fault that applies, if any, and returns the fault. */
  useFirst<On extends FaultTarget>(occasion: FaultOccasion<On>): FaultOn<On> | undefined {
    if (this.isEmpty) return undefined;
    const [first] = this.countOccasion(occasion);
    if (first) this.use(first);
    return first;
  }

  /** Returns the counts for rate limits of a tenant, or of the callers without a tenant. */
  rateLimitsOf(world: World | undefined): RateLimits {
    return this.#listOf(world ?? this.#worlds).rateLimits;
  }

  /** Delays a reply in real time. The reply is to a tenant, or to a caller without a tenant. */
  wait(durationMs: number, world: World | undefined): Promise<void> {
    return this.#listOf(world ?? this.#worlds).wait(durationMs);
  }

  /** Ends every wait. */
  endWaits(): void {
    for (const list of this.#listOf.in(this.#worlds.owners())) list.endWaits();
  }

  /** Returns the list that a fault belongs to: the list of its tenant or, without a tenant, the list of the mailbox. */
  #listFor({ tenantId }: Fault): FaultList {
    return this.#listOf(findOwner(this.#worlds, tenantId));
  }
}

/**
 * Reduces `after` by one, unless it is 0. A fault whose `after` is 0 must stay the same object, because `RateLimits`
 * finds the count of requests by the object.
 */
function reduceAfter(entry: Entry): void {
  if (entry.fault.after > 0) entry.fault = { ...entry.fault, after: entry.fault.after - 1 };
}

/** Returns the names of the conditions of a fault that are set. */
function conditionsOf(fault: Conditions): (typeof CONDITIONS)[number][] {
  return CONDITIONS.filter((condition) => (fault[condition] ?? null) !== null);
}

function countConditions(fault: Fault): number {
  return conditionsOf(fault).length + (fault.tenantId === null ? 0 : 1);
}

function matches(fault: Fault, occasion: FaultOccasion): boolean {
  const conditions: Conditions = fault;
  const isOfKind = !occasion.kinds || ('kind' in fault && occasion.kinds.includes(fault.kind));
  return isOfKind && conditionsOf(conditions).every((condition) => conditions[condition] === occasion[condition]);
}
