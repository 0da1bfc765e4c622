import type { Assume, BehaviourId, BehaviourValues, ReadBehaviour } from './behaviours.ts';

/** Access to the behaviours: reads current values and records assumptions. */
export interface BehaviourReader {
  readonly readBehaviour: ReadBehaviour;
  /** Records that an assumption affects this reply. */
  readonly assume: Assume;
}

/** Reads behaviours and records each one that is used. */
export interface RecordingReader extends BehaviourReader {
  /** The behaviours used so far, in the order of first use. */
  readonly usedBehaviours: ReadonlySet<BehaviourId>;
}

export function createRecordingReader(behaviours: BehaviourValues): RecordingReader {
  const usedBehaviours = new Set<BehaviourId>();
  return {
    usedBehaviours,
    readBehaviour: (id) => {
      usedBehaviours.add(id);
      return behaviours[id];
    },
    assume: (id) => void usedBehaviours.add(id),
  };
}

/** Creates a `BehaviourReader` that records nothing, for code that has no reply. */
export function createSilentReader(behaviours: BehaviourValues): BehaviourReader {
  return { readBehaviour: (id) => behaviours[id], assume: () => {} };
}
