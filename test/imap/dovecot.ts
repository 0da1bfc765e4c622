import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImapTalk } from '../support/imap-talk.ts';

const PROGRAM = '/usr/lib/dovecot/imap';

/** Whether Dovecot is installed. */
export const HAS_DOVECOT = existsSync(PROGRAM);

/** The user nobody: Dovecot reads no mail as root. */
const NOBODY = 65_534;

/** A folder of mail that Dovecot serves. */
export class Dovecot implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'dovecot-'));

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
      ...{ mail_uid: uid, mail_gid: gid, first_valid_uid: 0, first_valid_gid: 0 },
      ...{ ssl: 'no', stats_writer_socket_path: '' },
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(
      join(this.#folder, 'conf'),
      `${lines.join('\n')}\nnamespace inbox {\n  inbox = yes\n  separator = /\n}\n`,
    );
  }

  /** Opens a session, which is logged in. */
  async connect(): Promise<ImapTalk> {
    const env = { ...process.env, USER: 'somebody', HOME: this.#folder };
    // Node's pipes are sockets, which Dovecot takes for inetd.
    const command = `cat | ${PROGRAM} -c '${join(this.#folder, 'conf')}' | cat`;
    const child = spawn('sh', ['-c', command], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const talk = new ImapTalk(child.stdout, child.stdin, () => child.stdin.end());
    await talk.next();
    return talk;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Returns whether a program can be run. */
export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}
