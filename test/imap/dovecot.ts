import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ImapTalk } from '../support/imap-talk.ts';

const PROGRAM = '/usr/lib/dovecot/imap';

/** Whether Dovecot is installed. */
export const HAS_DOVECOT = existsSync(PROGRAM);

/** The user nobody: Dovecot reads no mail as root. */
const NOBODY = 65_534;

/** A folder of mail that Dovecot serves. */
export class Dovecot implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'dovecot-'));
  #server: ChildProcess | undefined;

  constructor() {
    const isRoot = process.getuid?.() === 0;
    const [uid, gid] = isRoot ? [NOBODY, NOBODY] : [process.getuid?.(), process.getgid?.()];
    mkdirSync(join(this.#folder, 'mail'));
    chmodSync(this.#folder, 0o777);
    if (isRoot) chownSync(join(this.#folder, 'mail'), NOBODY, NOBODY);
    const settings = {
      base_dir: join(this.#folder, 'run'),
      mail_location: `maildir:${join(this.#folder, 'mail')}`,
      log_path: join(this.#folder, 'log'),
      mail_uid: uid,
      mail_gid: gid,
      first_valid_uid: 0,
      first_valid_gid: 0,
      ssl: 'no',
      stats_writer_socket_path: '',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(
      join(this.#folder, 'conf'),
      `${lines.join('\n')}\nnamespace inbox {\n  inbox = yes\n  separator = /\n}\n`,
    );
  }

  /** The Maildir of INBOX. */
  get maildir(): string {
    return join(this.#folder, 'mail');
  }

  /** Listens on a port, where the password of everybody is `x`; only root can do that. */
  async listen(port: number): Promise<void> {
    const { uid, gid } = statSync(this.maildir);
    const lines = [
      ...['!include conf', 'protocols = imap', 'listen = 127.0.0.1', 'disable_plaintext_auth = no'],
      ...['passdb {', 'driver = static', 'args = password=x', '}'],
      ...['userdb {', 'driver = static', `args = uid=${uid} gid=${gid} home=${this.#folder}`, '}'],
      ...['service imap-login {', 'inet_listener imap {', `port = ${port}`, '}', 'inet_listener imaps {', 'port = 0'],
      ...['}', '}', 'log_path = /dev/stderr'],
    ];
    writeFileSync(join(this.#folder, 'server'), `${lines.join('\n')}\n`);
    this.#server = spawn('dovecot', ['-F', '-c', join(this.#folder, 'server')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // It says that it starts once it listens.
    if (this.#server.stderr) await once(createInterface(this.#server.stderr), 'line');
  }

  /** Opens a session, which is logged in. */
  async connect(): Promise<ImapTalk> {
    const env = { ...process.env, USER: 'somebody', HOME: this.#folder };
    // Node's pipes are sockets, which Dovecot takes for inetd.
    const command = `cat | ${PROGRAM} -c '${join(this.#folder, 'conf')}' 2>>'${join(this.#folder, 'log')}' | cat`;
    const child = spawn('sh', ['-c', command], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const talk = new ImapTalk(child.stdout, child.stdin, () => child.stdin.end());
    await talk.next();
    return talk;
  }

  [Symbol.dispose](): void {
    this.#server?.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Returns whether a program can be run. */
export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}
