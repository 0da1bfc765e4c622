import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Dovecot, HAS_DOVECOT } from '../imap/dovecot.ts';
import { atMostTimes, compare, type Row, type Sample } from './measure.ts';
import { buildOurs, findFreePort, startPeer, withFlags } from './peers.ts';

const LARGE = 10_000;
const SMALL = 1_000;
const HELPDESK = 'ac3e0000-0003-4000-8000-000000000001';
const ROUNDS = { rounds: 11, warmUp: 2 };

/** A server with the mail of one user. */
interface Imap {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Makes it forget what it has computed of the mails. */
  forget(): Promise<unknown>;
}

/** Reads over IMAP, compared with Dovecot, which serves the same files; without Dovecot, or without root, nothing. */
export async function benchImap(): Promise<Row[]> {
  if (!HAS_DOVECOT || process.getuid?.() !== 0) return [];
  using dovecot = new Dovecot();
  fill(dovecot.maildir, LARGE);
  using few = new Dovecot();
  fill(few.maildir, SMALL);
  await using ours = await serve(dovecot.maildir);
  await using oursSmall = await serve(few.maildir);
  const port = await findFreePort();
  await dovecot.listen(port);
  const theirs: Imap = {
    port,
    user: 'somebody',
    password: 'x',
    async forget() {
      for (const name of readdirSync(dovecot.maildir)) {
        if (name.startsWith('dovecot')) rmSync(join(dovecot.maildir, name), { recursive: true });
      }
    },
  };
  const [first, small] = [await compare(read(ours, true), read(theirs, true), ROUNDS), read(oursSmall, true)];
  const later = await compare(read(ours), read(theirs), ROUNDS);
  const growth = await compare(read(ours, true), async () => (await small()) * (LARGE / SMALL), ROUNDS);
  const polls = await compare(poll(ours), poll(theirs), { rounds: 50, warmUp: 5 });
  const what = `flags and envelopes of ${LARGE} messages`;
  return [
    atMostTimes(5, `IMAP, ${what}: first read ÷ Dovecot`, first),
    atMostTimes(2, `IMAP, ${what}: later reads ÷ Dovecot`, later),
    atMostTimes(1.5, `IMAP, ${what}: first read ÷ ${LARGE / SMALL} of ${SMALL}`, growth),
    atMostTimes(1.5, 'IMAP, LOGIN, SELECT, SEARCH UNSEEN, LOGOUT ÷ Dovecot', polls),
  ];
}

function fill(maildir: string, count: number): void {
  for (const name of ['cur', 'new', 'tmp']) mkdirSync(join(maildir, name), { recursive: true, mode: 0o777 });
  for (let number = 0; number < count; number += 1) {
    const lines = [
      ...[`From: Sender ${number % 500} <sender${number % 500}@customer.test>`, 'To: Help <helpdesk@acme.test>'],
      ...[`Subject: Question ${number}`, `Message-ID: <question-${number}@customer.test>`],
      ...['Date: Tue, 6 Jan 2026 10:00:00 +0000', 'MIME-Version: 1.0', 'Content-Type: text/plain; charset=utf-8', ''],
      `This is question ${number}. `.padEnd(500, 'Some words to read. '),
    ];
    writeFileSync(join(maildir, 'cur', `${1_700_000_000 + number}.M1.host:2,`), `${lines.join('\n')}\n`);
  }
}

/** Starts our server with the mails of a Maildir. */
async function serve(maildir: string): Promise<Imap & AsyncDisposable> {
  const port = await findFreePort();
  const peer = await withFlags(await buildOurs(), '--mail', join(maildir, 'cur'), '--imap-port', String(port));
  const child = await startPeer(peer);
  const url = `http://127.0.0.1:${peer.port}`;
  const inbox = await fetch(`${url}/v1/inboxes/${HELPDESK}`, { headers: peer.headers() });
  const { canonicalEmail: user, imapPassword: password } = (await inbox.json()) as Record<string, string>;
  return {
    port,
    user: String(user),
    password: String(password),
    forget: () => fetch(`${url}/__mock/reset`, { method: 'POST' }),
    async [Symbol.asyncDispose]() {
      child.kill();
    },
  };
}

/** Samples the microseconds from the command to its reply. */
function read(server: Imap, isFirst = false): Sample {
  return async () => {
    if (isFirst) await server.forget();
    const client = await logIn(server);
    const took = await client.time('FETCH 1:* (FLAGS ENVELOPE)');
    client.end();
    return took;
  };
}

/** Samples the microseconds of a whole session. */
function poll(server: Imap): Sample {
  return async () => {
    const startedAt = performance.now();
    const client = await logIn(server);
    for (const command of ['SEARCH UNSEEN', 'LOGOUT']) await client.time(command);
    client.end();
    return (performance.now() - startedAt) * 1000;
  };
}

/** Connects, and opens INBOX. */
async function logIn({ port, user, password }: Imap) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let end = '';
  let until = /^\* (OK)/;
  let told = () => {};
  socket.on('data', (chunk: Buffer) => {
    end = (end + chunk.toString('latin1', Math.max(0, chunk.length - 500))).slice(-500);
    const [, result] = until.exec(end) ?? [];
    if (result === 'OK') told();
    else if (result) socket.destroy();
  });
  const wait = () =>
    new Promise<void>((resolve, reject) => {
      told = resolve;
      socket.once('error', reject).once('close', () => reject(new Error(`The server has ended after ${end}.`)));
    });
  await wait();
  let count = 0;
  const time = async (command: string) => {
    count += 1;
    until = new RegExp(`^t${count} (\\w+)`, 'm');
    const startedAt = performance.now();
    socket.write(`t${count} ${command}\r\n`);
    await wait();
    return (performance.now() - startedAt) * 1000;
  };
  await time(`LOGIN ${user} "${password}"`);
  await time('SELECT INBOX');
  return { time, end: () => socket.destroy() };
}
