import type { TenantIds } from '../fixture/fixture-ids.ts';
import type { TenantKeys } from '../fixture/fixture-keys.ts';
import type { MailboxServer } from '../server/start-server.ts';

/** A server with any fixture. */
export type AnyServer = MailboxServer<
  Readonly<Record<string, string | TenantKeys>>,
  Readonly<Record<string, TenantIds>>
>;
