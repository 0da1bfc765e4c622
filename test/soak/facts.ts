/** What is known of one thing, such as the state of a mail, or `null` if the thing is not there. */
export type Value = string | number | null;

/** A change that was sent to the emulator. */
interface Change {
  readonly value: Value;
  /** When its reply arrived; undefined as long as there is none. */
  ackedMs: number | undefined;
}

interface Fact {
  /** What the emulator had when it was last looked at. */
  settled: Value;
  /** What has been sent since, in this order. */
  changes: Change[];
  /** Whether a change is under way. The next one waits for it, so that their order is known. */
  isBusy: boolean;
}

/** A fact that is not as it must be. */
export interface Loss {
  readonly name: string;
  /** What it may be: the last value that must be kept, and those that came later. */
  readonly expected: readonly Value[];
  readonly found: Value;
  /** How long before the given time the last acknowledgement arrived, in milliseconds. */
  readonly ageMs: number | undefined;
}

/** Thrown for a change to which there was no reply, because the emulator was killed. */
export class KilledError extends Error {}

/** Thrown if another change of a fact is under way. */
export class BusyError extends Error {}

/** Everything that the emulator has acknowledged, with the time of each acknowledgement. */
export class Facts {
  readonly #facts = new Map<string, Fact>();
  /** How many values were compared with what the emulator has. */
  compared = 0;

  /**
   * Sends a change of some facts at once, by `send`. If the emulator is killed before it replies, the change may have
   * happened or not. If it refuses the change, nothing has changed.
   */
  async change<Reply>(values: Readonly<Record<string, Value>>, send: () => Promise<Reply>): Promise<Reply> {
    if (Object.keys(values).some((name) => this.#facts.get(name)?.isBusy)) throw new BusyError();
    const changes = Object.entries(values).map(([name, value]) => {
      const fact = this.#facts.get(name) ?? { settled: null, changes: [], isBusy: false };
      fact.isBusy = true;
      const change: Change = { value, ackedMs: undefined };
      fact.changes.push(change);
      this.#facts.set(name, fact);
      return { fact, change };
    });
    try {
      const reply = await send();
      for (const { change } of changes) change.ackedMs = performance.now();
      return reply;
    } catch (error) {
      if (!(error instanceof KilledError)) {
        for (const { fact, change } of changes) fact.changes.splice(fact.changes.indexOf(change), 1);
      }
      throw error;
    } finally {
      for (const { fact } of changes) fact.isBusy = false;
    }
  }

  /** Returns the last acknowledged value of a fact. */
  valueOf(name: string): Value {
    const fact = this.#facts.get(name);
    const last = fact?.changes.findLast(({ ackedMs }) => ackedMs !== undefined);
    return last ? last.value : (fact?.settled ?? null);
  }

  /** Returns the names of the facts with this beginning whose things are there, and which no change is about. */
  free(prefix: string): string[] {
    const names = [...this.#facts.keys()].filter((name) => name.startsWith(prefix));
    return names.filter((name) => this.isFree(name));
  }

  /** Whether a thing is there, and no change is about it. */
  isFree(name: string): boolean {
    return !this.#facts.get(name)?.isBusy && this.valueOf(name) !== null;
  }

  /**
   * Compares all facts with what the emulator has. What was acknowledged before `untilMs` must be there, and what came
   * later may be there. From then on, what was found is what is known.
   */
  compare(found: ReadonlyMap<string, Value>, untilMs: number): Loss[] {
    const losses: Loss[] = [];
    for (const [name, fact] of this.#facts) {
      let expected = [fact.settled];
      let lastMs: number | undefined;
      for (const { value, ackedMs } of fact.changes) {
        if (ackedMs === undefined || ackedMs >= untilMs) {
          expected.push(value);
          continue;
        }
        expected = [value];
        lastMs = ackedMs;
      }
      const actual = found.get(name) ?? null;
      this.compared += 1;
      if (!expected.some((value) => isSame(value, actual))) {
        losses.push({ name, expected, found: actual, ageMs: lastMs === undefined ? undefined : untilMs - lastMs });
      }
      if (actual === null) this.#facts.delete(name);
      else this.#facts.set(name, { settled: actual, changes: [], isBusy: false });
    }
    for (const [name, actual] of found) {
      if (!this.#facts.has(name)) losses.push({ name, expected: [null], found: actual, ageMs: undefined });
    }
    return losses;
  }
}

/** The tolerance for numbers, which are times of a clock, in milliseconds. */
const TOLERANCE_MS = 30_000;

function isSame(one: Value, other: Value): boolean {
  return typeof one === 'number' && typeof other === 'number' ? Math.abs(one - other) < TOLERANCE_MS : one === other;
}
