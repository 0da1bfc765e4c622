import type { Choices } from '../contract/behaviours.ts';
import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Worlds } from '../store/worlds.ts';
import type { ExchangeObserver } from './exchange.ts';
import { type ResolvedOperation, resolveOperation } from './resolve-operation.ts';

/** What answering a request works with: the state, the outside world and the choices of one mailbox. */
export interface Service {
  readonly worlds: Worlds;
  readonly events: EventBus;
  readonly choices: Choices;
  /** Who looks at each exchange when it is done. */
  readonly observers: ExchangeObserver[];
  /** The row of an operation under this mailbox's choices. */
  resolve(id: OperationId): ResolvedOperation;
}

/** Creates the service of one mailbox; rows are resolved when they are first called. */
export function createService(parts: Omit<Service, 'resolve' | 'observers'>): Service {
  const resolved = new Map<OperationId, ResolvedOperation>();
  return {
    ...parts,
    observers: [],
    resolve(id) {
      const known = resolved.get(id) ?? resolveOperation(OPERATIONS[id], parts.choices);
      resolved.set(id, known);
      return known;
    },
  };
}
