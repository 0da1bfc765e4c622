import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { MAX_BUFFERED_BYTES } from '../../../src/contract/stream-protocol.ts';
import { IDS } from '../../support/ids.ts';
import { watchForCrashes } from '../../support/raw-http.ts';
import { expectServed, frameOf, listen, openRawStream } from '../../support/served-streams.ts';

watchForCrashes();

const { helpdesk } = IDS.acme.inboxes;
const MIB = 1024 * 1024;

test('a client that does not read is cut off, and what waits for it is bounded', async () => {
  await using server = await startServer({ port: 0 });
  await using quick = await listen(server);
  await using slow = await listen(server);
  slow.socket.pause();
  const subject = 'x'.repeat(64 * 1024);
  const isRead = async () => {
    server.mailbox.trigger('message.received', { inboxId: helpdesk, subject });
    await quick.next('event');
  };
  // More than what the sockets of a system hold, many times over.
  for (let sent = 0; sent < 32 * MIB; sent += subject.length) await isRead();
  slow.socket.resume();
  const { code } = await slow.closed;
  expect(code).toBe(4429);
  const received = slow.frames.length * subject.length;
  expect(received).toBeLessThan(24 * MIB);
  expect(await quick.news()).toEqual([]);
  await expectServed(server);
});

test('a client that reads slowly, but reads, is told everything', async () => {
  await using server = await startServer({ port: 0 });
  await using client = await listen(server);
  const subject = 'x'.repeat(MAX_BUFFERED_BYTES / 8);
  for (let round = 0; round < 10; round += 1) {
    client.socket.pause();
    for (let left = 4; left > 0; left -= 1) server.mailbox.trigger('message.received', { inboxId: helpdesk, subject });
    client.socket.resume();
    for (let left = 4; left > 0; left -= 1) expect((await client.next('event')).message.subject).toBe(subject);
  }
});

test('an event larger than what may wait is told to a client that reads', async () => {
  await using server = await startServer({ port: 0 });
  await using client = await listen(server);
  const subject = 'x'.repeat(MAX_BUFFERED_BYTES * 3);
  server.mailbox.trigger('message.received', { inboxId: helpdesk, subject });
  expect((await client.next('event')).message.subject).toHaveLength(subject.length);
  await expectServed(server);
});

test('a client that asks without reading the answers is cut off, and what waits for it is bounded', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openRawStream(server);
  connection.socket.pause();
  const asked = Buffer.concat(Array.from({ length: 2_000 }, () => frameOf('{}')));
  for (let left = 200; left > 0; left -= 1) await connection.send(asked);
  await expectServed(server);
  connection.socket.resume();
  connection.socket.end();
  await connection.over();
  expect(connection.socket.bytesRead).toBeLessThan(16 * MIB);
});

test('a client that pings without reading the pongs is cut off', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openRawStream(server);
  connection.socket.pause();
  const pings = Buffer.concat(Array.from({ length: 2_000 }, () => frameOf('x'.repeat(125), { opcode: 9 })));
  const flood = async () => {
    for (let left = 200; left > 0; left -= 1) await connection.send(pings);
  };
  await flood().catch(() => {});
  await expectServed(server);
  connection.socket.resume();
  connection.socket.end();
  await connection.over();
  expect(connection.socket.bytesRead).toBeLessThan(16 * MIB);
});
