import type { ReadBehaviour } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { Collections } from '../store/database.ts';
import { canonicalAddress } from '../store/inbox-address.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import type { InboxRow, RowKind, Rows } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import { describeOutOfScope } from './describe-scope.ts';
import { isInScope, type RowScope } from './policy.ts';
import type { TenantPrincipal } from './principal.ts';

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

/** Returns the ids of all rows of a kind within the scope of a principal's key. */
export function idsInScope<Kind extends ScopedKind>(principal: TenantPrincipal, kind: Kind): string[] {
  const { world } = principal;
  const rows: readonly Rows[Kind][] = listRows(world, kind);
  return rows.filter((row) => isRowInScope({ principal }, kind, row, world)).map(({ id }) => id);
}

function listRows<Kind extends RowKind>(database: Collections, kind: Kind): Rows[Kind][] {
  return database[kind].all();
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
