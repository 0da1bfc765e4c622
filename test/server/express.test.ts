import type { RequestListener } from 'node:http';
import { createMailboxMiddleware, type MailboxMiddleware } from 'agent-mailbox-mock/express';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import express, { type Express } from 'express';
import { expect, test } from 'vitest';
import { serve } from '../support/serve.ts';

const WEBHOOK = { url: 'https://agent.example/é', events: ['message.received'] };

/** Starts an application and returns a function that calls it with a key. */
async function start(app: Express) {
  const server = await serve(app as RequestListener);
  const call = (path: string, body?: string, headers: Record<string, string> = { 'X-API-Key': 'tk_acme_tenant_key' }) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: body ?? null,
    });
  return Object.assign(call, { [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() });
}

test.for<[where: string, prefix: string, mount: (middleware: MailboxMiddleware) => Express]>([
  ['at the root', '', (middleware) => express().use(middleware)],
  ['under a prefix', '/mail', (middleware) => express().use('/mail', middleware)],
  ['in a router', '/a/b', (middleware) => express().use('/a', express.Router().use('/b', middleware))],
  ['after express.json()', '', (middleware) => express().use(express.json(), middleware)],
  ['after express.raw()', '', (middleware) => express().use(express.raw({ type: '*/*' }), middleware)],
  ['after express.text()', '', (middleware) => express().use(express.text({ type: '*/*' }), middleware)],
])('express serves a mailbox %s', async ([, prefix, mount]) => {
  await using call = await start(mount(createMailboxMiddleware()));
  const created = await call(`${prefix}/v1/webhooks`, JSON.stringify(WEBHOOK));
  expect([created.status, await created.json()]).toMatchObject([201, WEBHOOK]);
  const list = await call(`${prefix}/v1/webhooks?other=1`);
  expect([list.status, list.headers.get('x-mock-assumed')]).toEqual([200, 'webhooks.list.order']);
  expect((await call(`${prefix}/v1/webhooks`, undefined, {})).status).toBe(401);
  expect((await call(`${prefix}/v1/webhooks`, '')).status).toBe(400);
  expect((await call(`${prefix}/v1/ws`)).status).toBe(426);
});

test('express keeps every other path for itself, the control plane included', async () => {
  const app = express().use(createMailboxMiddleware());
  app.use((request, response) => void response.send(`own ${request.path}`));
  await using call = await start(app);
  const paths = ['/', '/v10', '/healthy', '/__mock/reset', '//v1/webhooks', '/page?path=/v1/webhooks'];
  const replies = await Promise.all(paths.map(async (path) => (await call(path)).text()));
  expect(replies).toEqual(paths.map((path) => `own ${path.split('?')[0]}`));
});

test('express refuses a body that is too large, and answers the next request', async () => {
  await using call = await start(express().use(createMailboxMiddleware()));
  expect((await call('/v1/webhooks', 'x'.repeat(3 * 1024 * 1024))).status).toBe(413);
  expect((await call('/v1/webhooks')).status).toBe(200);
});

test('two middlewares have nothing in common', async () => {
  const [first, second] = [createMailboxMiddleware(), createMailboxMiddleware()];
  await using call = await start(express().use('/first', first).use('/second', second));
  await call('/first/v1/webhooks', JSON.stringify(WEBHOOK));
  const count = async (path: string) => (await (await call(path)).json()).webhooks.length;
  expect([await count('/first/v1/webhooks'), await count('/second/v1/webhooks')]).toEqual([3, 2]);
  first.mailbox.reset();
  expect(await count('/first/v1/webhooks')).toBe(2);
});

test('the mailbox of a middleware delivers webhooks', async () => {
  const middleware = createMailboxMiddleware();
  await using receiver = createReceiver();
  await using call = await start(express().use(middleware));
  const created = await call('/v1/webhooks', JSON.stringify({ ...WEBHOOK, url: await receiver.listen() }));
  receiver.secret = (await created.json()).secret;
  await middleware.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'a@b.test', subject: 'Hi' });
  const [request] = await receiver.received(1);
  expect([request?.verified, request?.json]).toMatchObject([true, { subject: 'Hi' }]);
});

test('a middleware takes a fixture and behaviours, and checks them', () => {
  const { mailbox } = createMailboxMiddleware({ fixtures: { tenants: { own: {} } } });
  expect(mailbox.keys.own.tenant).toMatch(/^tk_/);
  expect(() => createMailboxMiddleware({ behaviours: { 'no.such': 'x' } as never })).toThrow('There is no behaviour');
});
