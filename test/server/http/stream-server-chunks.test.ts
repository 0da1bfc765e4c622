import { once } from 'node:events';
import { connect } from 'node:net';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { request, watchForCrashes } from '../../support/raw-http.ts';
import { cutAt } from '../../support/replayed-imap.ts';
import { frameOf, KEY, upgrade } from '../../support/served-streams.ts';

watchForCrashes();

/** A handshake and frames: with UTF-8, of several lengths, in fragments with a ping between them, and a close. */
const BYTES = Buffer.concat([
  Buffer.from(request('GET /v1/ws', [KEY, ...upgrade()])),
  frameOf('{"type":"subscribe","inbox_ids":["€😀"]}'),
  frameOf(JSON.stringify({ type: 'subscribe', event_types: Array(10).fill('message.received') })),
  frameOf('{"type":"subs', { final: false }),
  frameOf('ping €', { opcode: 9 }),
  frameOf('cribe"}', { opcode: 0 }),
  frameOf('not JSON'),
  frameOf(Buffer.from([0, 1, 2]), { opcode: 2 }),
  frameOf(Buffer.from([3, 0xe8]), { opcode: 8 }),
]);

/** Sends chunks; returns everything that was received until the server ended the connection. */
async function play({ port }: MailboxServer, chunks: readonly Buffer[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let received = '';
  socket.on('data', (data) => {
    received += data.toString('latin1');
  });
  const ended = once(socket, 'end');
  for (const chunk of chunks) {
    socket.write(chunk);
    await new Promise(setImmediate);
  }
  await ended;
  socket.destroy();
  return received;
}

test('every way of cutting the handshake and the frames gives the same replies', async () => {
  await using server = await startServer({ port: 0 });
  const whole = await play(server, [BYTES]);
  expect(whole.match(/"type":"(?:connected|subscribed|error)"/g)).toHaveLength(6);
  for (let at = 1; at < BYTES.length; at += 1) {
    expect([at, await play(server, cutAt(BYTES, [at]))]).toEqual([at, whole]);
  }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(BYTES.length), { maxLength: 20 }), async (positions) => {
      expect(await play(server, cutAt(BYTES, positions))).toBe(whole);
    }),
    { numRuns: 50 },
  );
  expect(await play(server, cutAt(BYTES, [...BYTES.keys()]))).toBe(whole);
});
