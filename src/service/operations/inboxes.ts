import { slugOf } from '../../basics/text.ts';
import { DEFAULT_DOMAIN, domainOf, isBareAddress, withoutTag } from '../../contract/addresses/email-address.ts';
import type { BehaviourReader } from '../../contract/behaviours.ts';
import { ApiError, REFUSALS } from '../../contract/errors.ts';
import type { BodyOf } from '../../contract/operations.ts';
import { newHex, newId, newPassword, timestampNow } from '../../world/environment.ts';
import { removeInbox } from '../../world/store/removal.ts';
import type { AddressRow, InboxRow, WorkspaceRow } from '../../world/store/rows.ts';
import { canonicalAddress, defaultWorkspace, primaryAddress, type World } from '../../world/store/world.ts';
import { findInScope, type LookupContext, selectInboxes, selectWorkspace } from '../access/find-in-scope.ts';
import { createKey, isInScope } from '../access/principal.ts';
import type { Context, Run } from './context.ts';
import { DELETE_BODY, updatedBody } from './replies.ts';

export const listInboxes: Run<'listInboxes'> = (context, { query }) => {
  const rows = selectInboxes(context, { workspace: query.workspace });
  const isWithoutCredentials = context.readBehaviour('inboxes.list.credentials') === 'omitted';
  const show = isWithoutCredentials ? showInboxWithoutCredentials : showInbox;
  return { body: { inboxes: rows.map((row) => show(context, row)) } };
};

export const getInbox: Run<'getInbox'> = (context, { params }) => {
  return { body: showInbox(context, findInScope(context, 'inboxes', params.id)) };
};

export const updateInbox: Run<'updateInbox'> = (context, { params, body }) => {
  const inbox = findInScope(context, 'inboxes', params.id);
  const { displayName = inbox.displayName, metadata = inbox.metadata } = body;
  context.world.inboxes.update(inbox.id, { displayName, metadata: changeMetadata(context, inbox.metadata, metadata) });
  return { body: updatedBody(inbox.id) };
};

/** Returns the metadata of an inbox after an update. `inboxes.update.metadata` decides what becomes of other fields. */
function changeMetadata(
  { readBehaviour }: Context<'updateInbox'>,
  before: InboxRow['metadata'],
  sent: InboxRow['metadata'],
): InboxRow['metadata'] {
  if (before === null || sent === null) return sent;
  const losesFields = Object.keys(before).some((name) => !Object.hasOwn(sent, name));
  return losesFields && readBehaviour('inboxes.update.metadata') === 'merged' ? { ...before, ...sent } : sent;
}

/** Soft-deletes an inbox: its mail is kept but hidden, and its keys are refused from now on. */
export const deleteInbox: Run<'deleteInbox'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  removeInbox(world, inbox, timestampNow(world.environment));
  return { body: DELETE_BODY[readBehaviour('inboxes.delete.body')](inbox.id) };
};

export const addInboxAddress: Run<'addInboxAddress'> = (context, { params, body }) => {
  const { world } = context;
  const { id: inboxId, workspaceId } = findInScope(context, 'inboxes', params.id);
  checkDomain(context, workspaceId, domainOf(body.email), 'inboxes.addresses.create.domain');
  if (isAddressTaken(context, body.email, inboxId))
    throw new ApiError('ALREADY_EXISTS', `The address ${body.email} is taken.`);
  const [id, createdAt] = [newId(world.environment), timestampNow(world.environment)];
  const row = world.addAddress({ id, inboxId, address: body.email, isPrimary: false, createdAt });
  if (body.primary) makePrimary(world, row);
  return { body: { ok: true, address: row.address, isPrimary: body.primary } };
};

/**
 * Checks that a workspace may have addresses on a domain: the default domain, or a domain verified for the workspace.
 *
 * @throws {ApiError} VALIDATION_ERROR or FORBIDDEN, depending on the behaviour.
 */
function checkDomain(
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
function isAddressTaken({ worlds, readBehaviour }: LookupContext, address: string, inboxId?: string): boolean {
  if (worlds.findAddress(address)) return true;
  const untagged = worlds.findAddress(withoutTag(address));
  const related = [...(untagged ? [untagged] : []), ...worlds.findTagged(address)];
  return related.some((location) => location.inboxId !== inboxId) && readBehaviour('sending.plus-tags') === 'delivered';
}

function makePrimary(world: World, { id, inboxId }: AddressRow): void {
  for (const address of world.addresses.by('inboxId', inboxId)) {
    world.addresses.update(address.id, { isPrimary: address.id === id });
  }
}

export const deleteInboxAddress: Run<'deleteInboxAddress'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const addresses = world.addresses.by('inboxId', inbox.id);
  const row = addresses.find(({ address }) => address === params.address);
  if (!row) throw new ApiError('NOT_FOUND', 'This inbox has no such address.');
  const canonical = addresses.find(({ address }) => address === canonicalAddress(inbox));
  if (row === canonical) {
    const code = REFUSALS[readBehaviour('inboxes.addresses.delete.canonical')];
    throw new ApiError(code, 'The canonical address of an inbox cannot be removed.');
  }
  world.removeAddress(row.id);
  if (row.isPrimary && canonical) makePrimary(world, canonical);
  const isEmpty = readBehaviour('inboxes.addresses.delete.body') === 'empty';
  return { body: isEmpty ? {} : { deleted: true, address: row.address } };
};

/** What is needed to create an inbox: the caller, its tenant, and the behaviours. */
type CreateContext = LookupContext & BehaviourReader;

/**
 * Creates an inbox with an address, a key and a password. If an inbox in the caller's scope already has the address,
 * this inbox is returned without credentials. If an inbox out of scope has it, a number is appended to the user name
 * (reference; see src/contract/README.md, "The sources").
 */
export const createInbox: Run<'createInbox'> = (context, { query, body }) => {
  const { workspace, domain, username, address } = wantedInbox(context, body);
  const existing = findInboxByAddress(context, address);
  if (existing) return returnExisting(context, existing, address);
  checkDomain(context, workspace.id, domain, 'inboxes.create.domain');
  const { name, inbox } = pickName(context, username, domain, query.strict === true);
  if (inbox) return returnExisting(context, inbox, `${name}@${domain}`);
  const created = insertInbox(context, workspace, { username: name, domain, displayName: body.displayName ?? null });
  return { body: { ...showInbox(context, created.inbox), apiKey: created.key } };
};

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
function wantedInbox(context: CreateContext, body: BodyOf<'createInbox'>) {
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
function findInboxByAddress({ principal, world, worlds }: CreateContext, address: string): InboxRow | undefined {
  const location = worlds.findAddress(address);
  const inbox = location?.world === world ? world.inboxes.get(location.inboxId) : undefined;
  return inbox && isInScope(principal, { ...inbox, inboxId: inbox.id }) ? inbox : undefined;
}

function returnExisting(context: CreateContext, inbox: InboxRow, address: string): ReturnType<Run<'createInbox'>> {
  if (context.readBehaviour('inboxes.create.existing') === 'conflict') throw usernameTaken(address);
  return { status: 200, body: { ...showInboxWithoutCredentials(context, inbox), existed: true } };
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
function pickName(context: CreateContext, username: string, domain: string, isStrict: boolean): PickedName {
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

function usernameTaken(address: string): ApiError {
  return new ApiError('USERNAME_TAKEN', `The address ${address} is taken.`);
}

function insertInbox(
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

/** Returns an inbox as clients see it, without passwords. */
function showInboxWithoutCredentials({ world, readBehaviour }: LookupContext, inbox: InboxRow) {
  const { id, username, domain, displayName, workspaceId, metadata, createdAt } = inbox;
  const addresses = world.addresses.by('inboxId', id).map(({ address, isPrimary }) => ({ address, isPrimary }));
  const showsDisplayName = displayName !== null || readBehaviour('inboxes.display-name.unset') === 'null';
  return {
    id,
    email: primaryAddress(world, inbox),
    canonicalEmail: canonicalAddress(inbox),
    username,
    domain,
    ...(showsDisplayName && { displayName }),
    workspaceId,
    addresses,
    ...(readBehaviour('inboxes.shape') === 'with-metadata' && { metadata }),
    createdAt,
  };
}

/** Returns an inbox as clients see it, with its IMAP and SMTP credentials. */
function showInbox(context: LookupContext & BehaviourReader, inbox: InboxRow) {
  const { mailServers } = context.worlds.mailbox;
  // If no mail server listens, both values of the behaviour give the same reply.
  const isListening = mailServers.imap !== undefined || mailServers.smtp !== undefined;
  const { imap, smtp } =
    isListening && context.readBehaviour('inboxes.mail-servers') === 'listening' ? mailServers : {};
  const { imapPassword } = inbox;
  const login = { username: canonicalAddress(inbox), password: imapPassword };
  const [imapHost, smtpHost] = [imap?.host ?? `imap.${DEFAULT_DOMAIN}`, smtp?.host ?? `smtp.${DEFAULT_DOMAIN}`];
  return {
    ...showInboxWithoutCredentials(context, inbox),
    imapPassword,
    imap: { host: imapHost, port: imap?.port ?? 993, tls: imap?.hasTls ?? true, ...login },
    smtp: { host: smtpHost, port: smtp?.port ?? 587, starttls: smtp?.hasTls ?? true, ...login },
  };
}
