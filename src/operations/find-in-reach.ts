import { mayReach, type Place } from '../auth/policy.ts';
import type { TenantPrincipal } from '../auth/principal.ts';
import type { Choose } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { RowKind, Rows } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';

/** The part of an operation's context that a look-up needs. */
export interface Reach {
  readonly principal: TenantPrincipal;
  readonly worlds: Worlds;
  readonly choose: Choose;
}

type Placed = { [Kind in 'workspaces' | 'inboxes' | 'webhooks' | 'apiKeys']: (row: Rows[Kind], world: World) => Place };

const PLACE_OF: Placed = {
  workspaces: (row) => ({ workspaceId: row.id, inboxId: null }),
  inboxes: (row) => ({ workspaceId: row.workspaceId, inboxId: row.id }),
  webhooks: (row) => ({ workspaceId: row.workspaceId, inboxId: null }),
  apiKeys: (row, world) => ({
    workspaceId: world.inboxes.get(row.ownerId)?.workspaceId ?? row.ownerId,
    inboxId: row.tier === 'inbox' ? row.ownerId : null,
  }),
};

/** A kind of row that an id in a path can name. */
export type PlacedKind = keyof Placed;

/**
 * Finds a row by id, in the principal's own tenant and within its reach.
 * Another tenant's row is not even looked at: its world has a database of its own.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN under `errors.foreign-resource=forbidden` where the row exists elsewhere.
 */
export function findInReach<Kind extends PlacedKind>(reach: Reach, kind: Kind, id: string): Rows[Kind] {
  const { world } = reach.principal;
  const row = world[kind].get(id) as Rows[Kind] | undefined;
  if (row !== undefined && mayReach(reach.principal, PLACE_OF[kind](row, world))) return row;
  throw outOfReach(reach, kind, id);
}

const NAMES: Record<PlacedKind, string> = {
  workspaces: 'workspace',
  inboxes: 'inbox',
  webhooks: 'webhook',
  apiKeys: 'key',
};

/** The error for an id that names nothing within reach; the same whether or not it exists elsewhere. */
function outOfReach(reach: Pick<Reach, 'worlds' | 'choose'>, kind: PlacedKind, id: string): ApiError {
  const answer = reach.choose('errors.foreign-resource');
  return answer === 'forbidden' && reach.worlds.someHas(kind satisfies RowKind, id)
    ? new ApiError('FORBIDDEN', `This key does not reach the ${NAMES[kind]} with this id.`)
    : notFound(kind);
}

/** The error for an id that names nothing. */
export function notFound(kind: PlacedKind): ApiError {
  return new ApiError('NOT_FOUND', `There is no ${NAMES[kind]} with this id.`);
}
