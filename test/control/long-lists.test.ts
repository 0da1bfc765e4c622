import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test, vi } from 'vitest';
import { createControl } from '../../src/control/table/control.ts';
import { parseFixture } from '../../src/fixture/parse-fixture.ts';
import { createFetch } from '../../src/mailbox/fetch.ts';
import { PriorityQueue } from '../../src/world/priority-queue.ts';
import { sendControl } from '../support/control.ts';
import { senderTo } from '../support/send.ts';

const body = 'x'.repeat(20_000);

test('a journal of many large requests is sent in parts, whole and as HAR, and can be read from a request on', async () => {
  await using server = await startServer({ port: 0 });
  const { mailbox, control } = server;
  const send = senderTo(mailbox);
  const key = mailbox.keys.acme.tenant;
  for (let count = 0; count < 700; count += 1) await send('POST', '/v1/webhooks', { key, json: { count, body } });
  const response = await fetch(`${control}/requests`);
  expect([response.headers.get('content-length'), response.headers.get('content-type')]).toEqual([
    null,
    'application/json',
  ]);
  expect(await response.json()).toEqual({ requests: JSON.parse(JSON.stringify(mailbox.requests())) });
  const { json: har } = await sendControl(`${control}/requests?format=har`, 'GET');
  expect(har.log.entries).toHaveLength(700);
  const { json: page } = await sendControl(`${control}/requests?after=req_100&limit=550`, 'GET');
  const ids = page.requests.map(({ id }: { id: string }) => id);
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([550, 'req_101', 'req_650']);
  const empty = await sendControl(`${control}/requests?after=req_700`, 'GET');
  expect(empty.json).toEqual({ requests: [] });
  expect((await sendControl(`${control}/requests?after=12`, 'GET')).status).toBe(400);
});

test('a request is formatted when its part of the list is sent, and not before', async () => {
  const mailbox = createMailbox({ journalSize: 2_000 });
  const send = senderTo(mailbox);
  for (let count = 0; count < 1_200; count += 1)
    await send('POST', '/v1/webhooks', { key: mailbox.keys.acme.tenant, json: { body } });
  const sizes: number[] = [];
  const counted = {
    ...mailbox,
    requests(filter: object) {
      const part = mailbox.requests(filter);
      sizes.push(part.length);
      return part;
    },
  };
  const response = await createFetch(createControl(counted, () => {}))(new Request('http://localhost/__mock/requests'));
  expect(sizes).toEqual([500]);
  expect((await response.json()).requests).toHaveLength(1_200);
  expect(sizes).toEqual([500, 500, 200]);
});

test('the keys can be listed in parts, and for one tenant or sandbox', async () => {
  const mailbox = createMailbox();
  for (let count = 0; count < 80; count += 1) mailbox.createSandbox();
  const fetchControl = createFetch(createControl(mailbox, () => {}));
  const get = async (query: string) => {
    const response = await fetchControl(new Request(`http://localhost/__mock/keys${query}`));
    return response.ok ? (await response.json()).keys : response.status;
  };
  const all = mailbox.exposures();
  expect(await get('')).toEqual(all);
  expect(await get('?offset=10&limit=520')).toEqual(all.slice(10, 530));
  const tenant = mailbox.ids.globex.tenant;
  const own = all.filter(({ tenantId }) => tenantId === tenant);
  expect(await get(`?tenant=${tenant}`)).toEqual(own);
  expect(mailbox.exposures({ tenant, limit: 1 })).toEqual(own.slice(0, 1));
  expect([await get(`?tenant=${crypto.randomUUID()}`), await get('?limit=0')]).toEqual([404, 400]);
});

test('an event of the feed is formatted once for all of its readers', async () => {
  const mailbox = createMailbox();
  const feeds = [1, 2, 3].map(() => mailbox.feed()[Symbol.asyncIterator]());
  await senderTo(mailbox)('GET', '/v1/me', { key: mailbox.keys.acme.tenant });
  const [first, ...others] = (await Promise.all(feeds.map((feed) => feed.next()))).map(({ value }) => value);
  expect(first).toMatchObject({ kind: 'request', data: { operation: 'getMe', key: 'tk_acme_…' } });
  for (const other of others) expect(other).toBe(first);
  expect([Object.isFrozen(first), Object.isFrozen(first.data)]).toEqual([true, true]);
});

/** Counts the names of all objects whose names a synchronous function lists. */
function countNames(run: () => void): number {
  const keys = Object.keys;
  let names = 0;
  Object.keys = (value: object) => {
    const found = keys(value);
    names += found.length;
    return found;
  };
  try {
    run();
  } finally {
    Object.keys = keys;
  }
  return names;
}

test('the problems of a fixture are sorted and checked by reading each part a few times, however many there are', () => {
  const namesFor = (count: number) => {
    const entries = Array.from({ length: count }, () => 'not an address');
    const webhook = { url: 'http://127.0.0.1:9', events: ['message.received'], workspace: 'unknown' };
    const named = <Value>(value: Value) => Object.fromEntries(entries.map((_, at) => [`a${at}`, value]));
    const inboxes = { box: { lists: { all: { entries } } } };
    const tenant = { workspaces: { main: { inboxes }, ...named({}) }, webhooks: named(webhook) };
    return countNames(() => expect(() => parseFixture({ tenants: { a: tenant } })).toThrow()) / count;
  };
  expect(namesFor(800)).toBeLessThan(namesFor(200) * 1.4);
});

test('a delivery to each of more webhooks than the log has room for does not look at all others', async () => {
  const mailbox = createMailbox({ environment: { fetch: () => new Promise(() => {}) } });
  const webhook = { url: 'http://127.0.0.1:9', events: ['message.received'] as const };
  const webhooks = Object.fromEntries(Array.from({ length: 10_050 }, (_, at) => [`w${at}`, webhook]));
  const inboxes = { box: { username: 'box', domain: 'mailbox.test' } };
  mailbox.load({ tenants: { a: { webhooks, workspaces: { main: { inboxes } } } } } as never);
  const values = vi.spyOn(Map.prototype, 'values');
  await mailbox.receiveMessage({ to: 'box@mailbox.test', from: 'dana@customer.test' });
  expect(mailbox.deliveries()).toHaveLength(10_050);
  const listings = values.mock.contexts.filter((map) => map instanceof Map && map.size >= 10_000);
  values.mockRestore();
  // The webhooks are listed once for the event.
  expect(listings.length).toBeLessThan(10);
  mailbox.reset();
});

test('a priority queue compares few items although it has many', () => {
  const stepsFor = (count: number) => {
    let steps = 0;
    const queue = new PriorityQueue<number>();
    const noteStep = (rank: number) => {
      steps += 1;
      return rank;
    };
    const rank = (item: number) => ({ valueOf: () => noteStep((item * 7_919) % count) }) as unknown as number;
    for (let item = 0; item < count; item += 1) queue.add(item, rank(item));
    for (let item = 0; item < count / 2; item += 1) queue.remove(item);
    let last = Number.NEGATIVE_INFINITY;
    const misplaced: number[] = [];
    for (let item = queue.take(); item !== undefined; item = queue.take()) {
      if ((item * 7_919) % count < last) misplaced.push(item);
      last = (item * 7_919) % count;
    }
    expect(misplaced).toEqual([]);
    return steps / count;
  };
  expect(stepsFor(8_000)).toBeLessThan(stepsFor(1_000) * 2);
});

test('a priority queue keeps the order of items with the same number', () => {
  const queue = new PriorityQueue<string>();
  for (const [item, rank] of Object.entries({ c: 2, a: 1, d: 2, b: 1, e: 2 })) queue.add(item, rank);
  queue.remove('d');
  expect([queue.take(), queue.take(), queue.take(), queue.take(), queue.take()]).toEqual([
    'a',
    'b',
    'c',
    'e',
    undefined,
  ]);
});

test('a priority queue has the first item other than a given one', () => {
  const queue = new PriorityQueue<string>();
  expect(queue.firstExcept(undefined)).toBeUndefined();
  queue.add('a', 1);
  expect([queue.firstExcept('a'), queue.firstExcept('b'), queue.firstExcept(undefined)]).toEqual([undefined, 'a', 'a']);
  for (const [item, rank] of Object.entries({ c: 3, b: 2, d: 4 })) queue.add(item, rank);
  expect([queue.firstExcept('a'), queue.firstExcept('b'), queue.first]).toEqual(['b', 'a', 'a']);
});
