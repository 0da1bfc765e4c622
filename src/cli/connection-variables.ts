import type { AnyServer } from './any-server.ts';
import { findExampleKeys } from './example-keys.ts';
import { variableOf } from './flags.ts';

/** Environment variables by name. An undefined one is not set. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the variables by which another program finds a server: its URL, and the first key of each tier. The last two
 * are read by the commands that call a running emulator.
 */
export function connectionVariables(server: AnyServer): Variables {
  const { url, control, controlToken, smtp } = server;
  const { tenant, workspace, inbox } = findExampleKeys(server);
  return {
    MAILBOX_BASE_URL: url,
    MAILBOX_TENANT_KEY: tenant?.key,
    MAILBOX_WORKSPACE_KEY: workspace?.key,
    MAILBOX_INBOX_KEY: inbox?.key,
    MAILBOX_INBOX_ID: inbox?.id,
    MAILBOX_CONTROL_URL: control,
    MAILBOX_SMTP_HOST: smtp && new URL(url).hostname.replace(/^\[|\]$/g, ''),
    MAILBOX_SMTP_PORT: smtp && String(smtp.port),
    [variableOf('url')]: url,
    [variableOf('token')]: controlToken,
  };
}
