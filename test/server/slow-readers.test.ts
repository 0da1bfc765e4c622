import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, type TestContext, test } from 'vitest';
import { startCommand } from '../support/processes.ts';
import { request } from '../support/raw-http.ts';
import { send } from '../support/send.ts';
import { frameOf, KEY, upgrade } from '../support/served-streams.ts';
import { openSocket } from '../support/stream-client.ts';

const MIB = 1024 * 1024;

/** By how much the memory may grow. */
const MAX_GROWTH = 64 * MIB;

/** Starts a server with a heap of 256 MB, and measures its memory. */
async function startSmall(context: TestContext, args: readonly string[] = []) {
  const { running, ready } = await startCommand(context, args, { NODE_OPTIONS: '--max-old-space-size=256' });
  const readMemory = () => {
    const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${running.child.pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1024;
  };
  let [before, peak] = [0, 0];
  return {
    ready,
    port: Number(new URL(ready.url).port),
    control: (method: string, path: string, json?: object) => send(ready.control + path, method, { json }),
    /** Measures from here. What runs once, such as compiling, has run before. */
    startMeasuring: () => {
      before = readMemory();
    },
    measure: () => {
      peak = Math.max(peak, readMemory());
    },
    growth: () => peak - before,
  };
}

/** Opens connections that send bytes, wait for the first bytes of the reply, and then read nothing. */
async function openSlowClients(context: TestContext, port: number, bytes: Uint8Array | string, count: number) {
  const sockets: Socket[] = [];
  context.onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  while (sockets.length < count) {
    const opened = Array.from({ length: Math.min(50, count - sockets.length) }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      socket.write(bytes);
      await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
    });
    await Promise.all(opened);
  }
  return sockets;
}

const MAIL = { to: 'helpdesk@acme.test', from: 'dana@customer.test', plainBody: 'x'.repeat(64 * 1024) };

describe.skipIf(process.platform !== 'linux')('a server with a heap of 256 MB', () => {
  test('has 1,000 WebSockets that do not read, and serves others', async (context) => {
    const small = await startSmall(context);
    await using quick = await openSocket(`${small.ready.url}/v1/ws`, { 'X-API-Key': KEY.slice('X-API-Key: '.length) });
    await quick.next('connected');
    await quick.subscribe();
    const subscription = [Buffer.from(request('GET /v1/ws', [KEY, ...upgrade()])), frameOf('{"type":"subscribe"}')];
    const sockets = await openSlowClients(context, small.port, Buffer.concat(subscription), 1_000);
    small.startMeasuring();
    // First more events than the system holds for the clients, then answers of which each client gets its own.
    for (let round = 0; round < 70; round += 1) {
      expect((await small.control('POST', '/messages', MAIL)).status).toBe(200);
      expect(await quick.next('event')).toMatchObject({ message: { from: MAIL.from } });
      small.measure();
    }
    const questions = Buffer.concat(Array.from({ length: 300 }, () => frameOf('{}')));
    for (const [index, socket] of sockets.entries()) {
      socket.write(questions);
      if (index % 50 > 0) continue;
      await quick.news();
      small.measure();
    }
    await quick.news();
    small.measure();
    expect(small.growth()).toBeLessThan(MAX_GROWTH);
    await small.control('POST', '/messages', { ...MAIL, subject: 'Last' });
    expect(await quick.next('event')).toMatchObject({ message: { subject: 'Last' } });
  });

  test('has 500 readers of the feed that do not read, and serves others', async (context) => {
    const small = await startSmall(context);
    const feed = request('GET /__mock/feed');
    await openSlowClients(context, small.port, feed, 500);
    small.startMeasuring();
    // An event about a fault contains the fault.
    const fault = { on: 'request', status: 503, body: { text: 'x'.repeat(48 * 1024) } };
    for (let round = 0; round < 100; round += 1) {
      const { status, text } = await small.control('POST', '/faults', fault);
      expect(status, text).toBe(200);
      small.measure();
    }
    expect(small.growth()).toBeLessThan(MAX_GROWTH);
  });

  test('has 500 clients that do not read a large mail, and serves others', async (context) => {
    const small = await startSmall(context);
    const eml = `From: dana@customer.test\r\nSubject: Large\r\n\r\n${'x\r\n'.repeat(2 * MIB)}`;
    const { json } = await small.control('POST', '/messages', { eml, to: MAIL.to });
    const [{ inboxId, id }] = json.messages;
    const raw = request(`GET /v1/inboxes/${inboxId}/messages/${id}/raw`, [KEY]);
    small.startMeasuring();
    for (let round = 0; round < 100; round += 1) {
      await openSlowClients(context, small.port, raw, 5);
      expect((await send(`${small.ready.url}/health`, 'GET', {})).status).toBe(200);
      small.measure();
    }
    // All replies together have 3 GB. Each is a copy that is collected some time after its connection was closed.
    expect(small.growth()).toBeLessThan(3 * MAX_GROWTH);
  });
});
