import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type CertificateFiles, makeCertificate } from '../support/certificate.ts';
import { type ImapTalk, talkTo } from '../support/imap-talk.ts';

/** A running emulator of the packed package. */
export interface Running extends AsyncDisposable {
  /** A folder for the files of the clients. */
  readonly folder: string;
  readonly imapPort: number;
  readonly smtpPort: number;
  readonly user: string;
  readonly password: string;
  /** The files with a certificate and its key. */
  readonly tls: CertificateFiles;
  /** Opens a session of the raw client. */
  session(): Promise<ImapTalk>;
  /** Calls the API for the inbox. */
  api(path: string): Promise<Response>;
  /** Resets the emulator to its start. */
  reset(): Promise<void>;
}

/** Starts the command of a package that is installed in a folder, with IMAP, SMTP and a certificate. */
export async function startPacked(installed: string): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'imap-client-'));
  const tls = makeCertificate(folder);
  const child = spawn(
    process.execPath,
    [
      join(installed, 'node_modules/agent-mailbox-mock/dist/main.cjs'),
      ...['--port', '0', '--imap-port', '0', '--smtp-port', '0', '--json', '--quiet'],
      ...['--tls-cert', tls.cert, '--tls-key', tls.key],
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url, control, keys, ids, imap, smtp } = JSON.parse(line);
  const inboxUrl = `${url}/v1/inboxes/${Object.values<{ inboxes: Record<string, string> }>(ids)[0]?.inboxes.helpdesk}`;
  const api = (path: string) => fetch(inboxUrl + path, { headers: { 'X-API-Key': keys.inbox } });
  const { canonicalEmail: user, imapPassword: password } = (await (await api('')).json()) as Record<string, string>;
  return {
    folder,
    imapPort: imap.port,
    smtpPort: smtp.port,
    user: String(user),
    password: String(password),
    tls,
    api,
    async session() {
      const talk = await talkTo(imap.port);
      await talk.ok(`LOGIN ${user} "${password}"`);
      return talk;
    },
    async reset() {
      const { ok } = await fetch(`${control}/reset`, { method: 'POST' });
      if (!ok) throw new Error('The emulator cannot be reset.');
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
