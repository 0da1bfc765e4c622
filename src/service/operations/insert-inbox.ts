import { slugOf } from '../../basics/text.ts';
import { DEFAULT_DOMAIN, isBareAddress, withoutTag } from '../../contract/addresses/email-address.ts';
import type { BehaviourReader } from '../../contract/behaviours.ts';
import { ApiError, REFUSALS } from '../../contract/errors.ts';
import type { BodyOf } from '../../contract/operations.ts';
import { newHex, newId, newPassword, timestampNow } from '../../world/environment.ts';
import type { InboxRow, WorkspaceRow } from '../../world/store/rows.ts';
import { canonicalAddress, defaultWorkspace } from '../../world/store/world.ts';
import { findInScope, type LookupContext, selectWorkspace } from '../access/find-in-scope.ts';
import { createKey, isInScope } from '../access/principal.ts';
import type { Context } from './context.ts';

/** What is needed to create an inbox: the caller, its tenant, and the behaviours. */
export type CreateContext = LookupContext & BehaviourReader;

/**
 * Creates an inbox for a test, with its key. Its address must be free.
 *
 * @throws {ApiError} as `createInbox` does, and USERNAME_TAKEN for an address that any inbox has.
 */
export function insertNewInbox(context: CreateContext, body: BodyOf<'createInbox'>) {
  const { workspace, domain, username, address } = wantedInbox(context, body);
  checkDomain(context, workspace.id, domain, 'inboxes.create.domain');
  if (isAddressTaken(context, address)) throw usernameTaken(address);
  return insertInbox(context, workspace, { username, domain, displayName: body.displayName ?? null });
}

/** Returns the workspace and the address that an inbox is to get. */
export function wantedInbox(context: CreateContext, body: BodyOf<'createInbox'>) {
  const workspace = workspaceFor(context, body.workspaceId);
  const domain = body.domain ?? DEFAULT_DOMAIN;
  const username = body.username ?? generateUsername(context, domain);
  const address = `${username}@${domain}`;
  // The name and the domain are valid, so only the length of the whole address can be wrong.
  if (!isBareAddress(address)) throw new ApiError('VALIDATION_ERROR', `${address} is too long for an address.`);
  return { workspace, domain, username, address };
}

function workspaceFor(context: CreateContext, workspaceId?: string | null): WorkspaceRow {
  const { principal, world } = context;
  const selected = selectWorkspace(context, workspaceId);
  if (selected) return selected;
  if (principal.tier === 'workspace') return findInScope(context, 'workspaces', principal.workspaceId);
  const defaultRow = defaultWorkspace(world);
  if (defaultRow) return defaultRow;
  throw new ApiError('CONFLICT', 'This tenant has no workspace; create one before you create an inbox.');
}

/** Generates a user name from the name of the tenant, shortened so that the address at this domain is not too long. */
function generateUsername({ world }: CreateContext, domain: string): string {
  const ending = `-${newHex(world.environment, 4)}`;
  // An address has at most 254 characters, and its user name 64.
  const maxLength = Math.min(64, 254 - '@'.length - domain.length) - ending.length;
  return slugOf(world.tenants.get(world.id)?.name ?? '', Math.max(maxLength, 1), 'agent') + ending;
}

/** Finds the inbox with an address, if it is in the caller's scope. */
export function findInboxByAddress({ principal, world, worlds }: CreateContext, address: string): InboxRow | undefined {
  const location = worlds.findAddress(address);
  const inbox = location?.world === world ? world.inboxes.get(location.inboxId) : undefined;
  return inbox && isInScope(principal, { ...inbox, inboxId: inbox.id }) ? inbox : undefined;
}

/**
 * Checks that a workspace may have addresses on a domain: the default domain, or a domain verified for the workspace.
 *
 * @throws {ApiError} VALIDATION_ERROR or FORBIDDEN, depending on the behaviour.
 */
export function checkDomain(
  { world, readBehaviour }: CreateContext | Context<'addInboxAddress'>,
  workspaceId: string,
  domain: string,
  behaviour: 'inboxes.create.domain' | 'inboxes.addresses.create.domain',
): void {
  const isVerified = world.domains
    .by('domain', domain)
    .some((row) => row.status === 'verified' && (row.workspaceId ?? workspaceId) === workspaceId);
  if (domain === DEFAULT_DOMAIN || isVerified) return;
  const advice = `verify it, or use ${DEFAULT_DOMAIN}`;
  const message = `The domain ${domain} is not verified for this workspace; ${advice}.`;
  throw new ApiError(REFUSALS[readBehaviour(behaviour)], message);
}

/**
 * Returns whether an address is taken: an inbox has it, or mail to plus tags is delivered and an inbox other than
 * `inboxId` has the address without its plus tag or with any plus tag.
 */
export function isAddressTaken({ worlds, readBehaviour }: LookupContext, address: string, inboxId?: string): boolean {
  if (worlds.findAddress(address)) return true;
  const untagged = worlds.findAddress(withoutTag(address));
  const related = [...(untagged ? [untagged] : []), ...worlds.findTagged(address)];
  return related.some((location) => location.inboxId !== inboxId) && readBehaviour('sending.plus-tags') === 'delivered';
}

/** A user name. If `inbox` is set, this inbox already has the name, and no new inbox is created. */
interface PickedName {
  readonly name: string;
  readonly inbox?: InboxRow | undefined;
}

/**
 * Picks the requested name if it is free. Otherwise appends the numbers from 1 to 99 and picks the first free name. But
 * if an inbox in the caller's scope already has such a numbered name, and `inboxes.create.again` is `existing`, picks
 * this inbox. With `isStrict`, a taken name is refused.
 */
export function pickName(context: CreateContext, username: string, domain: string, isStrict: boolean): PickedName {
  const { readBehaviour } = context;
  const isFree = (name: string) => !isAddressTaken(context, `${name}@${domain}`);
  if (isFree(username)) return { name: username };
  if (isStrict) throw usernameTaken(`${username}@${domain}`);
  const numberedNames = Array.from({ length: 99 }, (_, index) => `${username}${index + 1}`);
  const existing = numberedNames
    .map((name) => ({ name, inbox: findInboxByAddress(context, `${name}@${domain}`) }))
    .find(({ inbox }) => inbox !== undefined);
  if (existing && readBehaviour('inboxes.create.again') === 'existing') return existing;
  const freeName = numberedNames.find((name) => isFree(name) && isBareAddress(`${name}@${domain}`));
  if (freeName !== undefined) return { name: freeName };
  throw usernameTaken(`${username}@${domain}`);
}

export function usernameTaken(address: string): ApiError {
  return new ApiError('USERNAME_TAKEN', `The address ${address} is taken.`);
}

export function insertInbox(
  context: CreateContext,
  workspace: WorkspaceRow,
  name: Pick<InboxRow, 'username' | 'domain' | 'displayName'>,
): { readonly inbox: InboxRow; readonly key: string } {
  const { world } = context;
  const { environment } = world;
  const createdAt = timestampNow(environment);
  const id = newId(environment);
  const key = createKey(environment, { tier: 'inbox', ownerId: id });
  const address = { id: newId(environment), inboxId: id, address: canonicalAddress(name), isPrimary: true, createdAt };
  const imapPassword = newPassword(environment);
  const state = { metadata: null, imapPassword, isPaused: false, deletedAt: null, createdAt };
  const inbox = world.inboxes.insert({ id, workspaceId: workspace.id, ...name, ...state });
  world.addAddress(address);
  world.addKey(key);
  return { inbox, key: key.key };
}
