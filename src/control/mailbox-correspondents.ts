import { domainOf, SIMULATOR_DOMAIN, toAddressKey } from '../contract/addresses/email-address.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import type { Entry } from '../service/mail/correspondents/answers.ts';
import type { Correspondent } from '../service/mail/correspondents/correspondent.ts';
import { parseDuration } from '../world/clock.ts';
import { newId } from '../world/environment.ts';
import { type ControlScope, findWorlds, notFound } from './control-scope.ts';
import { type CorrespondentOptions, correspondentOptions, type ParsedCorrespondent } from './correspondent-options.ts';

/** The people and programs outside of the emulator that answer mail. A reset removes all of them. */
export interface MailboxCorrespondents {
  /**
   * Adds somebody who answers the mail that inboxes send to an address: a person, or a program of some kind. The time
   * of an answer depends on the clock of the tenant that sent the mail, so `clock.advance('3d')` can run a whole
   * correspondence.
   *
   * @throws {ApiError} VALIDATION_ERROR for invalid options; NOT_FOUND for an unknown tenant; CONFLICT if an inbox or
   *   another correspondent has the address, or if the tenant, the sandbox or, without a tenant, the mailbox already
   *   has 1,000 correspondents.
   * @example
   * mailbox.addCorrespondent({ address: 'dana@customer.test', replies: ['Which form?', 'Thanks!'], after: '2h' });
   * mailbox.addCorrespondent({ address: 'kim@visitor.test', kind: 'out-of-office' });
   */
  addCorrespondent(options: CorrespondentOptions): Correspondent;
  /** Returns every correspondent, oldest first. */
  correspondents(): Correspondent[];
  /** Removes a correspondent and returns it. Answers that are due later are not sent. @throws {ApiError} NOT_FOUND */
  removeCorrespondent(id: string): Correspondent;
  /** Removes every correspondent. */
  clearCorrespondents(): void;
}

/**
 * The maximum number of correspondents of a tenant or a sandbox, and of those that answer every tenant. Each of them
 * has its own limit, so that one test cannot use up what another test needs.
 */
const MAX_CORRESPONDENTS = 1_000;

/** Creates the correspondent methods of a mailbox. */
export function createMailboxCorrespondents(scope: ControlScope): MailboxCorrespondents {
  const { worlds } = scope;
  const { correspondents } = scope.service;
  return {
    addCorrespondent(options) {
      const parsed = parseOrRefuse('The correspondent', correspondentOptions(), options);
      const { tenant = worlds.sandboxId } = parsed;
      findWorlds(worlds, { tenant });
      const entry = createEntry(parsed, { id: newId(worlds.environment), tenantId: tenant ?? null });
      checkNewEntry(scope, entry);
      correspondents.add(entry);
      return correspondents.show(entry);
    },
    correspondents() {
      const due = correspondents.due();
      return correspondents.list(worlds).map((entry) => correspondents.show(entry, due));
    },
    removeCorrespondent(id) {
      const removed = correspondents.list(worlds).find(({ shown }) => shown.id === String(id).toLowerCase());
      if (!removed) throw notFound('correspondent');
      correspondents.remove(removed);
      return correspondents.show(removed);
    },
    clearCorrespondents() {
      for (const entry of correspondents.list(worlds)) correspondents.remove(entry);
    },
  };
}

/** The values of options that are missing, because the kind of correspondent does not accept them. */
const UNSET = { quoting: 'none', replies: [], members: [], status: null, diagnostic: null } as const;

function createEntry(options: ParsedCorrespondent, identity: Pick<Correspondent, 'id' | 'tenantId'>): Entry {
  const { address, kind = 'person', after, quoting, replies, members, status, diagnostic } = { ...UNSET, ...options };
  const isFunction = typeof replies === 'function';
  const shown = {
    ...identity,
    address,
    kind,
    afterMs: parseDuration(after),
    quoting,
    replies: isFunction ? null : replies,
    members,
    status,
    diagnostic,
    received: 0,
  };
  const write = isFunction ? replies : undefined;
  return { shown, address: toAddressKey(address), write, notified: [], tickets: 0, followUps: 0 };
}

/** Throws if mail to the address goes to somebody else, or if there are too many correspondents. */
function checkNewEntry({ service, findInbox }: ControlScope, { address, shown }: Entry): void {
  if (domainOf(address) === SIMULATOR_DOMAIN) {
    const problem = `address must not be at ${SIMULATOR_DOMAIN}`;
    throw new ApiError('VALIDATION_ERROR', `The correspondent is not valid: ${problem}.`);
  }
  if (findInbox(address)) throw new ApiError('CONFLICT', `An inbox has the address ${address}.`);
  const others = service.correspondents.listWith(shown.tenantId);
  if (others.some((other) => other.address === address)) {
    throw new ApiError('CONFLICT', `A correspondent already has the address ${address}; remove it first.`);
  }
  if (others.length >= MAX_CORRESPONDENTS) {
    const owner = shown.tenantId === null ? 'The mailbox' : 'The tenant or sandbox';
    const problem = `${owner} has ${MAX_CORRESPONDENTS} correspondents; remove one before you add another.`;
    throw new ApiError('CONFLICT', problem);
  }
}
