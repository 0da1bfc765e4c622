import { BEHAVIOUR_IDS, type BehaviourId, type BehaviourValues, isAssumed } from '../../contract/behaviours.ts';
import { OPERATIONS, type OperationId } from '../../contract/operations.ts';
import type { Faults } from '../../world/faults.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { Journals } from '../journal/journals.ts';
import type { Correspondents } from '../mail/correspondents/correspondents.ts';
import type { LoopGuard } from '../mail/outgoing/loop-guard.ts';
import { OpenCalls } from './open-calls.ts';
import { type ResolvedOperation, resolveOperation } from './resolve-operation.ts';

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
  /** The behaviours that `X-Mock-Assumed` lists if they shape a reply. */
  readonly assumed: ReadonlySet<BehaviourId>;
  /** Recomputes what depends on behaviours. Call it after their values have changed. */
  refreshBehaviours(): void;
  /** Returns the parts of an operation for the current values of the behaviours. */
  operationFor(id: OperationId): ResolvedOperation;
}

/** Creates the service of one mailbox. Each operation is resolved when it is first requested. */
export function createService(
  parts: Omit<Service, 'operationFor' | 'assumed' | 'refreshBehaviours' | 'behavioursNow' | 'openCalls'>,
): Service {
  const resolved = new Map<OperationId, ResolvedOperation>();
  const assumed = new Set<BehaviourId>();
  let behavioursNow: BehaviourValues = { ...parts.behaviours };
  const refreshBehaviours = () => {
    behavioursNow = { ...parts.behaviours };
    resolved.clear();
    assumed.clear();
    for (const id of BEHAVIOUR_IDS) if (isAssumed(id, parts.behaviours)) assumed.add(id);
  };
  refreshBehaviours();
  return {
    assumed,
    get behavioursNow() {
      return behavioursNow;
    },
    refreshBehaviours,
    openCalls: new OpenCalls(parts.worlds),
    ...parts,
    operationFor(id) {
      const operation = resolved.get(id) ?? resolveOperation(OPERATIONS[id], parts.behaviours);
      resolved.set(id, operation);
      return operation;
    },
  };
}
