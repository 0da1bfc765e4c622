import { BEHAVIOUR_IDS, type BehaviourId, type BehaviourValues, isAssumed } from '../contract/behaviours.ts';
import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import type { Correspondents } from '../correspondents/correspondents.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Faults } from '../faults/faults.ts';
import type { LoopGuard } from '../mail/loop-guard.ts';
import type { Worlds } from '../store/worlds.ts';
import type { ExchangeObserver } from './exchange.ts';
import { type ResolvedOperation, resolveOperation } from './resolve-operation.ts';

/** Everything that handling a request needs: the state, the environment and the current behaviours of one mailbox. */
export interface Service {
  readonly worlds: Worlds;
  readonly events: EventBus;
  readonly behaviours: BehaviourValues;
  readonly faults: Faults;
  readonly loops: LoopGuard;
  readonly correspondents: Correspondents;
  /** The behaviours that `X-Mock-Assumed` lists if they shape a reply. */
  readonly assumed: ReadonlySet<BehaviourId>;
  /** Called with each finished exchange. */
  readonly observers: ExchangeObserver[];
  /** Returns an operation as it is under the current behaviours of this mailbox. */
  operationFor(id: OperationId): ResolvedOperation;
}

/** Creates the service of one mailbox. Each row is resolved on its first call. */
export function createService(parts: Omit<Service, 'operationFor' | 'observers' | 'assumed'>): Service {
  const resolved = new Map<OperationId, ResolvedOperation>();
  return {
    ...parts,
    assumed: new Set(BEHAVIOUR_IDS.filter((id) => isAssumed(id, parts.behaviours))),
    observers: [],
    operationFor(id) {
      const operation = resolved.get(id) ?? resolveOperation(OPERATIONS[id], parts.behaviours);
      resolved.set(id, operation);
      return operation;
    },
  };
}
