import { ApiError } from '../contract/errors.ts';
import type { Collections } from '../world/store/database.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import type { RowKind, Rows } from '../world/store/rows.ts';
import type { World } from '../world/store/world.ts';

/** The targets of a control call; without any, it applies to all tenants. */
interface Target {
  readonly tenant?: string | undefined;
  readonly webhookId?: string | undefined;
}

/**
 * Finds the worlds to which a control call applies: that of the tenant, that of the webhook, or all.
 *
 * @throws {ApiError} NOT_FOUND for an unknown tenant or webhook.
 */
export function findWorlds(worlds: ReachableWorlds, { tenant, webhookId }: Target): World[] {
  const candidates = worlds.all().filter(({ id }) => tenant === undefined || id === tenant);
  if (tenant !== undefined && candidates.length === 0) throw notFound('tenant');
  const found = candidates.filter(({ webhooks }) => webhookId === undefined || webhooks.get(webhookId));
  if (webhookId !== undefined && found.length === 0) throw notFound('webhook');
  return found;
}

/** Finds the stored row with an id in any of the worlds, with its world; `undefined` if none has it. */
export function findStoredRow<Kind extends RowKind>(
  worlds: ReachableWorlds,
  kind: Kind,
  id: string,
): { readonly world: World; readonly row: Rows[Kind] } | undefined {
  for (const world of worlds.all()) {
    const collections: Collections = world;
    const row = collections[kind].get(id);
    if (row) return { world, row };
  }
  return undefined;
}

/** Creates the error for an unknown id in a control call. */
export function notFound(noun: string): ApiError {
  return new ApiError('NOT_FOUND', `There is no ${noun} with this id.`);
}
