import type { ReadBehaviour } from '../../contract/behaviours.ts';
import { ApiError, REFUSALS } from '../../contract/errors.ts';
import type { ParamsOf } from '../../contract/operations.ts';
import type { Collections } from '../../world/store/database.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { InboxRow, MessageRow, RowKind, Rows, WorkspaceRow } from '../../world/store/rows.ts';
import { canonicalAddress, type World } from '../../world/store/world.ts';
import { isInScope, type RowScope, type TenantPrincipal } from './principal.ts';

/** The part of an operation's context that is needed to find a resource within the scope of the caller's key. */
export interface LookupContext {
  readonly principal: TenantPrincipal;
  /** The world of the caller's tenant. */
  readonly world: World;
  readonly worlds: ReachableWorlds;
  readonly readBehaviour: ReadBehaviour;
}

/** For each kind of resource, a function that returns the scope of a stored row, or `undefined` if it is deleted. */
const SCOPE_OF: {
  [Kind in 'workspaces' | 'inboxes' | 'webhooks' | 'apiKeys']: (row: Rows[Kind], world: World) => RowScope | undefined;
} = {
  workspaces: ({ id }) => ({ workspaceId: id }),
  inboxes: ({ id, workspaceId, deletedAt }) => (deletedAt === null ? { workspaceId, inboxId: id } : undefined),
  webhooks: (row) => row,
  // The `ownerId` of a tenant key is the id of the tenant. No workspace has this id, so only tenant keys can see the
  // key.
  apiKeys: ({ tier, ownerId }, { inboxes }) => ({
    workspaceId: inboxes.get(ownerId)?.workspaceId ?? ownerId,
    inboxId: tier === 'inbox' ? ownerId : null,
  }),
};

/** A kind of resource that belongs to a workspace or directly to the tenant. */
type ScopedKind = keyof typeof SCOPE_OF;

/** A kind of resource that belongs to an inbox. */
type InboxContentKind = 'messages' | 'drafts' | 'lists';

/**
 * Finds a resource by its id within the scope of the principal. Each tenant has its own database, so the search never
 * reads the data of another tenant.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN if the resource exists out of scope and `errors.foreign-resource` is
 *   `forbidden`.
 */
export function findInScope<Kind extends ScopedKind>(context: LookupContext, kind: Kind, id: string): Rows[Kind] {
  const row = getRow(context.world, kind, id);
  if (row && isRowInScope(context.principal, kind, row)) return row;
  throw outOfScope(context, withId(NOUNS[kind]), (world) => {
    const found = getRow(world, kind, id);
    return found && SCOPE_OF[kind](found, world);
  });
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
  const row = getRow(context.world, kind, id);
  if (row?.inboxId === inbox.id) return { inbox, row };
  const actualInbox = context.world.inboxes.get(row?.inboxId ?? '');
  if (actualInbox && isRowInScope(context.principal, 'inboxes', actualInbox)) {
    throw notFound(kind, `The ${NOUNS[kind]} is in the inbox ${canonicalAddress(actualInbox)}.`);
  }
  throw outOfScope(context, withId(NOUNS[kind]), (world) => scopeOfInbox(world, getRow(world, kind, id)?.inboxId));
}

function getRow<Kind extends RowKind>(collections: Collections, kind: Kind, id: string): Rows[Kind] | undefined {
  return collections[kind].get(id);
}

function isRowInScope<Kind extends ScopedKind>(principal: TenantPrincipal, kind: Kind, row: Rows[Kind]): boolean {
  const scope = SCOPE_OF[kind](row, principal.world);
  return scope !== undefined && isInScope(principal, scope);
}

/** A kind of resource that `rowsInScope` can list. */
type ListedKind = Exclude<ScopedKind, 'apiKeys'>;

/** Returns all rows of a kind within the scope of a principal's key, oldest first. */
export function rowsInScope<Kind extends ListedKind>(principal: TenantPrincipal, kind: Kind): Rows[Kind][] {
  return findCandidates(principal, kind).filter((row) => isRowInScope(principal, kind, row));
}

/** Returns the rows that can be in the scope of a principal's key. Only a tenant key needs to search all rows. */
function findCandidates<Kind extends ListedKind>(principal: TenantPrincipal, kind: Kind): Rows[Kind][] {
  const rows: Collections[Kind] = principal.world[kind];
  if (principal.tier === 'tenant') return rows.all();
  if (principal.tier === 'workspace' && kind !== 'workspaces') return rows.by('workspaceId', principal.workspaceId);
  const row = rows.get(principal.inboxId ?? principal.workspaceId);
  return row ? [row] : [];
}

/** Returns the scope of the contents of an inbox; `undefined` for an unknown inbox. */
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

/** Returns the parameter `what` of `outOfScope` for a resource that is named by its id. */
export const withId = (noun: string) => `${noun} with this id`;

/**
 * Creates the error for an id or name that is not found within the scope of the key. The reply does not reveal whether
 * the resource exists elsewhere, except with `errors.foreign-resource=forbidden`. `scopeIn` returns the scope of the
 * resource in a world that has it.
 */
export function outOfScope(context: LookupContext, what: string, scopeIn: (world: World) => RowScope | undefined) {
  const { world: ownWorld, worlds, readBehaviour } = context;
  const exists = worlds.withoutSandboxes().some((world) => scopeIn(world) !== undefined);
  if (exists && readBehaviour('errors.foreign-resource') === 'forbidden') {
    return new ApiError('FORBIDDEN', `This key has no access to the ${what}.`);
  }
  const internalReason = () => {
    const world = [ownWorld, ...worlds.all()].find((each) => scopeIn(each) !== undefined);
    const scope = world && scopeIn(world);
    if (scope) return describeForeign(context, what, world, scope);
    return `There is no ${what} in ${worlds.sandboxDomain === undefined ? 'any tenant' : 'this sandbox'}.`;
  };
  return new ApiError('NOT_FOUND', `There is no ${what}.`, { internalReason });
}

/** Describes who sent a request and who owns a resource out of its scope. Only the journal and the log show this. */
function describeForeign(
  { principal, world: ownWorld, worlds }: LookupContext,
  what: string,
  world: World,
  scope: RowScope,
) {
  if (world === ownWorld && isInScope(principal, scope)) return `The ${what} exists, but not under this path.`;
  const tier = principal.tier[0]?.toUpperCase() + principal.tier.slice(1);
  const tenant = world === ownWorld ? [] : [tenantName(world, worlds)];
  const owner = [...tenant, namesOf(worlds, world, scope)].join(' / ');
  const caller = namesOf(worlds, ownWorld, principal);
  return `${tier} key of ${caller}; the ${what} belongs to ${owner} (section 5; choice errors.foreign-resource).`;
}

/** Creates the NOT_FOUND error for an unknown id. Only the journal and the log show `reason`. */
export function notFound(kind: ScopedKind | InboxContentKind, reason?: string): ApiError {
  const message = `There is no ${NOUNS[kind]} with this id.`;
  return new ApiError('NOT_FOUND', message, reason === undefined ? {} : { internalReason: () => reason });
}

/** Returns the names of the workspace and the inbox of a scope. If the scope has neither, names the tenant. */
function namesOf(worlds: ReachableWorlds, world: World, { workspaceId, inboxId }: RowScope): string {
  const inbox = world.inboxes.get(inboxId ?? '');
  const names = [world.workspaces.get(workspaceId ?? '')?.name, inbox && canonicalAddress(inbox)];
  return names.filter((name) => name !== undefined).join(' / ') || tenantName(world, worlds);
}

/** Returns the name of a tenant. A sandbox has the same name as the tenant that it copies, so its id is added. */
function tenantName({ id, tenants }: World, worlds: ReachableWorlds): string {
  const isSandbox = worlds.sandboxDomain !== undefined || !worlds.withoutSandboxes().some((world) => world.id === id);
  return `${tenants.get(id)?.name ?? id}${isSandbox ? ` (sandbox ${id})` : ''}`;
}

/**
 * Returns the workspace that a request with a tenant key selects; `undefined` if it selects none.
 *
 * @throws {ApiError} NOT_FOUND for an unknown workspace. If a key that is no tenant key selects a workspace:
 *   FORBIDDEN or VALIDATION_ERROR, by `requests.selectors`.
 */
export function selectWorkspace(context: LookupContext, workspaceId?: string | null): WorkspaceRow | undefined {
  if (typeof workspaceId !== 'string') return undefined;
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
  const inboxes = inbox ? [inbox] : rowsInScope(context.principal, 'inboxes');
  const selected = workspace ? inboxes.filter(({ workspaceId }) => workspaceId === workspace.id) : inboxes;
  if (inbox && selected.length === 0) throw notFound('inboxes', 'The inbox is not in the selected workspace.');
  return selected;
}

/**
 * Finds a message of an inbox. `behaviour` decides whether a deleted message is found.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN as `findInScope` does.
 */
export function findMessage(
  context: LookupContext,
  { id, messageId }: ParamsOf<'getMessage'>,
  behaviour: 'messages.deleted' | `messages.${'update' | 'answer' | 'delete'}.deleted` = 'messages.deleted',
): { readonly inbox: InboxRow; readonly message: MessageRow } {
  const { inbox, row } = findInInbox(context, 'messages', id, messageId);
  if (row.deletedAt !== null && context.readBehaviour(behaviour) === 'not-found') {
    throw notFound('messages', `The message was deleted (choice ${behaviour}).`);
  }
  return { inbox, message: row };
}
