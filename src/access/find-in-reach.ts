import type { Choose } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { Database } from '../store/database.ts';
import type { InboxRow, RowKind, Rows } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import { mayReach, type Place } from './policy.ts';
import type { TenantPrincipal } from './principal.ts';

/** The part of an operation's context that a look-up needs. */
export interface Reach {
  readonly principal: TenantPrincipal;
  readonly worlds: Worlds;
  readonly choose: Choose;
}

/** Where a row lies; `undefined` for one that is deleted. */
type Placed = {
  [Kind in 'workspaces' | 'inboxes' | 'webhooks' | 'apiKeys']: (row: Rows[Kind], world: World) => Place | undefined;
};

const PLACE_OF: Placed = {
  workspaces: (row) => ({ workspaceId: row.id, inboxId: null }),
  inboxes: (row) => (row.deletedAt === null ? { workspaceId: row.workspaceId, inboxId: row.id } : undefined),
  webhooks: (row) => ({ workspaceId: row.workspaceId, inboxId: null }),
  apiKeys: (row, world) => ({
    workspaceId: world.inboxes.get(row.ownerId)?.workspaceId ?? row.ownerId,
    inboxId: row.tier === 'inbox' ? row.ownerId : null,
  }),
};

/** A kind of row that lies in a workspace or in the tenant itself. */
type PlacedKind = keyof Placed;

/** A kind of row that lies in an inbox. */
type InboxedKind = 'messages' | 'drafts' | 'lists';

/**
 * Finds a row by id, in the principal's own tenant and within its reach.
 * Another tenant's row is not even looked at: its world has a database of its own.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN under `errors.foreign-resource=forbidden` where the row exists elsewhere.
 */
export function findInReach<Kind extends PlacedKind>(reach: Reach, kind: Kind, id: string): Rows[Kind] {
  const { world } = reach.principal;
  const row = rowOf(world, kind, id);
  if (row && isInReach(reach, kind, row, world)) return row;
  throw outOfReach(reach, withId(NAMES[kind]), (other) => isThere(other, kind, id));
}

/**
 * Finds a row of an inbox by the ids of both, the inbox within the principal's reach.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN as `findInReach` does.
 */
export function findInInbox<Kind extends InboxedKind>(
  reach: Reach,
  kind: Kind,
  inboxId: string,
  id: string,
): { readonly inbox: InboxRow; readonly row: Rows[Kind] } {
  const inbox = findInReach(reach, 'inboxes', inboxId);
  const { world } = reach.principal;
  const row = rowOf(world, kind, id);
  if (row?.inboxId === inbox.id) return { inbox, row };
  const other = row && world.inboxes.get(row.inboxId);
  if (other && isInReach(reach, 'inboxes', other, world)) throw notFound(kind);
  throw outOfReach(reach, withId(NAMES[kind]), (world) => world[kind].get(id) !== undefined);
}

function rowOf<Kind extends RowKind>(database: Database, kind: Kind, id: string): Rows[Kind] | undefined {
  return database[kind].get(id);
}

function isInReach<Kind extends PlacedKind>({ principal }: Reach, kind: Kind, row: Rows[Kind], world: World): boolean {
  const place = PLACE_OF[kind](row, world);
  return place !== undefined && mayReach(principal, place);
}

function isThere<Kind extends PlacedKind>(world: World, kind: Kind, id: string): boolean {
  const row = rowOf(world, kind, id);
  return row !== undefined && PLACE_OF[kind](row, world) !== undefined;
}

const NAMES: Record<PlacedKind | InboxedKind, string> = {
  workspaces: 'workspace',
  inboxes: 'inbox',
  webhooks: 'webhook',
  apiKeys: 'key',
  messages: 'message',
  drafts: 'draft',
  lists: 'list',
};

/**
 * The error for an id or a name that leads to nothing within reach: the same whether or not it exists elsewhere,
 * unless the ledger wants that told.
 */
export function outOfReach(
  { principal, worlds, choose }: Reach,
  what: string,
  isElsewhere: (world: World) => boolean,
): ApiError {
  const answer = choose('errors.foreign-resource');
  if (answer === 'forbidden' && worlds.some(isElsewhere)) {
    return new ApiError('FORBIDDEN', `This key does not reach the ${what}.`);
  }
  const explain = () => {
    if (isElsewhere(principal.world))
      return `The ${what} is in this tenant, but not within reach of this ${principal.tier} key.`;
    return worlds.some(isElsewhere) ? `The ${what} belongs to another tenant.` : `No tenant has a ${what}.`;
  };
  return new ApiError('NOT_FOUND', `There is no ${what}.`, { explain });
}

/** The error for an id that names nothing. */
export function notFound(kind: PlacedKind | InboxedKind): ApiError {
  return new ApiError('NOT_FOUND', `There is no ${withId(NAMES[kind])}.`);
}

/** How errors speak of something that was looked up by its id. */
export function withId(noun: string): string {
  return `${noun} with this id`;
}
