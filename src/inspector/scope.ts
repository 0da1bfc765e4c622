import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ControlClient, ReplyTo } from '../control/table/client.ts';

/** A tenant or a sandbox with its inboxes. */
export type Tenant = ReplyTo<'listTenants'>['tenants'][number];

/** The tenant or sandbox whose data the page shows. A person chooses it in the header, and every view uses it. */
export interface Scope {
  /** All tenants and sandboxes. */
  readonly tenants: readonly Tenant[];
  /** The id of the chosen tenant or sandbox; `undefined` for all. */
  readonly tenant: string | undefined;
  /** The id of the chosen sandbox, for calls that have to name it; `undefined` if no sandbox is chosen. */
  readonly sandbox: string | undefined;
}

/** Provides the `Scope` to the views. */
export const ScopeContext = createContext<Scope>({ tenants: [], tenant: undefined, sandbox: undefined });

/** Returns the tenants, and which of them is chosen. */
export function useScope(): Scope {
  return useContext(ScopeContext);
}

/** Returns whether an item is shown. An item that belongs to no tenant is always shown. */
export function isInScope({ tenant }: Scope, item: { readonly tenantId: string | null } | null | undefined): boolean {
  return tenant === undefined || item?.tenantId == null || item.tenantId === tenant;
}

/** Creates a function that finds the name of a tenant or workspace, or the address of an inbox, by its id. */
export function createNameFinder({ tenants }: Scope): (id: string | null | undefined) => string | undefined {
  const names = new Map(
    tenants.flatMap(({ id, name, workspaces }) => [
      [id, name] as const,
      ...workspaces.map((workspace) => [workspace.id, workspace.name] as const),
      ...workspaces.flatMap(({ inboxes }) => inboxes.map(({ id, address }) => [id, address] as const)),
    ]),
  );
  return (id) => (id == null ? undefined : names.get(id));
}

/** What names the owner of a request or a webhook: the most exact id that is not null. */
interface Owned {
  readonly tenantId: string | null;
  readonly workspaceId: string | null;
  readonly inboxId?: string | null;
}

/**
 * Creates a function that names the owner of something: the address of an inbox, or the name of a workspace or a tenant.
 * What belongs to a sandbox begins with the name of the sandbox, because all of its copies have equal names. Returns
 * `undefined` for an owner that is gone.
 */
export function createOwnerFinder(scope: Scope): (owned: Owned) => string | undefined {
  const nameOf = createNameFinder(scope);
  const sandboxes = new Set(scope.tenants.flatMap(({ id, isSandbox }) => (isSandbox ? id : [])));
  return ({ tenantId, workspaceId, inboxId }) => {
    const name = nameOf(inboxId ?? workspaceId ?? tenantId);
    if (name === undefined || (inboxId ?? workspaceId) == null) return name;
    if (inboxId != null && !sandboxes.has(tenantId ?? '')) return name;
    return [nameOf(tenantId), inboxId == null ? name : localPartOf(name)].filter(Boolean).join(' / ');
  };
}

/** Returns the name of an inbox: the part of its address before the domain, and its sandbox unless that is chosen. */
export function placeOfInbox({ tenants, tenant }: Scope, address: string, tenantId: string | null): string {
  const owner = tenants.find(({ id }) => id === tenantId);
  const local = localPartOf(address);
  return owner?.isSandbox && tenant === undefined ? `${owner.name} / ${local}` : local;
}

/** Returns the part of an address before its domain. */
export function localPartOf(address: string): string {
  return address.replace(/@[^@]*$/, '');
}

/** Loads the tenants and the sandboxes. A sandbox that was created with a name is shown with this name. */
export async function loadTenants(client: ControlClient): Promise<Tenant[]> {
  const [{ tenants }, { sandboxes }] = await Promise.all([client.listTenants(), client.listSandboxes()]);
  const sandboxNames = new Map(sandboxes.map(({ id, name }) => [id, name]));
  return tenants.map((tenant) => ({ ...tenant, name: sandboxNames.get(tenant.id) ?? tenant.name }));
}
