import type { Assume, BehaviourId, Choices, Choose } from './behaviours.ts';

/** Access to the ledger: reads choices and records assumptions. */
export interface Ledger {
  readonly choose: Choose;
  /** Records that an assumption of the ledger shaped this reply. */
  readonly assume: Assume;
}

/** Reads the ledger and records each entry that is used. */
export interface LedgerReader extends Ledger {
  /** The choices and assumptions used so far, in the order of first use. */
  readonly usedBehaviours: ReadonlySet<BehaviourId>;
}

export function createLedgerReader(choices: Choices): LedgerReader {
  const usedBehaviours = new Set<BehaviourId>();
  return {
    usedBehaviours,
    choose: (id) => {
      usedBehaviours.add(id);
      return choices[id];
    },
    assume: (id) => void usedBehaviours.add(id),
  };
}

/** Reads the ledger without recording, for code that has no reply. */
export function readSilently(choices: Choices): Ledger {
  return { choose: (id) => choices[id], assume: () => {} };
}
