import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';

/** A tenant or a sandbox with its inboxes. */
export type Tenant = ReplyTo<'listTenants'>['tenants'][number];

/** Resolves with the tenants and the sandboxes; a sandbox has its own name, if it has one, instead of its tenant's. */
export async function loadTenants(client: ControlClient): Promise<Tenant[]> {
  const [{ tenants }, { sandboxes }] = await Promise.all([client.listTenants(), client.listSandboxes()]);
  const names = new Map(sandboxes.map(({ id, name }) => [id, name]));
  return tenants.map((tenant) => ({ ...tenant, name: names.get(tenant.id) ?? tenant.name }));
}
