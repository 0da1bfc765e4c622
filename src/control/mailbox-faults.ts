import { parseOrRefuse } from '../contract/invalid.ts';
import { newId } from '../environment.ts';
import { createFault, type Fault, type FaultOptions, faultOptions } from '../faults/fault.ts';
import type { Faults } from '../faults/faults.ts';
import type { Worlds } from '../store/worlds.ts';
import { findWorlds, notFound } from './find-worlds.ts';

/** Simulated faults. A reset removes all of them. */
export interface MailboxFaults {
  /**
   * Adds a fault. It applies once, or the given number of times. If several faults match a delivery, only one applies:
   * the oldest for its webhook, or else the oldest for its tenant, or else the oldest for any tenant.
   *
   * @throws {ApiError} VALIDATION_ERROR for an unknown kind or an invalid number of times; NOT_FOUND for an unknown
   *   tenant or webhook. After an error no fault is added.
   * @example
   * mailbox.addFault({ on: 'delivery', kind: 'duplicate', webhookId });
   */
  addFault(options: FaultOptions): Fault;
  /** Returns the faults that still apply, oldest first. */
  faults(): Fault[];
  /** Removes a fault and returns it. @throws {ApiError} NOT_FOUND if it is unknown or has no times left. */
  removeFault(id: string): Fault;
  /** Removes every fault. Held deliveries stay held until `release` sends them. */
  clearFaults(): void;
}

/** Creates the fault methods of a mailbox. */
export function createMailboxFaults(worlds: Worlds, faults: Faults): MailboxFaults {
  function list(): Fault[] {
    faults.keep((fault) => canHappen(fault, worlds));
    return faults.list();
  }

  return {
    addFault(options) {
      const parsed = parseOrRefuse('The fault', faultOptions, options);
      const [world] = findWorlds(worlds, parsed);
      const isForAny = parsed.tenant === undefined && parsed.webhookId === undefined;
      const tenantId = isForAny ? null : (world?.id ?? null);
      const fault = createFault(parsed, { id: newId(worlds.environment), tenantId });
      faults.add(fault);
      return fault;
    },
    faults: list,
    removeFault(id) {
      const removed = list().find((fault) => fault.id === String(id).toLowerCase());
      if (!removed) throw notFound('fault');
      faults.keep((fault) => fault.id !== removed.id);
      return removed;
    },
    clearFaults: () => faults.clear(),
  };
}

/** Returns whether the tenant and the webhook of a fault still exist. */
function canHappen({ tenantId, webhookId }: Fault, worlds: Worlds): boolean {
  const world = tenantId === null ? undefined : worlds.get(tenantId);
  if (webhookId !== null) return world?.webhooks.get(webhookId) !== undefined;
  return tenantId === null || world !== undefined;
}
