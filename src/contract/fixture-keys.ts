import type { Fixture } from './fixture.ts';

/** The shape of a fixture as far as the names in it go: what TypeScript knows of an imported JSON file. */
export interface NamedFixture {
  readonly tenants: { readonly [tenant: string]: NamedTenant };
}

interface NamedTenant {
  readonly workspaces?: { readonly [workspace: string]: { readonly inboxes?: object | undefined } } | undefined;
}

type WorkspacesOf<Tenant> = Tenant extends { readonly workspaces?: infer Workspaces } ? NonNullable<Workspaces> : never;
type InboxesOf<Workspace> = Workspace extends { readonly inboxes?: infer Inboxes } ? keyof NonNullable<Inboxes> : never;

/** The keys of one tenant, by the fixture's handles. */
export interface TenantKeys<Workspace extends PropertyKey = string, Inbox extends PropertyKey = string> {
  /** The `tk_` key. */
  readonly tenant: string;
  /** The `wk_` key of each workspace. */
  readonly workspaces: { readonly [Handle in Workspace]: string };
  /** The `ak_` key of each inbox. */
  readonly inboxes: { readonly [Handle in Inbox]: string };
}

/** The keys of a fixture, under the handles its author gave: `keys.acme.inboxes.helpdesk`. */
export type FixtureKeys<F extends NamedFixture> = {
  /** The `sa_` key. */
  readonly operator: string;
} & {
  readonly [Handle in keyof F['tenants']]: TenantKeys<
    keyof WorkspacesOf<F['tenants'][Handle]>,
    InboxesOf<WorkspacesOf<F['tenants'][Handle]>[keyof WorkspacesOf<F['tenants'][Handle]>]>
  >;
};

/** The keys of `fixtures/default.json`. */
export interface DefaultKeys {
  readonly operator: string;
  readonly acme: TenantKeys<'support' | 'sales', 'helpdesk' | 'billing' | 'outreach'>;
  readonly globex: TenantKeys<'main', 'info'>;
}

/** Reads the keys out of a checked fixture. */
export function readFixtureKeys(fixture: Fixture): Record<string, string | TenantKeys> {
  const tenants = Object.entries(fixture.tenants).map(([handle, { key, workspaces }]) => {
    const inboxes = Object.values(workspaces).flatMap((workspace) => Object.entries(workspace.inboxes));
    const keys: TenantKeys = {
      tenant: key.key,
      workspaces: keysByHandle(Object.entries(workspaces)),
      inboxes: keysByHandle(inboxes),
    };
    return [handle, keys] as const;
  });
  return { operator: fixture.operator.key, ...Object.fromEntries(tenants) };
}

function keysByHandle(owners: [handle: string, owner: { key: { key: string } }][]): Record<string, string> {
  return Object.fromEntries(owners.map(([handle, { key }]) => [handle, key.key]));
}
