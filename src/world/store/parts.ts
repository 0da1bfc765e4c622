import type { Clock, ClockSetting } from '../clock.ts';

/** What a part is saved for: for a checkpoint of the running process, or for a file that the next process reads. */
export type SavePurpose = 'checkpoint' | 'file';

/** Something that belongs to one world, such as its deliveries, or to the mailbox. */
export interface Part {
  /** Stops the work and the waits of the part. `reason` is a sentence. The part is not used again. */
  end(reason: string): void;
  /** Returns what is saved of the part; undefined if nothing is saved of it for this purpose. For a file, it is JSON. */
  save?(purpose: SavePurpose): unknown;
  /** Fills a new part with what `save` returned, and continues its work. Rows and clocks have been restored before. */
  restore?(saved: never, purpose: SavePurpose): void;
  /** Called when an epoch begins: at a reset or a restore, and when a sandbox is closed. */
  beginEpoch?(): void;
  /** Whether a reset leaves the part unchanged; otherwise a reset ends it. */
  readonly staysOnReset?: boolean;
}

/** A world, or the mailbox for everything that belongs to no tenant. Both have a clock and parts. */
export interface Owner {
  readonly clock: Clock;
  readonly parts: Parts;
}

/** Returns the world with this id. Without an id, or if there is no such world, returns `worlds`. */
export function findOwner(worlds: Owner & { get(id: string): Owner | undefined }, id?: string | null): Owner {
  return worlds.get(id ?? '') ?? worlds;
}

/** A function that returns the part of an owner. The part is created at its first use. */
export interface PartOf<Type, Of extends Owner = Owner> {
  (owner: Of): Type;
  /** Returns this part of those owners that have used it. */
  in(owners: readonly Owner[]): Type[];
}

/** The functions that create the parts, by the id of the part. */
export type PartTable = Map<string, (owner: never) => Part>;

/** The clock and the parts of an owner at one moment. */
export interface SavedOwner {
  readonly clock: ClockSetting;
  readonly parts: Readonly<Record<string, unknown>>;
}

/** What the owners of a mailbox share: the table of parts, and the number of the latest epoch. */
interface SharedByOwners {
  readonly parts: PartTable;
  readonly epochs: { latest: number };
}

/** The parts of one owner that have been used. */
export class Parts {
  /** The epoch in which the present state of the owner began. Work that began in an earlier epoch must not go on. */
  epoch: number;
  readonly #parts = new Map<string, Part>();
  readonly #shared: SharedByOwners;

  constructor(
    readonly owner: Owner,
    shared: SharedByOwners,
  ) {
    this.epoch = shared.epochs.latest;
    this.#shared = shared;
  }

  find(id: string): Part | undefined {
    return this.#parts.get(id);
  }

  /** Returns a part. Creates it if the owner has not used it. */
  get(id: string): Part {
    const part = this.#parts.get(id) ?? this.#create(id);
    this.#parts.set(id, part);
    return part;
  }

  /** Ends every part for which `mustEnd` returns true. */
  end(reason: string, mustEnd = (_: Part) => true): void {
    for (const [id, part] of this.#parts) {
      if (!mustEnd(part)) continue;
      this.#parts.delete(id);
      part.end(reason);
    }
  }

  /** Begins an epoch for the owner, so that work of an earlier epoch does not go on. */
  beginEpoch(): void {
    this.#shared.epochs.latest += 1;
    this.epoch = this.#shared.epochs.latest;
    for (const part of this.#parts.values()) part.beginEpoch?.();
  }

  /** Begins an epoch, ends every part that does not stay through a reset, and returns the clock to real time. */
  reset(): void {
    this.beginEpoch();
    this.end('The mailbox was reset', ({ staysOnReset }) => !staysOnReset);
    this.owner.clock.reset();
  }

  /** Returns the setting of the clock, and what each part saves for a purpose. */
  save(purpose: SavePurpose): SavedOwner {
    const saved = [...this.#parts].flatMap(([id, part]) => {
      const ofPart = part.save?.(purpose);
      return ofPart === undefined ? [] : [[id, ofPart] as const];
    });
    return { clock: this.owner.clock.setting, parts: Object.fromEntries(saved) };
  }

  /** Restores the clock, and the parts that were saved. A reset must have ended all other parts before. */
  restore({ clock, parts }: SavedOwner, purpose: SavePurpose): void {
    this.owner.clock.restoreSetting(clock);
    for (const [id, saved] of Object.entries(parts)) this.get(id).restore?.(saved as never, purpose);
  }

  #create(id: string): Part {
    const create = this.#shared.parts.get(id);
    if (!create) throw new Error(`There is no part ${id}.`);
    return create(this.owner as never);
  }
}

/** Adds a part to the table of parts. Returns the function that returns this part of an owner. */
export function addPart<Type extends Part, Of extends Owner>(
  table: PartTable,
  id: string,
  create: (owner: Of) => Type,
): PartOf<Type, Of> {
  table.set(id, create);
  const partOf = (owner: Owner) => owner.parts.get(id) as Type;
  const partsOf = (owners: readonly Owner[]) => {
    const found: Type[] = [];
    for (const { parts } of owners) {
      const part = parts.find(id) as Type | undefined;
      if (part) found.push(part);
    }
    return found;
  };
  return Object.assign(partOf, { in: partsOf });
}
