import type { Socket } from 'node:net';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { startReceiver } from '../../src/verify/targets.ts';
import { verifyServer } from '../../src/verify/verify-server.ts';
import { type Fault, isService, keysOf, startProxy } from './proxy.ts';

/** Lets the first requests of the run pass, so that the run can begin. */
function after(count: number, fault: Fault): Fault {
  let passed = 0;
  return (incoming, response) => {
    if (!isService(incoming)) return false;
    passed += 1;
    return passed > count && incoming.method !== 'DELETE' && fault(incoming, response);
  };
}

test.for<[string, Fault]>([
  ['leaves requests unanswered', () => true],
  [
    'sends a reply byte by byte',
    (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{');
      return true;
    },
  ],
  [
    'answers each request with 502',
    (_, response) => {
      response.writeHead(502).end('{"error":"x"}');
      return true;
    },
  ],
])('a server that soon %s ends the run early, and nothing counts as agreeing', async ([, fault], context) => {
  await using server = await startServer({ port: 0 });
  let count = 0;
  const baseUrl = await startProxy(
    context,
    server,
    after(10, (...exchange) => {
      count += 1;
      return fault(...exchange);
    }),
  );
  const { findings, stopped } = await verifyServer({
    baseUrl,
    keys: keysOf(server),
    requestTimeoutMs: 2000,
    profile: {},
  });
  expect(stopped).toMatch(/were not answered|answered with 502/);
  // Some of these delete what was created, and look whether it is gone.
  expect(count).toBeLessThanOrEqual(30);
  expect(findings.length).toBeGreaterThan(150);
  expect(findings.filter(({ verdict }) => verdict === 'agrees')).toEqual([]);
});

test.for<[string, Fault]>([
  ['answers HTML', (_, response) => Boolean(response.setHeader('Content-Type', 'text/html').end('<p>Hello</p>'))],
  [
    'closes connections',
    (incoming) => {
      incoming.socket.destroy();
      return true;
    },
  ],
])('a server that soon %s agrees in nothing that it then answers', async ([, fault], context) => {
  await using server = await startServer({ port: 0 });
  const baseUrl = await startProxy(context, server, after(10, fault));
  const { findings } = await verifyServer({ baseUrl, keys: keysOf(server), requestTimeoutMs: 2000, profile: {} });
  // The proxy lets DELETE pass, so that the run can delete what it has created.
  const agreeing = findings.filter(({ verdict, id }) => verdict === 'agrees' && !id.startsWith('delete'));
  expect(agreeing.map(({ id }) => id)).toEqual([]);
});

test('a run ends in its time, and says what was compared', async () => {
  await using server = await startServer({ port: 0 });
  const { findings, stopped, left } = await verifyServer({
    baseUrl: server.url,
    keys: keysOf(server),
    timeoutMs: 1000,
  });
  expect(stopped).toBe('the time of the run, 1 s, has passed');
  expect(findings.at(-1)).toMatchObject({ verdict: 'not compared', found: stopped });
  expect(left).toEqual([]);
});

test.for<[string, (socket: Socket) => void]>([
  ['leaves handshakes unanswered', () => {}],
  ['closes handshakes', (socket) => socket.destroy()],
])('streams are not compared through a proxy that %s, and everything else is', async ([, onUpgrade], context) => {
  await using server = await startServer({ port: 0 });
  const baseUrl = await startProxy(context, server, undefined, onUpgrade);
  const { findings, stopped } = await verifyServer({ baseUrl, keys: keysOf(server), requestTimeoutMs: 2000 });
  expect(stopped).toBeUndefined();
  expect(findings.filter(({ verdict }) => verdict === 'differs')).toEqual([]);
  const ofStreams = findings.filter(({ id }) => id.startsWith('stream'));
  expect(new Set(ofStreams.map(({ verdict }) => verdict))).toEqual(new Set(['not compared']));
});

test('a delivery that is too large is not read to its end, and too many deliveries are refused', async (context) => {
  const receiver = await startReceiver(0);
  context.onTestFinished(receiver.close);
  const { url, calls } = receiver.forServer('webhook');
  const deliver = async (body: string) => {
    const response = await fetch(url, { method: 'POST', body }).catch(() => undefined);
    return response?.status;
  };
  expect(await deliver('x'.repeat(5 * 1024 * 1024))).toBeUndefined();
  expect(calls).toEqual([]);
  const statuses = await Promise.all(Array.from({ length: 1001 }, () => deliver('{}')));
  expect(statuses.filter((status) => status !== 200)).toEqual([429]);
  expect(calls.length).toBe(1000);
});
