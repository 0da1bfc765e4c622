import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import type { Running } from './packed.ts';

/** A client, the programs that it needs, and what it does. */
interface Client {
  readonly name: string;
  readonly programs: readonly string[];
  run(running: Running): Promise<void>;
}

/** How long a program may take. */
const TIMEOUT_MS = 120_000;

/** Runs a program, which must succeed, and returns what it printed. */
async function runProgram(running: Running, program: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(program, args, {
    cwd: running.folder,
    env: { ...process.env, HOME: running.folder },
    timeout: TIMEOUT_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  assert.equal(code, 0, `${program} ends with ${code}: ${output.slice(-1_000)}`);
  return output;
}

/** Stores a number of mails in INBOX. */
async function fill(running: Running, count: number): Promise<void> {
  using talk = await running.session();
  for (let number = 1; number <= count; number += 1) {
    const text = `From: a@b.test\r\nSubject: Mail ${number}\r\nMessage-ID: <m${number}@b.test>\r\n\r\nText ${number}\r\n`;
    await talk.ok('APPEND INBOX', Buffer.from(text));
  }
}

async function messagesIn(running: Running, folder: string): Promise<number> {
  using talk = await running.session();
  const [line = ''] = await talk.ok(`STATUS ${folder} (MESSAGES)`);
  return Number(/MESSAGES (\d+)/.exec(line)?.[1]);
}

/** Checks that the inbox sent a mail with a subject. */
async function checkSent(running: Running, subject: string): Promise<void> {
  const { messages } = (await (await running.api('/messages?direction=outbound')).json()) as {
    messages: { subject: string }[];
  };
  assert.ok(messages.some((message) => message.subject === subject));
}

const PYTHON = '/usr/bin/python3';

const IMAPLIB = `
import imaplib, ssl, sys
port, user, password = int(sys.argv[1]), sys.argv[2], sys.argv[3]
context = ssl.create_default_context(cafile=sys.argv[4])
plain = imaplib.IMAP4('127.0.0.1', port)
started = imaplib.IMAP4('localhost', port); started.starttls(context)
for box in [plain, started, imaplib.IMAP4_SSL('localhost', port, ssl_context=context)]:
    box.login(user, password)
    assert box.select('INBOX')[0] == 'OK'
    status, found = box.search(None, 'SUBJECT', '"Cannot log in"')
    number = found[0].split()[0]
    status, data = box.fetch(number, '(BODY.PEEK[] FLAGS)')
    assert b'Cannot log in' in data[0][1], data
    assert box.store(number, '+FLAGS', '\\\\Flagged')[0] == 'OK'
    box.close(); box.logout()
`;

const IMAP_TOOLS = `
import sys
from imap_tools import MailBoxUnencrypted, AND, MailMessageFlags
with MailBoxUnencrypted('127.0.0.1', int(sys.argv[1])).login(sys.argv[2], sys.argv[3], 'INBOX') as box:
    assert [folder.name for folder in box.folder.list()] == ['INBOX', 'Sent', 'Drafts', 'Archive', 'Trash']
    messages = list(box.fetch(AND(subject='Cannot log in'), mark_seen=False))
    assert messages[0].from_ == 'dana@customer.test' and messages[0].attachments[0].filename == 'login-error.txt'
    box.flag(messages[0].uid, MailMessageFlags.FLAGGED, True)
    box.move(messages[0].uid, 'Archive')
    box.folder.set('Archive')
    assert len(list(box.fetch(AND(flagged=True)))) == 1
`;

/** The clients that are not ours. */
export const CLIENTS: readonly Client[] = [
  {
    name: 'imapflow over TLS and STARTTLS',
    programs: ['openssl'],
    async run({ imapPort, user, password, tls }) {
      for (const secure of [true, false]) {
        const client = new ImapFlow({
          host: '127.0.0.1',
          port: imapPort,
          secure,
          logger: false,
          auth: { user, pass: password },
          ...(!secure && { doSTARTTLS: true }),
          tls: { ca: readFileSync(tls.cert) },
        });
        await client.connect();
        await client.mailboxOpen('INBOX');
        assert.match(
          String(((await client.fetchOne('1', { source: true })) as { source: Buffer }).source),
          /Cannot log in/,
        );
        await client.logout();
      }
    },
  },
  {
    name: 'node-imap',
    programs: [],
    async run({ imapPort, user, password }) {
      const Imap = createRequire(import.meta.url)('node-imap');
      const imap = new Imap({ user, password, host: '127.0.0.1', port: imapPort });
      const ready = once(imap, 'ready');
      imap.connect();
      await ready;
      const call = (name: string, ...args: unknown[]) =>
        new Promise<never>((resolve, reject) =>
          imap[name](...args, (error: unknown, result: never) => (error ? reject(error) : resolve(result))),
        );
      await call('openBox', 'INBOX', false);
      const found: number[] = await call('search', [['SUBJECT', 'Cannot log in']]);
      assert.ok(found.length > 0);
      await call('addFlags', found, ['\\Flagged']);
      await call('move', found[0], 'Archive');
      imap.end();
    },
  },
  {
    name: "Python's imaplib",
    programs: [PYTHON, 'openssl'],
    run: async (running) => {
      const { imapPort, user, password, tls } = running;
      await runProgram(running, PYTHON, ['-c', IMAPLIB, String(imapPort), user, password, tls.cert]);
    },
  },
  {
    name: 'python3-imap-tools',
    programs: [PYTHON],
    run: async (running) => {
      const { imapPort, user, password } = running;
      await runProgram(running, PYTHON, ['-c', IMAP_TOOLS, String(imapPort), user, password]);
    },
  },
  {
    name: 'curl',
    programs: ['curl'],
    async run(running) {
      const { imapPort, user, password, tls } = running;
      const login = ['--silent', '--show-error', '--user', `${user}:${password}`];
      const url = `imap://127.0.0.1:${imapPort}`;
      assert.match(await runProgram(running, 'curl', [...login, `${url}/INBOX;UID=1`]), /Cannot log in/);
      assert.match(await runProgram(running, 'curl', [...login, `${url}/`]), /LIST .*Archive/);
      assert.match(await runProgram(running, 'curl', [...login, `${url}/INBOX?SUBJECT%20log`]), /SEARCH 1/);
      writeFileSync(join(running.folder, 'mail.eml'), 'Subject: By curl\r\n\r\nx\r\n');
      const secure = [...login, '--cacert', tls.cert];
      await runProgram(running, 'curl', [
        ...secure,
        '--ssl-reqd',
        '-T',
        'mail.eml',
        `imap://localhost:${imapPort}/Drafts`,
      ]);
      assert.match(
        await runProgram(running, 'curl', [...secure, `imaps://localhost:${imapPort}/INBOX;UID=1`]),
        /Cannot/,
      );
    },
  },
  {
    name: 'mutt',
    programs: ['mutt', 'script'],
    async run(running) {
      const { imapPort, user, password, folder } = running;
      const settings = [
        `set folder=imap://127.0.0.1:${imapPort}/ spoolfile=+INBOX imap_user='${user}' imap_pass='${password}'`,
        'set ssl_starttls=no ssl_force_tls=no header_cache= record= sleep_time=0 delete=yes confirmappend=no quit=yes',
        `push '<first-entry><save-message>=Archive<enter><sync-mailbox><quit>'`,
      ];
      writeFileSync(join(folder, 'muttrc'), `${settings.join('\n')}\n`);
      await runProgram(running, 'script', ['-qec', 'TERM=xterm mutt -F muttrc', '/dev/null']);
      assert.equal(await messagesIn(running, 'Archive'), 1);
      assert.equal(await messagesIn(running, 'INBOX'), 1);
    },
  },
  {
    name: 'mbsync with 1,000 messages both ways',
    programs: ['mbsync'],
    async run(running) {
      const { imapPort, user, password, folder } = running;
      await fill(running, 500);
      for (const name of ['INBOX', 'INBOX/cur', 'INBOX/new', 'INBOX/tmp'])
        mkdirSync(join(folder, 'mail', name), { recursive: true });
      for (let number = 0; number < 500; number += 1) {
        writeFileSync(
          join(folder, 'mail/INBOX/new', `${number}.x.y`),
          `From: c@d.test\nSubject: Local ${number}\n\nText\n`,
        );
      }
      const settings = [
        ...[
          'IMAPAccount a',
          'Host 127.0.0.1',
          `Port ${imapPort}`,
          `User ${user}`,
          `Pass "${password}"`,
          'SSLType None',
          'AuthMechs LOGIN',
          '',
        ],
        ...['IMAPStore far', 'Account a', ''],
        ...['MaildirStore near', `Path ${folder}/mail/`, `Inbox ${folder}/mail/INBOX`, ''],
        ...['Channel c', 'Far :far:', 'Near :near:', 'Patterns INBOX', 'Create Near', 'Sync All', 'SyncState *', ''],
      ];
      writeFileSync(join(folder, 'mbsyncrc'), settings.join('\n'));
      const count = () =>
        ['cur', 'new'].reduce((sum, name) => sum + readdirSync(join(folder, 'mail/INBOX', name)).length, 0);
      await runProgram(running, 'mbsync', ['-c', 'mbsyncrc', '-a']);
      assert.deepEqual([count(), await messagesIn(running, 'INBOX')], [1_002, 1_002]);
      await runProgram(running, 'mbsync', ['-c', 'mbsyncrc', '-a']);
      assert.deepEqual([count(), await messagesIn(running, 'INBOX')], [1_002, 1_002]);
    },
  },
  {
    name: 'fetchmail',
    programs: ['fetchmail'],
    async run(running) {
      const { imapPort, user, password, folder } = running;
      const server = `poll 127.0.0.1 protocol imap service ${imapPort} user "${user}" password "${password}"`;
      const line = `${server} keep fetchall sslproto '' mda "/bin/sh -c 'cat >> ${folder}/fetched'"\n`;
      writeFileSync(join(folder, 'fetchmailrc'), line, { mode: 0o600 });
      await runProgram(running, 'fetchmail', ['-f', 'fetchmailrc', '--pidfile', join(folder, 'pid')]);
      assert.equal(readFileSync(join(folder, 'fetched'), 'utf8').match(/^Subject: /gm)?.length, 2);
    },
  },
  {
    name: 'nodemailer',
    programs: ['openssl'],
    async run(running) {
      const { smtpPort, user, password, tls } = running;
      for (const options of [{ ignoreTLS: true }, { requireTLS: true }, { secure: true }]) {
        const subject = `By nodemailer, ${Object.keys(options)[0]}`;
        const auth = { user, pass: password };
        const smtp = createTransport({
          host: '127.0.0.1',
          port: smtpPort,
          auth,
          tls: { ca: readFileSync(tls.cert) },
          ...options,
        });
        await smtp.sendMail({ from: user, to: 'dana@customer.test', subject, text: 'x' });
        smtp.close();
        await checkSent(running, subject);
      }
    },
  },
  {
    name: 'swaks',
    programs: ['swaks'],
    async run(running) {
      const { smtpPort, user, password } = running;
      const login = [
        '--server',
        '127.0.0.1',
        '--port',
        String(smtpPort),
        '--auth-user',
        user,
        '--auth-password',
        password,
      ];
      const mail = ['--from', user, '--to', 'dana@customer.test'];
      for (const options of [
        ['--auth', 'PLAIN'],
        ['--auth', 'LOGIN'],
        ['--auth', 'PLAIN', '--tls'],
      ]) {
        const subject = `By swaks ${options.join(' ')}`;
        await runProgram(running, 'swaks', [...login, ...mail, ...options, '--header', `Subject: ${subject}`]);
        await checkSent(running, subject);
      }
    },
  },
];
