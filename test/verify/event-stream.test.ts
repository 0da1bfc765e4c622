import type { AddressInfo } from 'node:net';
import { expect, type TestContext, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { openStream } from '../../src/verify/event-stream.ts';
import { sendInProcess } from '../../src/verify/targets.ts';
import { VerifySession } from '../../src/verify/verify-session.ts';

/** Opens a stream of a server that calls `onClient` with each client. */
async function openStreamOf(context: TestContext, onClient: (client: WebSocket) => void) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise<void>((resolve) => server.once('listening', resolve));
  server.on('connection', onClient);
  context.onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send = sendInProcess({ fetch: async () => new Response() });
  return await openStream(new VerifySession({ baseUrl, key: 'tk_acme_tenant_key', send }), '/v1/ws');
}

test('a frame that is no JSON object is a frame without a known type', async (context) => {
  const stream = await openStreamOf(context, (client) => {
    for (const text of ['hello', 'null', '[1', '{"type":"connected"}']) client.send(text);
  });
  await stream.waitForFrames('connected');
  expect(stream.frames.map(({ type }) => type)).toEqual(['no JSON', 'no object', 'no JSON', 'connected']);
  stream.close();
});

test('a stream that sends without an end is closed', async (context) => {
  const stream = await openStreamOf(context, (client) => {
    const write = () => {
      if (client.readyState === client.OPEN) client.send('{"type":"ping"}', () => setImmediate(write));
    };
    for (let count = 0; count < 100; count += 1) write();
  });
  await context.expect.poll(() => stream.closeCode()).toBeDefined();
  expect(stream.frames.length).toBe(10_000);
});
