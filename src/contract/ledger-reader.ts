import type { Assume, BehaviourId, Choices, Choose } from './behaviours.ts';

/** Access to the ledger: reads choices and records assumptions. */
export interface Ledger {
  readonly choose: Choose;
  /** Records that an assumption of the ledger shaped this reply. */
  readonly assume: Assume;
}

/** Reads the ledger and records each entry that was read. */
export interface LedgerReader extends Ledger {
  /** The choices and assumptions read so far, in the order of first use. */
  readonly read: ReadonlySet<BehaviourId>;
}

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

/** Reads the ledger without recording, for code that has no reply. */
export function readSilently(choices: Choices): Ledger {
  return { choose: (id) => choices[id], assume: () => {} };
}
