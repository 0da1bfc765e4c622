import type { BehaviourId, Choices, Choose } from './behaviours.ts';

/** Reads the ledger and remembers what was read. */
export interface ChoiceReader {
  readonly choose: Choose;
  /** The behaviours read so far, in the order of their first reading. */
  readonly read: ReadonlySet<BehaviourId>;
}

/** Creates a reader of these choices that has read nothing yet. */
export function createChoiceReader(choices: Choices): ChoiceReader {
  const read = new Set<BehaviourId>();
  return {
    read,
    choose: (id) => {
      read.add(id);
      return choices[id];
    },
  };
}
