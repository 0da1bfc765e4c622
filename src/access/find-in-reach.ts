import type { Choose } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { Database } from '../store/database.ts';
import type { InboxRow, RowKind, Rows } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import { mayReach, type Place } from './policy.ts';
import type { TenantPrincipal } from './principal.ts';

/** The part of an operation's context that is needed to find a resource within the scope of the caller's key. */
export interface Reach {
  readonly principal: TenantPrincipal;
  readonly worlds: Worlds;
  readonly choose: Choose;
}

/** Functions that return the place of a row, or `undefined` if the row is deleted. */
type PlaceFunctions = {
  [Kind in 'workspaces' | 'inboxes' | 'webhooks' | 'apiKeys']: (row: Rows[Kind], world: World) => Place | undefined;
};

const PLACE_OF: PlaceFunctions = {
  workspaces: (row) => ({ workspaceId: row.id, inboxId: null }),
  inboxes: (row) => (row.deletedAt === null ? { workspaceId: row.workspaceId, inboxId: row.id } : undefined),
  webhooks: (row) => ({ workspaceId: row.workspaceId, inboxId: null }),
  apiKeys: (row, world) => ({
    workspaceId: world.inboxes.get(row.ownerId)?.workspaceId ?? row.ownerId,
    inboxId: row.tier === 'inbox' ? row.ownerId : null,
  }),
};

/** A kind of row that belongs to a workspace or directly to the tenant. */
type PlacedKind = keyof PlaceFunctions;

/** A kind of row that belongs to an inbox. */
type InboxContentKind = 'messages' | 'drafts' | 'lists';

/**
 * Finds a row by id in the principal's tenant, within its reach. Each tenant has its own database, so the search never
 * reads another tenant's rows.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN under `errors.foreign-resource=forbidden` if the row exists elsewhere.
 */
export function findInReach<Kind extends PlacedKind>(reach: Reach, kind: Kind, id: string): Rows[Kind] {
  const { world } = reach.principal;
  const row = getRow(world, kind, id);
  if (row && isInReach(reach, kind, row, world)) return row;
  throw outOfReach(reach, withId(NOUNS[kind]), (other) => isPresent(other, kind, id));
}

/**
 * Finds a row by its id and the id of its inbox. The inbox must be within the principal's reach.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN as `findInReach` does.
 */
export function findInInbox<Kind extends InboxContentKind>(
  reach: Reach,
  kind: Kind,
  inboxId: string,
  id: string,
): { readonly inbox: InboxRow; readonly row: Rows[Kind] } {
  const inbox = findInReach(reach, 'inboxes', inboxId);
  const { world } = reach.principal;
  const row = getRow(world, kind, id);
  if (row?.inboxId === inbox.id) return { inbox, row };
  const other = row && world.inboxes.get(row.inboxId);
  if (other && isInReach(reach, 'inboxes', other, world)) throw notFound(kind);
  throw outOfReach(reach, withId(NOUNS[kind]), (world) => world[kind].get(id) !== undefined);
}

function getRow<Kind extends RowKind>(database: Database, kind: Kind, id: string): Rows[Kind] | undefined {
  return database[kind].get(id);
}

function isInReach<Kind extends PlacedKind>({ principal }: Reach, kind: Kind, row: Rows[Kind], world: World): boolean {
  const place = PLACE_OF[kind](row, world);
  return place !== undefined && mayReach(principal, place);
}

function isPresent<Kind extends PlacedKind>(world: World, kind: Kind, id: string): boolean {
  const row = getRow(world, kind, id);
  return row !== undefined && PLACE_OF[kind](row, world) !== undefined;
}

const NOUNS: Record<PlacedKind | InboxContentKind, string> = {
  workspaces: 'workspace',
  inboxes: 'inbox',
  webhooks: 'webhook',
  apiKeys: 'key',
  messages: 'message',
  drafts: 'draft',
  lists: 'list',
};

/**
 * Creates the error for an id or name that is not found within reach. By default it does not reveal whether the
 * resource exists elsewhere; `errors.foreign-resource=forbidden` makes it do so.
 */
export function outOfReach(
  { principal, worlds, choose }: Reach,
  what: string,
  isElsewhere: (world: World) => boolean,
): ApiError {
  const choice = choose('errors.foreign-resource');
  if (choice === 'forbidden' && worlds.some(isElsewhere)) {
    return new ApiError('FORBIDDEN', `This key does not reach the ${what}.`);
  }
  const explain = () => {
    if (isElsewhere(principal.world))
      return `The ${what} is in this tenant, but not within reach of this ${principal.tier} key.`;
    return worlds.some(isElsewhere) ? `The ${what} belongs to another tenant.` : `No tenant has a ${what}.`;
  };
  return new ApiError('NOT_FOUND', `There is no ${what}.`, { explain });
}

/** Creates the NOT_FOUND error for an unknown id. */
export function notFound(kind: PlacedKind | InboxContentKind): ApiError {
  return new ApiError('NOT_FOUND', `There is no ${withId(NOUNS[kind])}.`);
}

/** Describes a resource in an error text, for a look-up by id. */
export function withId(noun: string): string {
  return `${noun} with this id`;
}
