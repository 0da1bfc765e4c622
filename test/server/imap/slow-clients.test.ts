import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createMailbox } from 'agent-mailbox-mock';
import { describe, expect, type TestContext, test } from 'vitest';
import { loginOf } from '../../support/imap-server.ts';
import { talkTo } from '../../support/imap-talk.ts';
import { startCommand } from '../../support/processes.ts';
import { send } from '../../support/send.ts';

const MIB = 1024 * 1024;

/** By how much the memory of the process may grow. */
const MAX_GROWTH = 64 * MIB;

/** Starts a server with a heap of 256 MB, and returns what tests do with it. */
async function startSmall(context: TestContext) {
  const { running, ready } = await startCommand(context, ['--imap-port', '0'], {
    NODE_OPTIONS: '--max-old-space-size=256',
  });
  const readMemory = () => {
    const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${running.child.pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1024;
  };
  const port = Number(running.stdout.match(/"imap":\{"port":(\d+)\}/)?.[1]);
  const { user, password } = loginOf({ mailbox: createMailbox() });
  const login = `LOGIN ${user} "${password}"`;
  const sockets: Socket[] = [];
  context.onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  let [before, peak] = [0, 0];
  return {
    /** Lets a mail arrive. */
    receive: (mail: object) => send(`${ready.control}/messages`, 'POST', { json: { to: user, ...mail } }),
    /** Opens a session that sends commands, waits for a reply, and then reads nothing more. */
    async openSlow(commands: string, reply: RegExp): Promise<Socket> {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      socket.write(`l ${login}\r\n${commands}`);
      let received = '';
      while (!reply.test(received)) received += String((await once(socket, 'data'))[0]);
      socket.pause();
      return socket;
    },
    async openQuick() {
      const talk = await talkTo(port);
      context.onTestFinished(() => talk[Symbol.dispose]());
      await talk.ok(login);
      return talk;
    },
    startMeasuring: () => {
      before = readMemory();
    },
    /** Measures the memory, while HTTP is served. */
    async measure() {
      expect((await send(`${ready.control}/health`, 'GET', {})).status).toBe(200);
      peak = Math.max(peak, readMemory());
    },
    growth: () => peak - before,
  };
}

describe.skipIf(process.platform !== 'linux')('with a heap of 256 MB, IMAP', () => {
  test('has 200 idle sessions that do not read, and serves others', async (context) => {
    const small = await startSmall(context);
    for (let count = 0; count < 100; count += 1) {
      expect((await small.receive({ from: 'a@customer.test', subject: `Mail ${count}`, plainBody: 'x' })).status).toBe(
        200,
      );
    }
    const quick = await small.openQuick();
    await quick.ok('SELECT INBOX');
    const idle = () => small.openSlow('s SELECT INBOX\r\ni IDLE\r\n', /^\+ idling\r\n/m);
    for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 20 }, idle));
    small.startMeasuring();
    // The changes of a message take 7 kB. Without a limit, they would take 1.7 GB in all.
    const keywords = Array.from({ length: 80 }, (_, index) => `k${index}${'x'.repeat(85)}`).join(' ');
    for (let round = 0; round < 6; round += 1) {
      await quick.ok(`STORE 1:* +FLAGS.SILENT (${keywords})`);
      await small.measure();
      await quick.ok('STORE 1:* +FLAGS.SILENT (\\Flagged)');
      await small.measure();
      await quick.ok('STORE 1:* -FLAGS.SILENT (\\Flagged)');
      await small.measure();
    }
    expect(small.growth()).toBeLessThan(MAX_GROWTH);
  });

  test('has three clients that ask for the structure of a wide mail again and again, and read nothing', async (context) => {
    const small = await startSmall(context);
    const part =
      'Content-Type: text/plain; name="a file with a long name.txt"; charset=utf-8\r\nContent-ID: <x>\r\n\r\nx\r\n';
    const eml = `From: a@customer.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${`--b\r\n${part}`.repeat(8_000)}--b--\r\n`;
    expect((await small.receive({ eml })).status).toBe(200);
    const quick = await small.openQuick();
    await quick.ok('SELECT INBOX');
    const [structure = ''] = await quick.ok('FETCH 3 BODYSTRUCTURE');
    expect(structure.length).toBeGreaterThan(800_000);
    small.startMeasuring();
    const items = 'BODYSTRUCTURE '.repeat(560).trim();
    for (let count = 0; count < 3; count += 1) {
      await small.openSlow(`s SELECT INBOX\r\nf FETCH 3 (${items})\r\n`, /\* 3 FETCH/);
    }
    for (let round = 0; round < 20; round += 1) {
      await quick.ok('FETCH 3 BODYSTRUCTURE');
      await small.measure();
    }
    expect(small.growth()).toBeLessThan(MAX_GROWTH);
  });

  test('has 40 clients that read nothing of a large mail', async (context) => {
    const small = await startSmall(context);
    const eml = `From: a@customer.test\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(90_000)}`;
    expect((await small.receive({ eml })).status).toBe(200);
    const quick = await small.openQuick();
    await quick.ok('SELECT INBOX');
    await quick.ok('FETCH 3 BODY.PEEK[]');
    small.startMeasuring();
    for (let round = 0; round < 10; round += 1) {
      const open = () => small.openSlow('s SELECT INBOX\r\nf FETCH 3 BODY.PEEK[]\r\n', /\* 3 FETCH/);
      await Promise.all(Array.from({ length: 4 }, open));
      await quick.ok('FETCH 3 BODY.PEEK[HEADER]');
      await small.measure();
    }
    expect(small.growth()).toBeLessThan(MAX_GROWTH);
  });
});
