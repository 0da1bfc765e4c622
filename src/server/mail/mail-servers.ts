import type { MailboxInternals } from '../../mailbox/mailbox.ts';
import type { Intake } from '../intake.ts';
import { reachableHost } from '../loopback.ts';
import { type MailServer, readMailTls, type TlsFiles } from './mail-listener.ts';

/** The settings of the servers for SMTP and IMAP. A port is undefined for a server that is off. */
export interface MailServersSettings {
  readonly host: string;
  readonly intake: Intake;
  readonly ports: { readonly smtp: number | undefined; readonly imap: number | undefined };
  readonly tlsFiles: TlsFiles;
  readonly isTlsRequired: boolean;
}

/** The servers for SMTP and IMAP that listen. */
export interface MailServers {
  readonly smtp: { readonly port: number } | undefined;
  readonly imap: { readonly port: number } | undefined;
  close(): Promise<unknown>;
}

/** Starts the servers that have a port. The code of each is loaded only then. */
export async function startMailServers(
  internals: MailboxInternals,
  { host, intake, ports, tlsFiles, isTlsRequired }: MailServersSettings,
): Promise<MailServers> {
  const tls = await readMailTls(tlsFiles);
  const settings = { intake, tls, isTlsRequired };
  const servers: MailServer[] = [];
  const close = () => Promise.all(servers.map((server) => server.close()));
  const { mailServers } = internals.service.worlds;
  const start = async (name: 'smtp' | 'imap', load: () => Promise<MailServer>) => {
    if (ports[name] === undefined) return undefined;
    const server = await load();
    const port = await server.listen(ports[name], host);
    servers.push(server);
    mailServers[name] = { host: reachableHost(host), port, hasTls: tls !== undefined };
    return { port };
  };
  try {
    const smtp = await start('smtp', async () =>
      (await import('./smtp-server.ts')).createSmtpServer(internals, settings),
    );
    const imap = await start('imap', async () =>
      (await import('./imap/imap-server.ts')).createImapServer(internals, settings),
    );
    return { smtp, imap, close };
  } catch (error) {
    await close();
    throw error;
  }
}
