import { type BehaviourId, type Choices, type Choose, isAssumption } from '../contract/behaviours.ts';

/** Reads the ledger for one request and remembers which choices shaped the reply. */
export interface ChoiceReader {
  readonly choose: Choose;
  /** The choices read so far that the service document does not state, as `X-Mock-Assumed` carries them. */
  assumed(): string;
}

/** Creates the reader of one request. */
export function createChoiceReader(choices: Choices): ChoiceReader {
  const read = new Set<BehaviourId>();
  return {
    choose: (id) => {
      read.add(id);
      return choices[id];
    },
    assumed: () => [...read].filter((id) => isAssumption(id, choices[id])).join(', '),
  };
}
