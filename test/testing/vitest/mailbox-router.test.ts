import { createMailbox } from 'agent-mailbox-mock';
import { getResponse, HttpHandler } from 'msw';
import { expect, test } from 'vitest';
import { Interceptor } from '../../../src/testing/vitest/mailbox-router.ts';

/** An interceptor whose interception only notes its calls, with the number of handlers that it has then. */
function createInterceptor() {
  const calls: string[] = [];
  let handlers = 0;
  const interceptor = new Interceptor({
    start: () => calls.push('start'),
    stop: () => calls.push('stop'),
    resetHandlers: (...list) => {
      handlers = list.length;
    },
  });
  return { interceptor, calls, countHandlers: () => handlers };
}

const HANDLERS_OF_ONE = 3;

test('a base URL has one router, whose requests are intercepted until its last user releases it', async () => {
  const { interceptor, calls, countHandlers } = createInterceptor();
  const [first, second] = [await interceptor.acquire(undefined), await interceptor.acquire(undefined)];
  expect(second).toBe(first);
  expect([calls, countHandlers()]).toEqual([['start'], HANDLERS_OF_ONE]);
  interceptor.release(first);
  expect([calls, countHandlers()]).toEqual([['start'], HANDLERS_OF_ONE]);
  interceptor.release(second);
  expect([calls, countHandlers()]).toEqual([['start', 'stop'], 0]);
});

test('a base URL has the same router however it is written', async () => {
  const { interceptor, countHandlers } = createInterceptor();
  const router = await interceptor.acquire(undefined);
  for (const baseUrl of ['https://mailbox.test', 'https://mailbox.test/', 'HTTPS://Mailbox.Test:443']) {
    expect(await interceptor.acquire(baseUrl)).toBe(router);
  }
  expect(countHandlers()).toBe(HANDLERS_OF_ONE);
});

test('each base URL has a router of its own, and the interception ends with the last of them', async () => {
  const { interceptor, calls, countHandlers } = createInterceptor();
  const one = await interceptor.acquire('https://one.example.test');
  const other = await interceptor.acquire('https://other.example.test');
  expect(other).not.toBe(one);
  expect(countHandlers()).toBe(2 * HANDLERS_OF_ONE);
  interceptor.release(one);
  expect([calls, countHandlers()]).toEqual([['start'], HANDLERS_OF_ONE]);
  interceptor.release(other);
  expect(await interceptor.acquire('https://one.example.test')).not.toBe(one);
  expect(calls).toEqual(['start', 'stop', 'start']);
});

test('a user waits until the interception has started, also if another user began it', async () => {
  let finish = () => {};
  const started = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const interceptor = new Interceptor({ start: () => started, stop: () => {}, resetHandlers: () => {} });
  const order: string[] = [];
  const users = ['first', 'second'].map((name) => interceptor.acquire(undefined).then(() => order.push(name)));
  order.push('start');
  finish();
  await Promise.all(users);
  expect(order).toEqual(['start', 'first', 'second']);
});

test('a base URL that is not valid is refused, and nothing is intercepted', async () => {
  const { interceptor, calls } = createInterceptor();
  await expect(interceptor.acquire('nowhere')).rejects.toThrow(TypeError);
  expect(calls).toEqual([]);
});

test('a request with two keys is for the mailbox in which the key that counts is valid', async () => {
  const { interceptor } = createInterceptor();
  const router = await interceptor.acquire(undefined);
  const behaviours = { 'auth.both-headers': 'authorization' } as const;
  const [acme, initech] = [
    createMailbox({ behaviours, fixtures: { tenants: { acme: { key: 'tk_acme_tenant_key' } } } }),
    createMailbox({ behaviours, fixtures: { tenants: { initech: { key: 'tk_initech_tenant_key' } } } }),
  ];
  for (const mailbox of [acme, initech]) router.add(mailbox);
  const headers = { 'X-API-Key': acme.keys.acme.tenant, Authorization: `Bearer ${initech.keys.initech.tenant}` };
  const request = new Request(`${router.baseUrl}/v1/me`, { headers });
  const handlers = router.handlers.filter((handler) => handler instanceof HttpHandler);
  const reply = await getResponse(handlers, request);
  expect(await reply?.json()).toMatchObject({ tenantId: initech.ids.initech.tenant });
});
