import type { MailboxInternals } from '../../mailbox/mailbox.ts';
import type { Listener } from '../listener.ts';
import { reachableHost } from '../loopback.ts';
import type { Settings } from '../server-options.ts';
import { type MailServerSettings, readMailTls } from './mail-listener.ts';

/** The settings of the servers for SMTP and IMAP. A server without a port is not started. */
export type MailServersSettings = Omit<MailServerSettings, 'tls'> &
  Pick<Settings, 'host' | 'smtpPort' | 'imapPort' | 'tlsCert' | 'tlsKey'>;

/** The servers for SMTP and IMAP that were started. */
export interface MailServers {
  readonly smtp: { readonly port: number } | undefined;
  readonly imap: { readonly port: number } | undefined;
  close(): Promise<unknown>;
}

type CreateServer = (internals: MailboxInternals, settings: MailServerSettings) => Listener;

/** Starts the servers that have a port. The code of a server is loaded only if the server is started. */
export async function startMailServers(
  internals: MailboxInternals,
  { host, intake, output, work, smtpPort, imapPort, tlsCert, tlsKey, tlsRequired }: MailServersSettings,
): Promise<MailServers> {
  const tls = await readMailTls(tlsCert, tlsKey);
  const settings = { intake, output, work, tls, tlsRequired };
  const servers: Listener[] = [];
  const close = () => Promise.all(servers.map((server) => server.close()));
  const start = async (name: 'smtp' | 'imap', wantedPort: number | undefined, load: () => Promise<CreateServer>) => {
    if (wantedPort === undefined) return undefined;
    const server = (await load())(internals, settings);
    const port = await server.listen(wantedPort, host);
    servers.push(server);
    internals.service.worlds.mailServers[name] = { host: reachableHost(host), port, hasTls: tls !== undefined };
    return { port };
  };
  try {
    const smtp = await start('smtp', smtpPort, async () => (await import('./smtp-server.ts')).createSmtpServer);
    const imap = await start('imap', imapPort, async () => (await import('./imap/imap-server.ts')).createImapServer);
    return { smtp, imap, close };
  } catch (error) {
    await close();
    throw error;
  }
}
