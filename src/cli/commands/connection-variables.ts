import type { Tier } from '../../contract/tiers.ts';
import { CONTROL_PATH } from '../../control/table/control-path.ts';
import type { TenantIds, TenantKeys } from '../../mailbox/without-msw.ts';
import type { MailboxServer } from '../../server/start-server.ts';
import { variableOf } from '../flags.ts';

/** A server with any fixture. */
export type AnyServer = MailboxServer<Record<string, string | TenantKeys>, Record<string, TenantIds>>;

/** Environment variables by name. An undefined one is not set. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the variables by which another program finds a server: its URL, and the first key of each tier. The last two
 * are read by the commands that call a running emulator.
 */
export function connectionVariables(server: AnyServer): Variables {
  const { url, controlToken, smtp, imap } = server;
  const { tenant, workspace, inbox } = findExampleKeys(server);
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const inboxes = server.mailbox.snapshot().tenants.flatMap((tenant) => tenant.inboxes);
  const login = inbox && inboxes.find(({ id }) => id === inbox.id);
  return {
    ...serviceVariables(url, [tenant?.key, workspace?.key, inbox?.key, inbox?.id]),
    ...{ MAILBOX_SMTP_HOST: smtp && host, MAILBOX_SMTP_PORT: smtp && String(smtp.port) },
    ...{ MAILBOX_IMAP_HOST: imap && host, MAILBOX_IMAP_PORT: imap && String(imap.port) },
    MAILBOX_IMAP_USER: imap && login && `${login.username}@${login.domain}`,
    MAILBOX_IMAP_PASSWORD: imap && login && String(login.imapPassword),
    [variableOf('token')]: controlToken,
  };
}

/** Returns the variables of a service at a URL, with one key of each tier and the id of the inbox of the last one. */
export function serviceVariables(url: string, values: readonly (string | undefined)[]): Variables {
  const [MAILBOX_TENANT_KEY, MAILBOX_WORKSPACE_KEY, MAILBOX_INBOX_KEY, MAILBOX_INBOX_ID] = values;
  return {
    MAILBOX_BASE_URL: url,
    ...{ MAILBOX_TENANT_KEY, MAILBOX_WORKSPACE_KEY, MAILBOX_INBOX_KEY, MAILBOX_INBOX_ID },
    MAILBOX_CONTROL_URL: url + CONTROL_PATH,
    MAILBOX_PYTHON_CLIENT: `${url}${CONTROL_PATH}/client.py`,
    [variableOf('url')]: url,
  };
}

/** A key, and the tenant, workspace or inbox that it belongs to. */
interface ExampleKey {
  readonly key: string;
  readonly name: string;
  /** The id of its owner; the platform has none. */
  readonly id?: string;
}

/** One key of each tier; a tier without a key is left out. */
export type ExampleKeys = Partial<Readonly<Record<Tier, ExampleKey>>>;

/** Returns the operator key, the key of the first tenant, and the first workspace and inbox keys of that tenant. */
export function findExampleKeys({ mailbox }: AnyServer, state = mailbox.snapshot()): ExampleKeys {
  const operator = { key: String(mailbox.keys.operator), name: 'the platform' };
  const [[handle, ids] = []] = Object.entries(mailbox.ids);
  if (handle === undefined || !ids) return { operator };
  const keys = mailbox.keys[handle] as TenantKeys;
  const tenant = state.tenants.find(({ id }) => id === ids.tenant);
  const workspaces = (tenant?.workspaces ?? []).map(({ id, name }) => [id, name] as const);
  const primary = tenant?.addresses.filter(({ isPrimary }) => isPrimary) ?? [];
  const names = new Map([...workspaces, ...primary.map(({ inboxId, address }) => [inboxId, address] as const)]);
  /** Returns the first key of a kind with the name of its owner, if there is one. */
  const first = (kind: 'workspaces' | 'inboxes'): ExampleKey | undefined => {
    const [[handle = '', key] = []] = Object.entries(keys[kind]);
    const id = String(ids[kind][handle]);
    return key === undefined ? undefined : { key, name: String(names.get(id)), id };
  };
  const [workspace, inbox] = [first('workspaces'), first('inboxes')];
  const ofTenant = { key: keys.tenant, name: String(tenant?.name), id: ids.tenant };
  return { operator, tenant: ofTenant, ...(workspace && { workspace }), ...(inbox && { inbox }) };
}
