import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';
import { loadTenants, type Tenant } from '../mail/load-tenants.ts';

/** What a leak of one key exposes. */
export type Key = ReplyTo<'listKeys'>['keys'][number];

/** The key that has replaced another one. */
export type RotatedKey = ReplyTo<'rotateKey'>;

/** The keys, and the names of what they reach. */
export interface KeyData {
  readonly keys: readonly Key[];
  readonly tenants: readonly Tenant[];
}

/** Loads the keys, and the names of what they reach. */
export async function loadKeys(client: ControlClient): Promise<KeyData> {
  const [{ keys }, tenants] = await Promise.all([client.listKeys(), loadTenants(client)]);
  return { keys, tenants };
}

/** The id of a key in the URL. */
export const linkIdOf = ({ id }: Key) => id ?? 'operator';
