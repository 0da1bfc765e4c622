import { parseOrRefuse } from '../contract/invalid.ts';
import { newId } from '../environment.ts';
import { createFault, type Fault, type FaultOptions, faultOptions } from '../faults/fault.ts';
import type { Faults } from '../faults/faults.ts';
import type { Worlds } from '../store/worlds.ts';
import { absent, findWorlds } from './find-worlds.ts';

/** What a test makes go wrong. A reset removes every fault. */
export interface MailboxFaults {
  /**
   * Makes something go wrong from now on: once, or as many times as the options say. A fault for a webhook happens
   * before one for its tenant, that before one for any tenant, and an older one before a newer one.
   *
   * @throws {ApiError} VALIDATION_ERROR for a kind that there is not, or for times out of range; NOT_FOUND for a tenant
   *   or a webhook that is not there. Then no fault is added.
   * @example
   * mailbox.addFault({ on: 'delivery', kind: 'duplicate', webhookId });
   */
  addFault(options: FaultOptions): Fault;
  /** The faults that have times left, the oldest first. */
  faults(): Fault[];
  /** Removes a fault and answers it. @throws {ApiError} NOT_FOUND when it is not there, or has no times left. */
  removeFault(id: string): Fault;
  /** Removes every fault. What is held stays held: `release` sends it. */
  clearFaults(): void;
}

/** Makes the methods of a mailbox for its faults. */
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
      if (!removed) throw absent('fault');
      faults.keep((fault) => fault.id !== removed.id);
      return removed;
    },
    clearFaults: () => faults.clear(),
  };
}

/** Says whether what a fault is for is still there. */
function canHappen({ tenantId, webhookId }: Fault, worlds: Worlds): boolean {
  const world = tenantId === null ? undefined : worlds.get(tenantId);
  if (webhookId !== null) return world?.webhooks.get(webhookId) !== undefined;
  return tenantId === null || world !== undefined;
}
