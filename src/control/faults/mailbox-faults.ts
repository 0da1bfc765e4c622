import { createOptionError } from '../../basics/check-options.ts';
import { ApiError, createValidationError, knownFields, parseOrRefuse } from '../../contract/errors.ts';
import type { LocalRecipient } from '../../service/mail/route.ts';
import { newId } from '../../world/environment.ts';
import type { Fault } from '../../world/fault.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import { canonicalAddress, type KeyLocation } from '../../world/store/world.ts';
import { type ControlScope, findWorlds, notFound } from '../control-scope.ts';
import type { FaultOptions, NamedFault, NamedFaultOptions } from './fault-options.ts';
import { createFault, faultOptions, initialFaults } from './fault-options.ts';
import type { FaultName } from './named-faults.ts';

/** Simulated faults. A reset removes all faults except the faults with which the mailbox started. */
export interface MailboxFaults {
  /**
   * Adds a fault by its name, such as `lost-reply`, `slow`, `down`, `rate-limit` or `duplicate-delivery`. The options
   * say to which requests or deliveries it applies, and how often; see the other form.
   *
   * @example
   * mailbox.addFault('lost-reply', { operation: 'sendMessage' });
   */
  addFault<Name extends FaultName>(name: Name, options?: NamedFaultOptions<Name>): Fault;
  /**
   * Adds a fault of requests, deliveries, streams, SMTP or IMAP, which happens once or the given number of times. If
   * several faults match, the fault with the most conditions happens first. Among faults with the same number of
   * conditions, the oldest happens first.
   *
   * @throws {ApiError} VALIDATION_ERROR for invalid options; NOT_FOUND for an unknown tenant, webhook, key or
   *   recipient. After an error no fault is added.
   * @example
   * mailbox.addFault({ on: 'request', operation: 'sendMessage', cut: true, effect: 'applied' });
   */
  addFault(options: FaultOptions | NamedFault): Fault;
  /** Returns the faults that still apply, oldest first. */
  faults(): Fault[];
  /**
   * Removes a fault and returns it.
   *
   * @throws {ApiError} NOT_FOUND if the id is unknown, or if the fault has already happened as often as it may.
   */
  removeFault(id: string): Fault;
  /** Removes every fault, and sends the replies that wait. Held deliveries stay held until `release` sends them. */
  clearFaults(): void;
}

/** Creates the fault methods of a mailbox. */
export function createMailboxFaults(scope: ControlScope): MailboxFaults {
  const { worlds, service } = scope;
  const { faults } = service;
  const publish = (action: 'added' | 'removed' | 'cleared', fault: Fault | null) =>
    service.journals.publish(fault?.tenantId ?? worlds.sandboxId ?? null, 'fault', { action, fault });

  /** Returns the faults that can still happen, and removes the others. */
  function list(): Fault[] {
    for (const fault of faults.list(worlds)) if (!canHappen(fault, worlds)) faults.remove(fault);
    return faults.list(worlds);
  }

  return {
    addFault(fault: FaultName | FaultOptions | NamedFault, options?: object) {
      const written = typeof fault === 'string' ? { ...options, name: fault } : fault;
      const parsed = parseOrRefuse('The fault', faultOptions(), written);
      const given = 'inbox' in parsed ? { ...parsed, inbox: canonicalForm(scope, parsed.inbox) } : parsed;
      const added = createFault(given, { id: newId(worlds.environment), tenantId: findTenantId(scope, parsed) });
      faults.add(added);
      publish('added', added);
      return added;
    },
    faults: list,
    removeFault(id) {
      const removed = list().find((fault) => fault.id === String(id).toLowerCase());
      if (!removed) throw notFound('fault');
      faults.remove(removed);
      publish('removed', removed);
      return removed;
    },
    clearFaults() {
      faults.clear(worlds);
      publish('cleared', null);
    },
  };
}

/** A fault with which a mailbox starts: in its full form, or by its name. */
export type InitialFault = FaultOptions | NamedFault | FaultName;

/** Adds the faults with which a mailbox starts. @throws {ApiError} as `addFault` does, with the place in the list. */
export function addInitialFaults(scope: ControlScope, options: readonly InitialFault[]): void {
  const { addFault } = createMailboxFaults(scope);
  const given = { faults: options };
  const parsed = initialFaults().safeParse(given);
  if (!parsed.success) {
    const refuse = (where: string) =>
      createValidationError(where, parsed.error, (path) => knownFields(initialFaults(), given, path));
    throw createOptionError(refuse('An option'), {
      option: 'faults',
      describe: (nameOf) => refuse(nameOf('faults')).message,
    });
  }
  for (const [index, fault] of options.entries()) {
    try {
      addFault(fault as FaultOptions);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message } = error;
      throw createOptionError(new ApiError(code, `The option faults[${index}]: ${message}`), {
        option: 'faults',
        describe: (nameOf) => `${nameOf('faults')}, faults[${index}]: ${message}`,
      });
    }
  }
}

/** Returns the canonical address of the inbox with this address; the address itself if there is no such inbox. */
function canonicalForm({ findInbox }: ControlScope, address: string | undefined): string | undefined {
  const found = address === undefined ? undefined : findInbox(address);
  return found ? canonicalAddress(found.inbox) : address;
}

/** The conditions of a fault that can bind it to a tenant. */
type TenantConditions = {
  readonly [Name in 'tenant' | 'webhookId' | 'key' | 'recipient' | 'inbox']?: string | undefined;
};

/** Returns the id of the tenant to which the conditions of a fault bind it; null if they bind it to no tenant. */
function findTenantId({ worlds, findInbox }: ControlScope, conditions: TenantConditions): string | null {
  const { tenant = worlds.sandboxId, webhookId, key, inbox, recipient = inbox } = conditions;
  const [world] = findWorlds(worlds, { tenant, webhookId });
  const boundId = tenant === undefined && webhookId === undefined ? null : (world?.id ?? null);
  if (key !== undefined) return findOwnerId(boundId, worlds.findKey(key), 'There is no such key.');
  if (recipient === undefined) return boundId;
  return findOwnerId(boundId, findInbox(recipient), `There is no inbox with the address ${recipient}.`);
}

/**
 * Returns the id of the tenant that has the key or the inbox of a condition. Throws if this key or inbox does not
 * exist, or if it belongs to another tenant than the fault.
 */
function findOwnerId(boundId: string | null, keyOrInbox: KeyLocation | LocalRecipient | undefined, problem: string) {
  const ownerId = keyOrInbox && 'world' in keyOrInbox ? keyOrInbox.world.id : null;
  if (!keyOrInbox || (boundId !== null && ownerId !== boundId)) throw new ApiError('NOT_FOUND', problem);
  return ownerId;
}

/** Returns whether the tenant, the webhook and the key of a fault still exist. */
function canHappen(fault: Fault, worlds: ReachableWorlds): boolean {
  const { webhookId = null, key = null }: Pick<Fault, 'id'> & { [Name in 'webhookId' | 'key']?: string | null } = fault;
  const { tenantId: owner } = fault;
  const world = worlds.get(owner ?? '');
  const hasWebhook = webhookId === null || world?.webhooks.get(webhookId) !== undefined;
  return (owner === null || world !== undefined) && hasWebhook && (key === null || worlds.findKey(key) !== undefined);
}
