import type { paths } from '../control-plane.d.ts';
import { type ControlClient, replyOf } from '../inspector-client.ts';
import { loadTenants, type Tenant } from '../mail/load-tenants.ts';

/** What a leak of one key exposes. */
export type Key = paths['/__mock/keys']['get']['responses']['200']['content']['application/json']['keys'][number];

/** The key that has replaced another one. */
export interface RotatedKey {
  readonly id: string;
  readonly key: string;
}

/** The keys, and the names of what they reach. */
export interface KeyData {
  readonly keys: readonly Key[];
  readonly tenants: readonly Tenant[];
}

/** Loads the keys, and the names of what they reach. */
export async function loadKeys(client: ControlClient): Promise<KeyData> {
  const [{ keys }, tenants] = await Promise.all([replyOf(client.GET('/__mock/keys')), loadTenants(client)]);
  return { keys, tenants };
}

/** The id of a key in the URL. */
export const linkIdOf = ({ id }: Key) => id ?? 'operator';
