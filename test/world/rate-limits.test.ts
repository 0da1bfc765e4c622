import { expect } from 'vitest';
import { everywhere, interceptRequests, type Service, send } from '../support/everywhere.ts';
import { listFaults, setFault } from '../support/faults.ts';

interceptRequests();

const RATE_HEADERS = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'ratelimit-policy', 'retry-after'];

/** The status and the rate limit headers of the reply to one request. */
async function call({ url, mailbox }: Service, key = mailbox.keys.acme.tenant): Promise<(string | number | null)[]> {
  const { status, headers } = await send(`${url}/v1/me`, 'GET', { key });
  return [status, ...RATE_HEADERS.map((name) => headers.get(name))];
}

everywhere('a rate limit refuses requests above it until its span of the tenant time is over', async (service) => {
  service.mailbox.clock.freeze();
  const fault = await setFault(service, { on: 'request', rateLimit: { limit: 2, per: '1m' } });
  expect(fault).toMatchObject({ kind: 'rate-limit', times: null, rateLimit: { limit: 2, perMs: 60_000 } });
  expect(await call(service)).toEqual([200, '2', '1', '60', '2;w=60', null]);
  await service.mailbox.clock.advance('20500ms');
  expect(await call(service)).toEqual([200, '2', '0', '40', '2;w=60', null]);
  expect(await call(service)).toEqual([429, '2', '0', '40', '2;w=60', '40']);
  await service.mailbox.clock.advance('40s');
  expect(await call(service)).toEqual([200, '2', '1', '60', '2;w=60', null]);
  expect(await listFaults(service)).toEqual([fault]);
});

everywhere('a refusal by a rate limit has the shape of an error, and nothing is done', async (service) => {
  service.mailbox.clock.freeze();
  const { id } = await setFault(service, { on: 'request', rateLimit: { limit: 0, per: '1m' } });
  const before = service.mailbox.snapshot();
  const json = { name: 'New', slug: 'new' };
  const reply = await send(`${service.url}/v1/workspaces`, 'POST', { key: service.mailbox.keys.acme.tenant, json });
  expect([reply.status, reply.json, reply.headers.get('x-mock-fault')]).toEqual([
    429,
    { error: 'The rate limit of 0 requests in 60 s is exceeded; try again in 60 s.', code: 'RATE_LIMITED' },
    `rate-limit ${id}`,
  ]);
  expect(service.mailbox.snapshot()).toEqual(before);
});

everywhere('a rate limit counts each tenant by itself, and a reset starts the count again', async (service) => {
  const { globex, operator } = service.mailbox.keys;
  await setFault(service, { on: 'request', rateLimit: { limit: 1, per: '1h' } });
  const statusOf = async (key?: string) => (await call(service, key))[0];
  expect([await statusOf(), await statusOf(), await statusOf(globex.tenant)]).toEqual([200, 429, 200]);
  service.mailbox.reset();
  expect(await listFaults(service)).toEqual([]);
  expect([await statusOf(), await statusOf(operator)]).not.toContain(429);
});

everywhere('of several rate limits the tightest is shown, and a refusal uses up no other fault', async (service) => {
  service.mailbox.clock.freeze();
  const { acme } = service.mailbox.keys;
  await setFault(service, { on: 'request', rateLimit: { limit: 100, per: '1h' } });
  await setFault(service, { on: 'request', key: acme.tenant, rateLimit: { limit: 1, per: '1s' } });
  expect(await call(service)).toEqual([200, '1', '0', '1', '1;w=1', null]);
  const counted = await setFault(service, { on: 'request', status: 503 });
  expect((await call(service))[0]).toBe(429);
  expect((await listFaults(service)).at(-1)).toEqual(counted);
  expect(await call(service, acme.workspaces.support)).toEqual([503, '100', '97', '3600', '100;w=3600', null]);
});
