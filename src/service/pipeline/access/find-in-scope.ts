import type { ReadBehaviour } from '../../../contract/behaviours.ts';
import { ApiError, REFUSALS } from '../../../contract/errors.ts';
import type { ParamsOf } from '../../../contract/operations.ts';
import type { Collections } from '../../../world/store/database.ts';
import type { ReachableWorlds } from '../../../world/store/reachable-worlds.ts';
import type { InboxRow, MessageRow, RowKind, Rows, WorkspaceRow } from '../../../world/store/rows.ts';
import { canonicalAddress, type World } from '../../../world/store/world.ts';
import { describePrincipal, isInScope, type RowScope, type TenantPrincipal } from './principal.ts';

/** The part of an operation's context that is needed to find a resource within the scope of the caller's key. */
export interface LookupContext {
  readonly principal: TenantPrincipal;
  readonly worlds: ReachableWorlds;
  readonly readBehaviour: ReadBehaviour;
}

/** For each kind of resource, a function that returns the scope of a stored row, or `undefined` if it is deleted. */
type ScopeFunctions = {
  [Kind in 'workspaces' | 'inboxes' | 'webhooks' | 'apiKeys']: (row: Rows[Kind], world: World) => RowScope | undefined;
};

const SCOPE_OF: ScopeFunctions = {
  workspaces: (row) => ({ workspaceId: row.id, inboxId: null }),
  inboxes: (row) => (row.deletedAt === null ? { workspaceId: row.workspaceId, inboxId: row.id } : undefined),
  webhooks: (row) => ({ workspaceId: row.workspaceId, inboxId: null }),
  // The `ownerId` of a tenant key is the id of the tenant. No workspace has this id, so only tenant keys can see the
  // key.
  apiKeys: (row, world) => ({
    workspaceId: world.inboxes.get(row.ownerId)?.workspaceId ?? row.ownerId,
    inboxId: row.tier === 'inbox' ? row.ownerId : null,
  }),
};

/** A kind of resource that belongs to a workspace or directly to the tenant. */
type ScopedKind = keyof ScopeFunctions;

/** A kind of resource that the exposure of a key lists. */
type OwnKind = Exclude<ScopedKind, 'apiKeys'>;

/** A kind of resource that belongs to an inbox. */
type InboxContentKind = 'messages' | 'drafts' | 'lists';

/**
 * Finds a resource by its id within the scope of the principal. Each tenant has its own database, so the search never
 * reads the data of another tenant.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN under `errors.foreign-resource=forbidden` if it exists elsewhere.
 */
export function findInScope<Kind extends ScopedKind>(context: LookupContext, kind: Kind, id: string): Rows[Kind] {
  const { world } = context.principal;
  const row = getRow(world, kind, id);
  if (row && isRowInScope(context, kind, row, world)) return row;
  throw outOfScope(context, withId(NOUNS[kind]), (otherWorld) => scopeOfRow(otherWorld, kind, id));
}

/**
 * Finds a resource by its id and the id of its inbox. The inbox must be within the scope of the principal.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN as `findInScope` does.
 */
export function findInInbox<Kind extends InboxContentKind>(
  context: LookupContext,
  kind: Kind,
  inboxId: string,
  id: string,
): { readonly inbox: InboxRow; readonly row: Rows[Kind] } {
  const inbox = findInScope(context, 'inboxes', inboxId);
  const { world } = context.principal;
  const row = getRow(world, kind, id);
  if (row?.inboxId === inbox.id) return { inbox, row };
  const actualInbox = row && world.inboxes.get(row.inboxId);
  if (actualInbox && isRowInScope(context, 'inboxes', actualInbox, world)) {
    throw notFound(kind, `The ${NOUNS[kind]} is in the inbox ${canonicalAddress(actualInbox)}.`);
  }
  throw outOfScope(context, withId(NOUNS[kind]), (otherWorld) =>
    scopeOfInbox(otherWorld, getRow(otherWorld, kind, id)?.inboxId),
  );
}

function getRow<Kind extends RowKind>(collections: Collections, kind: Kind, id: string): Rows[Kind] | undefined {
  return collections[kind].get(id);
}

/** Returns all rows of a kind within the scope of a principal's key, oldest first. */
export function rowsInScope<Kind extends OwnKind>(principal: TenantPrincipal, kind: Kind): Rows[Kind][] {
  const { world } = principal;
  return findCandidates(principal, kind).filter((row) => isRowInScope({ principal }, kind, row, world));
}

/** Returns rows that can be in the scope of a principal's key, so that not every key costs a look at all rows. */
function findCandidates<Kind extends OwnKind>(principal: TenantPrincipal, kind: Kind): Rows[Kind][] {
  const rows: Collections[Kind] = principal.world[kind];
  if (principal.tier === 'tenant') return rows.all();
  const own = principal.tier === 'inbox' ? principal.inboxId : principal.workspaceId;
  if (principal.tier === 'workspace' && kind !== 'workspaces') return rows.by('workspaceId', own);
  const row = rows.get(own);
  return row ? [row] : [];
}

function isRowInScope<Kind extends ScopedKind>(
  { principal }: Pick<LookupContext, 'principal'>,
  kind: Kind,
  row: Rows[Kind],
  world: World,
): boolean {
  const scope = SCOPE_OF[kind](row, world);
  return scope !== undefined && isInScope(principal, scope);
}

function scopeOfRow<Kind extends ScopedKind>(world: World, kind: Kind, id: string): RowScope | undefined {
  const row = getRow(world, kind, id);
  return row && SCOPE_OF[kind](row, world);
}

/** Returns the scope of what an inbox contains; `undefined` for an unknown inbox. */
export function scopeOfInbox({ inboxes }: World, inboxId: string | undefined): RowScope | undefined {
  const inbox = inboxes.get(inboxId ?? '');
  return inbox && { workspaceId: inbox.workspaceId, inboxId: inbox.id };
}

const NOUNS: Record<ScopedKind | InboxContentKind, string> = {
  workspaces: 'workspace',
  inboxes: 'inbox',
  webhooks: 'webhook',
  apiKeys: 'key',
  messages: 'message',
  drafts: 'draft',
  lists: 'list',
};

/**
 * Creates the error for an id or name that is not found within the scope of the key. The reply does not reveal whether
 * the resource exists elsewhere, except with `errors.foreign-resource=forbidden`. `scopeIn` returns the scope of the
 * resource in a world that has it.
 */
export function outOfScope(
  { principal, worlds, readBehaviour }: LookupContext,
  what: string,
  scopeIn: (world: World) => RowScope | undefined,
): ApiError {
  const value = readBehaviour('errors.foreign-resource');
  if (value === 'forbidden' && worlds.neighbours().some((world) => scopeIn(world) !== undefined)) {
    return new ApiError('FORBIDDEN', `This key has no access to the ${what}.`);
  }
  const internalReason = () => {
    const world = [principal.world, ...worlds.all()].find((each) => scopeIn(each) !== undefined);
    const scope = world && scopeIn(world);
    if (!scope) return `There is no ${what} in ${worlds.sandboxDomain === undefined ? 'any tenant' : 'this sandbox'}.`;
    if (world === principal.world && isInScope(principal, scope)) return `The ${what} exists, but not under this path.`;
    return describeOutOfScope({ principal, worlds }, what, { world, scope });
  };
  return new ApiError('NOT_FOUND', `There is no ${what}.`, { internalReason });
}

/** Creates the NOT_FOUND error for an unknown id; `reason` is the private reason. */
export function notFound(kind: ScopedKind | InboxContentKind, reason?: string): ApiError {
  return new ApiError(
    'NOT_FOUND',
    `There is no ${withId(NOUNS[kind])}.`,
    reason === undefined ? {} : { internalReason: () => reason },
  );
}

/** Names a resource in an error text, if it was looked up by id. */
export function withId(noun: string): string {
  return `${noun} with this id`;
}

/** Describes who sent a request and who owns the resource that its key may not access, for the journal and the log. */
function describeOutOfScope(
  { principal, worlds }: { readonly principal: TenantPrincipal; readonly worlds: ReachableWorlds },
  what: string,
  owner: { readonly world: World; readonly scope: RowScope },
): string {
  const tier = principal.tier[0]?.toUpperCase() + principal.tier.slice(1);
  const tenant = owner.world === principal.world ? [] : [tenantName(owner.world, worlds)];
  const ownerName = [...tenant, namesOf(worlds, owner.world, owner.scope)].join(' / ');
  const basis = 'section 5; choice errors.foreign-resource';
  const caller = namesOf(worlds, principal.world, describePrincipal(principal));
  return `${tier} key of ${caller}; the ${what} belongs to ${ownerName} (${basis}).`;
}

/** Names a scope: its workspace and its inbox, or the tenant. */
function namesOf(worlds: ReachableWorlds, world: World, { workspaceId, inboxId }: RowScope): string {
  const workspace = world.workspaces.get(workspaceId ?? '');
  const inbox = world.inboxes.get(inboxId ?? '');
  const names = [...(workspace ? [workspace.name] : []), ...(inbox ? [canonicalAddress(inbox)] : [])];
  return names.join(' / ') || tenantName(world, worlds);
}

/** Names a tenant; a sandbox has the name of the tenant that it is a copy of, so its id is shown, too. */
function tenantName({ id, tenants }: World, worlds: ReachableWorlds): string {
  const isSandbox = worlds.sandboxDomain !== undefined || !worlds.neighbours().some((world) => world.id === id);
  return `${tenants.get(id)?.name ?? id}${isSandbox ? ` (sandbox ${id})` : ''}`;
}

/**
 * Returns the workspace that a request with a tenant key selects; `undefined` if it selects none.
 *
 * @throws {ApiError} NOT_FOUND for an unknown workspace. If another key selects a workspace: FORBIDDEN or
 *   VALIDATION_ERROR, by `requests.selectors`.
 */
export function selectWorkspace(
  context: LookupContext,
  workspaceId: string | null | undefined,
): WorkspaceRow | undefined {
  if (workspaceId === undefined || workspaceId === null) return undefined;
  if (context.principal.tier === 'tenant') return findInScope(context, 'workspaces', workspaceId);
  const value = context.readBehaviour('requests.selectors');
  if (value === 'ignored') return undefined;
  throw new ApiError(REFUSALS[value], 'Only a tk_ key may select a workspace; this key always uses its own.');
}

/**
 * Returns the inboxes in scope that the request selects.
 *
 * @throws {ApiError} as `selectWorkspace` and `findInScope` do.
 */
export function selectInboxes(
  context: LookupContext,
  selectors: { readonly workspace?: string | undefined; readonly inbox?: string | undefined },
): InboxRow[] {
  const workspace = selectWorkspace(context, selectors.workspace);
  const inbox = selectors.inbox === undefined ? undefined : findInScope(context, 'inboxes', selectors.inbox);
  const inboxes = (inbox ? [inbox] : rowsInScope(context.principal, 'inboxes')).filter(
    ({ workspaceId }) => workspace === undefined || workspaceId === workspace.id,
  );
  if (inbox && inboxes.length === 0) {
    throw notFound('inboxes', 'The inbox is not in the selected workspace.');
  }
  return inboxes;
}

/** The behaviours that decide whether a request finds a deleted message, by what it asks for. */
type DeletedBehaviour = 'messages.deleted' | `messages.${'update' | 'answer' | 'delete'}.deleted`;

/**
 * Finds a message of an inbox. `behaviour` decides whether a deleted one is found.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN as `findInScope` does.
 */
export function findMessage(
  context: LookupContext,
  { id, messageId }: ParamsOf<'getMessage'>,
  behaviour: DeletedBehaviour = 'messages.deleted',
): { readonly inbox: InboxRow; readonly message: MessageRow } {
  const { inbox, row } = findInInbox(context, 'messages', id, messageId);
  if (row.deletedAt !== null && context.readBehaviour(behaviour) === 'not-found') {
    throw notFound('messages', `The message was deleted (choice ${behaviour}).`);
  }
  return { inbox, message: row };
}
