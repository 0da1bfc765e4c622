import type { paths } from '../control-plane.d.ts';
import { type ControlClient, replyOf } from '../inspector-client.ts';

/** A tenant or a sandbox with its inboxes. */
export type Tenant =
  paths['/__mock/tenants']['get']['responses'][200]['content']['application/json']['tenants'][number];

/** Resolves with the tenants and the sandboxes; a sandbox has its own name, if it has one, instead of its tenant's. */
export async function loadTenants(client: ControlClient): Promise<Tenant[]> {
  const [{ tenants }, { sandboxes }] = await Promise.all([
    replyOf(client.GET('/__mock/tenants')),
    replyOf(client.GET('/__mock/sandboxes')),
  ]);
  const names = new Map(sandboxes.map(({ id, name }) => [id, name]));
  return tenants.map((tenant) => ({ ...tenant, name: names.get(tenant.id) ?? tenant.name }));
}
