import type { Tier } from '../../contract/tiers.ts';
import { CONTROL_PATH } from '../../control/table/control-path.ts';
import type { MailboxState, TenantIds, TenantKeys } from '../../mailbox/without-msw.ts';
import type { MailboxServer } from '../../server/start-server.ts';
import { variableOf } from '../flags.ts';

/** A server with any fixture. */
export type AnyServer = MailboxServer<Record<string, string | TenantKeys>, Record<string, TenantIds>>;

/** Environment variables by name. A variable with the value `undefined` is not set. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the variables with which another program finds and uses a server: its URLs, a key of each tier below the
 * operator, and, if it has IMAP, a login, which SMTP accepts too. Commands of this program read `AGENT_MAILBOX_URL` and `AGENT_MAILBOX_TOKEN`.
 */
export function connectionVariables(server: AnyServer): Variables {
  const { url, controlToken, smtp, imap } = server;
  const state = server.mailbox.snapshot();
  const exampleKeys = findExampleKeys(server, state);
  const { tenant, workspace, inbox } = exampleKeys;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const login = findLogin(state, exampleKeys);
  return {
    ...serviceVariables(url, [tenant?.key, workspace?.key, inbox?.key, inbox?.ownerId]),
    MAILBOX_SMTP_HOST: smtp && host,
    MAILBOX_SMTP_PORT: smtp && String(smtp.port),
    MAILBOX_IMAP_HOST: imap && host,
    MAILBOX_IMAP_PORT: imap && String(imap.port),
    MAILBOX_IMAP_USER: imap && login?.user,
    MAILBOX_IMAP_PASSWORD: imap && login?.password,
    [variableOf('token')]: controlToken,
  };
}

/** A login for SMTP and IMAP. */
export interface Login {
  readonly user: string;
  readonly password: string;
}

/** Returns the login of the inbox whose key is an example. */
export function findLogin(state: MailboxState, { inbox }: ExampleKeys): Login | undefined {
  const inboxes = state.tenants.flatMap((tenant) => tenant.inboxes);
  const row = inbox && inboxes.find(({ id }) => id === inbox.ownerId);
  return row && { user: `${row.username}@${row.domain}`, password: String(row.imapPassword) };
}

/** Returns the variables of a service. `values` are keys of a tenant, a workspace and an inbox, and the inbox id. */
export function serviceVariables(url: string, values: readonly (string | undefined)[]): Variables {
  const [MAILBOX_TENANT_KEY, MAILBOX_WORKSPACE_KEY, MAILBOX_INBOX_KEY, MAILBOX_INBOX_ID] = values;
  return {
    MAILBOX_BASE_URL: url,
    MAILBOX_TENANT_KEY,
    MAILBOX_WORKSPACE_KEY,
    MAILBOX_INBOX_KEY,
    MAILBOX_INBOX_ID,
    MAILBOX_CONTROL_URL: url + CONTROL_PATH,
    MAILBOX_PYTHON_CLIENT: `${url}${CONTROL_PATH}/client.py`,
    [variableOf('url')]: url,
  };
}

/** A key, and its owner: the platform, a tenant, a workspace or an inbox. */
interface ExampleKey {
  readonly key: string;
  /** The name of the owner; for an inbox, its address. */
  readonly ownerName: string;
  /** The id of the owner; the platform has none. */
  readonly ownerId?: string;
}

/** One key of each tier; a tier without a key is left out. */
export type ExampleKeys = Partial<Readonly<Record<Tier, ExampleKey>>>;

/** Returns the operator key, the key of the first tenant, and the first workspace and inbox keys of that tenant. */
export function findExampleKeys({ mailbox }: AnyServer, state = mailbox.snapshot()): ExampleKeys {
  const operator = { key: String(mailbox.keys.operator), ownerName: 'the platform' };
  const [handle] = Object.keys(mailbox.ids);
  const ids = mailbox.ids[handle ?? ''];
  if (handle === undefined || !ids) return { operator };
  const keys = mailbox.keys[handle] as TenantKeys;
  const tenant = state.tenants.find(({ id }) => id === ids.tenant);
  const workspaces = (tenant?.workspaces ?? []).map(({ id, name }) => [id, name] as const);
  const addresses = tenant?.addresses.filter(({ isPrimary }) => isPrimary) ?? [];
  const ownerNames = new Map([...workspaces, ...addresses.map(({ inboxId, address }) => [inboxId, address] as const)]);
  /** Returns the first key of a kind, if there is one, and its owner. */
  const findFirst = (kind: 'workspaces' | 'inboxes'): ExampleKey | undefined => {
    const [name = ''] = Object.keys(keys[kind]);
    const key = keys[kind][name];
    const ownerId = String(ids[kind][name]);
    return key === undefined ? undefined : { key, ownerName: String(ownerNames.get(ownerId)), ownerId };
  };
  const [workspace, inbox] = [findFirst('workspaces'), findFirst('inboxes')];
  const tenantKey = { key: keys.tenant, ownerName: String(tenant?.name), ownerId: ids.tenant };
  return { operator, tenant: tenantKey, ...(workspace && { workspace }), ...(inbox && { inbox }) };
}
