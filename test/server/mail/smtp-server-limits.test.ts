import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { expect, type TestContext, test } from 'vitest';
import { watchForCrashes } from '../../support/raw-http.ts';

watchForCrashes();

const MIB = 1024 * 1024;
const MAIL_HEAD = ['EHLO x', 'MAIL FROM:<a@b.test>', 'RCPT TO:<helpdesk@acme.test>'];

/** Starts a server whose timers run when the test says so. */
async function startWithTimers(context: TestContext) {
  const timers = new Map<symbol, { delayMs: number; callback: () => void }>();
  const server = await startServer({
    port: 0,
    smtpPort: 0,
    environment: {
      setTimer(delayMs, callback) {
        const id = Symbol('timer');
        timers.set(id, { delayMs, callback });
        return () => void timers.delete(id);
      },
      memory: () => ({ heapBytes: 256 * MIB, allBytes: Number.POSITIVE_INFINITY }),
    },
  });
  context.onTestFinished(() => server.close());
  return {
    server,
    /** Runs the timers that wait for such a time. */
    pass: (delayMs: number) => {
      for (const [id, timer] of [...timers]) {
        if (timer.delayMs !== delayMs) continue;
        timers.delete(id);
        timer.callback();
      }
    },
  };
}

/** Opens a connection of which everything received is kept. */
async function open(context: TestContext, { smtp }: Pick<MailboxServer, 'smtp'>) {
  const socket = connect(smtp?.port ?? 0, '127.0.0.1')
    .setEncoding('utf8')
    .on('error', () => {});
  context.onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (data) => {
    received += data;
  });
  await once(socket, 'data');
  const until = async (pattern: RegExp) => {
    while (!pattern.test(received)) await Promise.race([once(socket, 'data'), once(socket, 'close').then(fail)]);
  };
  const fail = () => {
    throw new Error(`The connection ended after ${JSON.stringify(received)}.`);
  };
  return {
    socket,
    until,
    received: () => received,
    /** Sends lines one after another, and waits for the reply to each. */
    async lines(...lines: string[]) {
      for (const line of lines) {
        received = '';
        socket.write(`${line}\r\n`);
        await until(/^\d{3} .*\r\n$/m);
      }
      return received.trimEnd();
    },
  };
}

/** Resolves with the last line when the server has ended the connection. */
async function untilEnd({ socket, received }: { socket: Socket; received: () => string }): Promise<string> {
  if (!socket.readableEnded && !socket.destroyed) await once(socket, 'end');
  return received().trimEnd().split('\r\n').at(-1) ?? '';
}

test('room is not kept for what is announced: 60 connections that announce 10 MiB do not keep mail out', async (context) => {
  const { server } = await startWithTimers(context);
  const announce = async () => {
    const client = await open(context, server);
    await client.lines('EHLO x', `MAIL FROM:<a@b.test> SIZE=${10 * MIB}`, 'RCPT TO:<helpdesk@acme.test>', 'DATA');
    client.socket.write('x');
  };
  await Promise.all(Array.from({ length: 60 }, announce));
  const client = await open(context, server);
  await client.lines(...MAIL_HEAD, 'DATA');
  expect(await client.lines('Subject: Hi\r\n\r\nx\r\n.')).toMatch(/^250 /);
});

test('a client that neither logs in nor names a recipient is ended after a minute, whatever it sends', async (context) => {
  const { server, pass } = await startWithTimers(context);
  const [silent, busy, sender] = [
    await open(context, server),
    await open(context, server),
    await open(context, server),
  ];
  await busy.lines('EHLO x', 'NOOP', 'MAIL FROM:<a@b.test>', 'RSET', 'NOOP');
  await sender.lines(...MAIL_HEAD);
  pass(60_000);
  const reason = '421 4.7.0 You neither logged in nor named a recipient within a minute.';
  expect([await untilEnd(silent), await untilEnd(busy)]).toEqual([reason, reason]);
  expect(await sender.lines('NOOP')).toMatch(/^250 /);
});

test('a mail must arrive within five minutes, and each mail has its own time', async (context) => {
  const { server, pass } = await startWithTimers(context);
  const client = await open(context, server);
  await client.lines(...MAIL_HEAD, 'DATA', 'Subject: One\r\n\r\nx\r\n.');
  pass(300_000);
  await client.lines(...MAIL_HEAD.slice(1), 'DATA');
  client.socket.write('Subject: Two\r\n');
  pass(300_000);
  expect(await untilEnd(client)).toBe('421 4.7.0 A mail must arrive within 5 minutes.');
});

test('a mail that arrives too slowly ends its connection, and gives its room back', async (context) => {
  const { server, pass } = await startWithTimers(context);
  const slow = await open(context, server);
  await slow.lines(...MAIL_HEAD, 'DATA');
  slow.socket.write('Subject: Slow\r\n');
  pass(60_000);
  pass(30_000);
  expect(await untilEnd(slow)).toBe('421 4.7.0 The mail arrives too slowly.');
});

test('ten wrong logins end a connection', async (context) => {
  const { server } = await startWithTimers(context);
  const client = await open(context, server);
  await client.lines('EHLO x');
  const login = `AUTH PLAIN ${Buffer.from('\0helpdesk@acme.test\0wrong').toString('base64')}`;
  client.socket.write(`${login}\r\n`.repeat(50));
  expect(await untilEnd(client)).toBe('421 4.7.0 There were too many wrong logins.');
  expect(client.received().match(/^535 /gm)).toHaveLength(10);
  expect(server.mailbox.requests({ protocol: 'smtp' })).toHaveLength(10);
});

test('when 1,000 clients are connected, a new one takes the place of the oldest without a mail', async (context) => {
  const { server } = await startWithTimers(context);
  const sender = await open(context, server);
  await sender.lines(...MAIL_HEAD);
  const oldest = await open(context, server);
  const others = await Promise.all(Array.from({ length: 998 }, () => open(context, server)));
  const client = await open(context, server);
  expect(await untilEnd(oldest)).toBe('421 4.7.0 There are too many connections.');
  for (const each of [sender, client, others[0], others[997]]) expect(await each?.lines('NOOP')).toMatch(/^250 /);
  await client.lines(...MAIL_HEAD, 'DATA');
  expect(await client.lines('Subject: Hi\r\n\r\nx\r\n.')).toMatch(/^250 /);
  await sender.lines('DATA');
  expect(await sender.lines('Subject: Hi\r\n\r\nx\r\n.')).toMatch(/^250 /);
});
