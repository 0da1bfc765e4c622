import { createReceiver } from 'agent-mailbox-mock/receiver';
import type { MailboxServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { createHttpServer, type TimeLimits } from '../../../src/server/http/http-server.ts';
import { createBareApp } from '../../support/bare-app.ts';
import { openConnection, request, watchForCrashes, within } from '../../support/raw-http.ts';
import { chunked, expectError, expectNoHarm, KEY, type Served, webhookOf } from '../../support/wrong-clients.ts';

watchForCrashes();

const MIB = 1024 * 1024;

/** A server that is as patient as a test wants it. */
async function startWithLimits(
  limits: Partial<TimeLimits>,
): Promise<Served & Pick<MailboxServer, 'close'> & AsyncDisposable> {
  const { app, mailbox } = createBareApp();
  const { listen, close } = createHttpServer(app, {
    requestMs: 60_000,
    idleMs: 60_000,
    checkMs: 20,
    closeMs: 0,
    ...limits,
  });
  return { mailbox, port: await listen(0, '127.0.0.1'), close, [Symbol.asyncDispose]: close };
}

test.each([
  ['sends nothing', ''],
  ['stops in the request line', 'GET /hea'],
  ['stops in its head', 'POST /v1/webhooks HTTP/1.1\r\nHost: localhost\r\n'],
  ['stops in its body', request('POST /v1/webhooks', [KEY, 'Content-Length: 9999'], webhookOf(500))],
  ['stops in its chunks', request('POST /v1/webhooks', [KEY, 'Transfer-Encoding: chunked'], chunked(webhookOf(500)))],
])('a client that %s is told so and cut off', async (_, text) => {
  await using server = await startWithLimits({ requestMs: 1_000 });
  await expectNoHarm(server, async () => {
    await using connection = await openConnection(server);
    if (text) await connection.send(text);
    expectError(server, await connection.reply(), 408, 'REQUEST_TIMEOUT');
    await connection.over();
  });
});

test('a client that sends a little now and then is cut off', async () => {
  await using server = await startWithLimits({ requestMs: 1_000 });
  await expectNoHarm(server, async () => {
    await using connection = await openConnection(server);
    await connection.send('GET /health HTTP/1.1\r\nHost: localhost\r\n');
    const drip = setInterval(() => connection.socket.write('X-Drip: x\r\n'), 20);
    expectError(server, await connection.reply(), 408, 'REQUEST_TIMEOUT');
    clearInterval(drip);
  });
});

test('a client that goes on sending a refused body is cut off without another reply', async () => {
  await using server = await startWithLimits({ requestMs: 2_000 });
  await expectNoHarm(server, async () => {
    await using connection = await openConnection(server);
    await connection.send(request('POST /v1/webhooks', [KEY, `Content-Length: ${9 * MIB}`]));
    expectError(server, await connection.reply(), 413, 'PAYLOAD_TOO_LARGE');
    const drip = setInterval(() => connection.socket.write('x'), 20);
    await expect(connection.reply()).rejects.toThrow('The connection ended after "".');
    clearInterval(drip);
  });
});

test('an idle connection is ended, before the time that Node would give it', async () => {
  await using server = await startWithLimits({ idleMs: 100 });
  await using connection = await openConnection(server);
  await connection.send(request('GET /health'));
  await connection.reply();
  await connection.over(4_000);
});

test('close() lets a request that is being answered have its reply', async () => {
  await using server = await startWithLimits({ closeMs: 60_000 });
  await using connection = await openConnection(server);
  const body = JSON.stringify({ url: 'http://127.0.0.1:9/', events: ['message.received'] });
  await connection.send(request('POST /v1/webhooks', [KEY, 'Expect: 100-continue', `Content-Length: ${body.length}`]));
  expect((await connection.reply()).status).toBe(100);
  const closed = server.close();
  await connection.send(body);
  expect((await connection.reply()).status).toBe(201);
  connection.socket.end();
  await within(closed);
});

test('a control call may take longer than a connection may be idle', async () => {
  await using server = await startWithLimits({ requestMs: 100 });
  await using receiver = createReceiver({ answers: ['timeout'] });
  const webhook = { url: await receiver.listen(), events: ['message.received'] };
  const headers = { 'X-API-Key': server.mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
  const url = `http://127.0.0.1:${server.port}`;
  await fetch(`${url}/v1/webhooks`, { method: 'POST', headers, body: JSON.stringify(webhook) });
  server.mailbox.trigger('message.received');
  const settle = { method: 'POST', headers, body: '{"timeout":"1s"}' };
  const reply = await fetch(`${url}/__mock/settle`, settle);
  expect([reply.status, (await reply.json()).error]).toEqual([
    409,
    expect.stringContaining('Not settled after 1000 ms'),
  ]);
});
