import type { Tier } from '../../contract/tiers.ts';
import type { TenantIds, TenantKeys, TenantState } from '../../mailbox/without-msw.ts';
import type { MailboxServer } from '../../server/start-server.ts';
import { variableOf } from '../flags.ts';

/** A server with any fixture. */
export type AnyServer = MailboxServer<
  Readonly<Record<string, string | TenantKeys>>,
  Readonly<Record<string, TenantIds>>
>;

/** Environment variables by name. An undefined one is not set. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the variables by which another program finds a server: its URL, and the first key of each tier. The last two
 * are read by the commands that call a running emulator.
 */
export function connectionVariables(server: AnyServer): Variables {
  const { url, control, controlToken, smtp, imap } = server;
  const { tenant, workspace, inbox } = findExampleKeys(server);
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const login = inbox?.id === undefined ? undefined : loginOf(server, inbox.id);
  return {
    MAILBOX_BASE_URL: url,
    MAILBOX_TENANT_KEY: tenant?.key,
    MAILBOX_WORKSPACE_KEY: workspace?.key,
    MAILBOX_INBOX_KEY: inbox?.key,
    MAILBOX_INBOX_ID: inbox?.id,
    MAILBOX_CONTROL_URL: control,
    MAILBOX_PYTHON_CLIENT: `${control}/client.py`,
    MAILBOX_SMTP_HOST: smtp && host,
    MAILBOX_SMTP_PORT: smtp && String(smtp.port),
    MAILBOX_IMAP_HOST: imap && host,
    MAILBOX_IMAP_PORT: imap && String(imap.port),
    MAILBOX_IMAP_USER: imap && login?.user,
    MAILBOX_IMAP_PASSWORD: imap && login?.password,
    [variableOf('url')]: url,
    [variableOf('token')]: controlToken,
  };
}

/** Returns the login of an inbox for IMAP and SMTP. */
function loginOf({ mailbox }: AnyServer, inboxId: string): { readonly user: string; readonly password: string } {
  const inboxes = mailbox.snapshot().tenants.flatMap((tenant) => tenant.inboxes);
  const { username, domain, imapPassword } = inboxes.find(({ id }) => id === inboxId) ?? {};
  return { user: `${username}@${domain}`, password: String(imapPassword) };
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
  const [first] = Object.entries(mailbox.ids);
  if (!first) return { operator };
  const [handle, ids] = first;
  const keys = mailbox.keys[handle] as TenantKeys;
  const tenant = state.tenants.find(({ id }) => id === ids.tenant);
  const nameOfWorkspace = (workspace: string) => tenant?.workspaces.find(({ id }) => id === workspace)?.name;
  return {
    operator,
    ...exampleKeyOf('tenant', { [handle]: keys.tenant }, { [handle]: ids.tenant }, () => tenant?.name),
    ...exampleKeyOf('workspace', keys.workspaces, ids.workspaces, nameOfWorkspace),
    ...exampleKeyOf('inbox', keys.inboxes, ids.inboxes, (inbox) => addressOf(tenant, inbox)),
  };
}

/** Returns the first key of a tier with the name of its owner. `keys` and `ids` have the same handles. */
function exampleKeyOf(
  tier: Tier,
  keys: Readonly<Record<string, string>>,
  ids: Readonly<Record<string, string>>,
  nameOf: (id: string) => string | undefined,
): ExampleKeys {
  const [handle, key] = Object.entries(keys)[0] ?? [];
  if (!handle || !key) return {};
  const id = String(ids[handle]);
  return { [tier]: { key, name: String(nameOf(id)), id } };
}

function addressOf(tenant: TenantState | undefined, inbox: string): string | undefined {
  return tenant?.addresses.find(({ inboxId, isPrimary }) => inboxId === inbox && isPrimary)?.address;
}
