import type { Assume, BehaviourId, Choices, Choose } from './behaviours.ts';

/** What code asks the ledger for: the value of a choice, and to note an assumption. */
export interface Ledger {
  readonly choose: Choose;
  readonly assume: Assume;
}

/** Reads the ledger and remembers what was read. */
export interface LedgerReader extends Ledger {
  /** The choices and assumptions read so far, in the order of their first reading. */
  readonly read: ReadonlySet<BehaviourId>;
}

/** Creates a reader under these choices that has read nothing yet. */
export function createLedgerReader(choices: Choices): LedgerReader {
  const read = new Set<BehaviourId>();
  return {
    read,
    choose: (id) => {
      read.add(id);
      return choices[id];
    },
    assume: (id) => void read.add(id),
  };
}

/** Reads the ledger where there is no reply to name in what was read. */
export function readSilently(choices: Choices): Ledger {
  return { choose: (id) => choices[id], assume: () => {} };
}
