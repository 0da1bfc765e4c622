import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ControlClient, ReplyTo } from '../control/table/client.ts';

/** A tenant or a sandbox with its inboxes. */
export type Tenant = ReplyTo<'listTenants'>['tenants'][number];

/** Whose data the page shows: the filter of the header, which applies to every view. */
export interface Scope {
  /** All tenants and sandboxes. */
  readonly tenants: readonly Tenant[];
  /** The id of the chosen tenant or sandbox; `undefined` for all. */
  readonly tenant: string | undefined;
  /** The id of the chosen sandbox, for calls that have to name it; `undefined` otherwise. */
  readonly sandbox: string | undefined;
}

/** Gives the views their `Scope`. */
export const ScopeContext = createContext<Scope>({ tenants: [], tenant: undefined, sandbox: undefined });

/** Returns the tenants, and which of them is chosen. */
export function useScope(): Scope {
  return useContext(ScopeContext);
}

/** Returns whether an item is shown. An item that belongs to no tenant is always shown. */
export function isInScope({ tenant }: Scope, item: { readonly tenantId: string | null } | null | undefined): boolean {
  return tenant === undefined || item?.tenantId == null || item.tenantId === tenant;
}

/** Returns a function that gives the name of a tenant or a workspace, or the address of an inbox, by its id. */
export function namesIn({ tenants }: Scope): (id: string | null | undefined) => string | undefined {
  const names = new Map(
    tenants.flatMap(({ id, name, workspaces }) => [
      [id, name] as const,
      ...workspaces.map((workspace) => [workspace.id, workspace.name] as const),
      ...workspaces.flatMap(({ inboxes }) => inboxes.map(({ id, address }) => [id, address] as const)),
    ]),
  );
  return (id) => (id == null ? undefined : names.get(id));
}

/** Resolves with the tenants and the sandboxes; a sandbox has its own name, if it has one, instead of its tenant's. */
export async function loadTenants(client: ControlClient): Promise<Tenant[]> {
  const [{ tenants }, { sandboxes }] = await Promise.all([client.listTenants(), client.listSandboxes()]);
  const names = new Map(sandboxes.map(({ id, name }) => [id, name]));
  return tenants.map((tenant) => ({ ...tenant, name: names.get(tenant.id) ?? tenant.name }));
}
