import type { BehaviourValues } from '../../contract/behaviours.ts';
import type { Faults } from '../../world/faults.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import { OpenConnections } from '../access/open-connections.ts';
import type { Journals } from '../journal/journals.ts';
import type { Correspondents } from '../mail/correspondents/correspondents.ts';
import type { LoopGuard } from '../mail/outgoing/loop-guard.ts';
import { OpenCalls } from './open-calls.ts';

/** Everything that handling a request needs: the state, the environment and the current behaviours of one mailbox. */
export interface Service {
  readonly worlds: Worlds;
  readonly journals: Journals;
  readonly behaviours: BehaviourValues;
  /** A copy of the present values of the behaviours, which never changes. A change replaces it. */
  readonly behavioursNow: BehaviourValues;
  readonly faults: Faults;
  readonly loops: LoopGuard;
  readonly correspondents: Correspondents;
  /** The calls that have no reply yet. */
  readonly openCalls: OpenCalls;
  /** The clients that are connected now. */
  readonly connections: OpenConnections;
  /** Copies the values of the behaviours into `behavioursNow`. Call it after they have changed. */
  refreshBehaviours(): void;
}

/** Creates the service of one mailbox. */
export function createService(
  parts: Omit<Service, 'refreshBehaviours' | 'behavioursNow' | 'openCalls' | 'connections'>,
): Service {
  let behavioursNow: BehaviourValues = { ...parts.behaviours };
  return {
    ...parts,
    openCalls: new OpenCalls(parts.worlds),
    connections: new OpenConnections(),
    get behavioursNow() {
      return behavioursNow;
    },
    refreshBehaviours() {
      behavioursNow = { ...parts.behaviours };
    },
  };
}
