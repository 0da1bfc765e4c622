import { ApiError } from '../contract/errors.ts';
import { parseOrRefuse } from '../contract/invalid.ts';
import { newId } from '../environment.ts';
import { createFault, type Fault, type FaultOptions, faultOptions, firstFaults } from '../faults/fault.ts';
import type { Faults } from '../faults/faults.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import type { InboxLocation, KeyHolder } from '../store/world.ts';
import { findWorlds, notFound } from './find-worlds.ts';

/** Simulated faults. A reset removes all of them, except those with which the mailbox started. */
export interface MailboxFaults {
  /**
   * Adds a fault of requests, deliveries, streams or SMTP, which happens once or the given number of times. A fault with
   * more conditions happens before one with fewer, and an older one before a newer one.
   *
   * @throws {ApiError} VALIDATION_ERROR for invalid options; NOT_FOUND for an unknown tenant, webhook, key or recipient.
   *   After an error no fault is added.
   * @example
   * mailbox.addFault({ on: 'request', operation: 'sendMessage', cut: true, effect: 'applied' });
   */
  addFault(options: FaultOptions): Fault;
  /** Returns the faults that still apply, oldest first. */
  faults(): Fault[];
  /** Removes a fault and returns it. @throws {ApiError} NOT_FOUND if it is unknown or has no times left. */
  removeFault(id: string): Fault;
  /** Removes every fault, and sends the replies that wait. Held deliveries stay held until `release` sends them. */
  clearFaults(): void;
}

/** The parts of a mailbox that its faults need. */
export interface FaultContext {
  readonly worlds: ReachableWorlds;
  readonly faults: Faults;
  /** The only tenant whose faults are controlled; without one, all faults are. */
  readonly tenantId?: string | undefined;
  /** Finds the inbox of an address. */
  findInbox(address: string): InboxLocation | undefined;
}

/** Creates the fault methods of a mailbox. */
export function createMailboxFaults(context: FaultContext): MailboxFaults {
  const { worlds, faults, tenantId } = context;

  /** Returns the faults that can still happen, and removes the others. */
  function list(): Fault[] {
    for (const fault of faults.list(tenantId)) if (!canHappen(fault, worlds)) faults.remove(fault.id);
    return faults.list(tenantId);
  }

  return {
    addFault(options) {
      const parsed = parseOrRefuse('The fault', faultOptions, options);
      const fault = createFault(parsed, { id: newId(worlds.environment), tenantId: findTenantId(context, parsed) });
      faults.add(fault);
      return fault;
    },
    faults: list,
    removeFault(id) {
      const removed = list().find((fault) => fault.id === String(id).toLowerCase());
      if (!removed) throw notFound('fault');
      faults.remove(removed.id);
      return removed;
    },
    clearFaults: () => faults.clear(tenantId),
  };
}

/** Adds the faults with which a mailbox starts. @throws {ApiError} as `addFault` does, with the place in the list. */
export function addFirstFaults({ addFault }: MailboxFaults, options: readonly FaultOptions[]): void {
  parseOrRefuse('An option', firstFaults, { faults: options });
  for (const [index, fault] of options.entries()) {
    try {
      addFault(fault);
    } catch (error) {
      throw error instanceof ApiError
        ? new ApiError(error.code, `The option faults[${index}]: ${error.message}`)
        : error;
    }
  }
}

/** The conditions of a fault that belong to a tenant. */
interface TenantConditions {
  readonly tenant?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly key?: string | undefined;
  readonly recipient?: string | undefined;
}

/** Finds the tenant to which the conditions of a fault bind it; null if they bind it to none. */
function findTenantId({ worlds, findInbox, tenantId }: FaultContext, conditions: TenantConditions): string | null {
  const { tenant = tenantId, webhookId, key, recipient } = conditions;
  const [world] = findWorlds(worlds, { tenant, webhookId });
  const boundId = tenant === undefined && webhookId === undefined ? null : (world?.id ?? null);
  if (key !== undefined) return ownerWithin(boundId, worlds.findKey(key), 'There is no such key.');
  if (recipient === undefined) return boundId;
  return ownerWithin(boundId, findInbox(recipient), `There is no inbox with the address ${recipient}.`);
}

/** Returns the tenant of what a condition names; refuses what does not exist or is outside of the fault's tenant. */
function ownerWithin(boundId: string | null, holder: KeyHolder | InboxLocation | undefined, problem: string) {
  const ownerId = holder && 'world' in holder ? holder.world.id : null;
  if (!holder || (boundId !== null && ownerId !== boundId)) throw new ApiError('NOT_FOUND', problem);
  return ownerId;
}

/** Returns whether everything that the conditions of a fault name still exists. */
function canHappen(fault: Fault, worlds: ReachableWorlds): boolean {
  const {
    tenantId,
    webhookId = null,
    key = null,
  }: { [Name in 'tenantId' | 'webhookId' | 'key']?: string | null } = fault;
  const world = worlds.get(tenantId ?? '');
  if (tenantId !== null && !world) return false;
  return (
    (webhookId === null || world?.webhooks.get(webhookId) !== undefined) &&
    (key === null || worlds.findKey(key) !== undefined)
  );
}
