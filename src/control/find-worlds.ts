import { ApiError } from '../contract/errors.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';

/** Whom a control call is about; all of them where it names none. */
interface Named {
  readonly tenant?: string | undefined;
  readonly webhookId?: string | undefined;
}

/**
 * The worlds that a control call is about: that of the tenant, that which has the webhook, or all.
 *
 * @throws {ApiError} NOT_FOUND for a tenant or a webhook that is not there.
 */
export function findWorlds(worlds: Worlds, { tenant, webhookId }: Named): World[] {
  const there = worlds.all().filter(({ id }) => tenant === undefined || id === tenant);
  if (tenant !== undefined && there.length === 0) throw absent('tenant');
  const owning = there.filter(({ webhooks }) => webhookId === undefined || webhooks.get(webhookId));
  if (webhookId !== undefined && owning.length === 0) throw absent('webhook');
  return owning;
}

/** The error for an id in a control call that names nothing. */
export function absent(noun: string): ApiError {
  return new ApiError('NOT_FOUND', `There is no ${noun} with this id.`);
}
