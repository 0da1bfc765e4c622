import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type BehaviourOptions,
  createMailbox,
  type Delivery,
  type DeliveryFilter,
  EVENT_KINDS,
  type TriggerOptions,
} from 'agent-mailbox-mock';
import { createReceiver, type Receiver, type ReceiverAnswer } from 'agent-mailbox-mock/receiver';
import { expect, test } from 'vitest';
import { ADDRESS, openDesks } from './support/desk.ts';
import { everywhere, interceptRequests, send, type World } from './support/everywhere.ts';
import { IDS } from './support/ids.ts';

interceptRequests();

const START = '2026-03-01T09:00:00.000Z';
const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
const LADDER = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;
const EVENT_ID = /^evt_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const after = (durationMs: number) => new Date(Date.parse(START) + durationMs).toISOString();

/** Creates a webhook that leads to a receiver, and lets the receiver verify by its secret too. */
async function hook(
  { mailbox, send }: World,
  receiver: Receiver,
  {
    path = '/in',
    key = mailbox.keys.acme.tenant,
    ...json
  }: { path?: string; key?: string; [field: string]: unknown } = {},
) {
  const url = (await receiver.listen()) + path;
  const created = await send('POST', '/v1/webhooks', { key, json: { url, events: EVENT_KINDS, ...json } });
  expect(created.status).toBe(201);
  receiver.secret = [receiver.secret ?? [], created.json.secret].flat();
  return created.json;
}

/** A receiver under the time of the mailbox, which stands still; it answers by a script. */
function startReceiver({ mailbox }: World, ...answers: ReceiverAnswer[]): Receiver {
  mailbox.clock.freeze(START);
  return createReceiver({ answers, now: () => mailbox.clock.now({ tenant: IDS.acme.tenant }) });
}

/** What there is of a mailbox to test deliveries with: its own methods in process, its control plane over HTTP. */
function openLab({ mailbox, url }: World) {
  const isInProcess = url === mailbox.baseUrl;

  async function ask(line: string, json: unknown, run: () => unknown) {
    const [method = '', path] = line.split(' ');
    if (!isInProcess) return send(`${url}/__mock${path}`, method, json === undefined ? {} : { json });
    try {
      return { status: 200, json: JSON.parse(JSON.stringify((await run()) ?? null)) };
    } catch (error) {
      const { status, code, message } = error as Error & { status: number; code: string };
      return { status, json: { error: message, code } };
    }
  }

  return {
    deliveries: (filter: DeliveryFilter = {}) =>
      ask(`GET /deliveries?${new URLSearchParams(filter as Record<string, string>)}`, undefined, () => ({
        deliveries: mailbox.deliveries(filter),
      })),
    delivery: (id: string) => ask(`GET /deliveries/${id}`, undefined, () => mailbox.delivery(id)),
    redeliver: (id: string) => ask(`POST /deliveries/${id}/redeliver`, undefined, () => mailbox.redeliver(id)),
    trigger: (event: string, options: TriggerOptions = {}) =>
      ask('POST /events', { event, ...options }, () => ({ deliveries: mailbox.trigger(event as never, options) })),
    settled: (timeout?: number | string) => ask('POST /settle', { timeout }, () => mailbox.settled({ timeout })),
  };
}

/** Fires an event at one webhook and waits until it has been tried once. */
async function fire({ mailbox }: World, webhookId: string, options: TriggerOptions = {}): Promise<Delivery> {
  const [delivery] = mailbox.trigger('message.received', { webhookId, ...options });
  await mailbox.settled();
  return mailbox.delivery(delivery?.id ?? '');
}

const stateOf = ({ mailbox }: World, { id }: Delivery) => mailbox.delivery(id).state;
const heardAt = ({ requests }: Receiver, path: string) => requests.filter((request) => request.path === path);

/** A server of the test's own, for what a scripted receiver does not do. */
async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

everywhere('an event reaches the webhooks that list its kind and have its inbox in their scope', async (world) => {
  const { mailbox, send } = world;
  const { acme, globex } = mailbox.keys;
  const { helpdesk, outreach } = openDesks(world);
  await using receiver = startReceiver(world);
  await hook(world, receiver, { path: '/tenant' });
  await hook(world, receiver, { path: '/support', workspaceId: IDS.acme.workspaces.support });
  await hook(world, receiver, { path: '/sales', key: acme.workspaces.sales });
  await hook(world, receiver, { path: '/bounces', events: ['message.bounced'] });
  await hook(world, receiver, { path: '/globex', key: globex.tenant });
  const { id } = await hook(world, receiver, { path: '/inactive' });
  await send('PATCH', `/v1/webhooks/${id}`, { key: acme.tenant, json: { isActive: false } });

  await mailbox.receiveMessage({ from: ADDRESS.dana, to: [ADDRESS.helpdesk, ADDRESS.info] });
  await outreach.mail(ADDRESS.dana);
  await helpdesk.mail('bounce@simulator.test');
  await mailbox.settled();

  const heard = (path: string) => heardAt(receiver, path).map(({ json }) => [json.event, json.inboxId]);
  const atSupport = [
    ['message.received', helpdesk.id],
    ['message.sent', helpdesk.id],
    ['message.bounced', helpdesk.id],
  ];
  expect(heard('/tenant')).toEqual([atSupport[0], ['message.sent', outreach.id], ...atSupport.slice(1)]);
  expect(heard('/support')).toEqual(atSupport);
  expect(heard('/sales')).toEqual([['message.sent', outreach.id]]);
  expect(heard('/bounces')).toEqual([['message.bounced', helpdesk.id]]);
  expect(heard('/globex')).toEqual([['message.received', IDS.globex.inboxes.info]]);
  expect(heard('/inactive')).toEqual([]);
  expect(receiver.requests.map(({ verified }) => verified)).toEqual(receiver.requests.map(() => true));
});

const MAIL = { from: 'Dana Reyes <dana@customer.test>', to: ADDRESS.helpdesk, subject: 'Größe 😀', text: 'Grüße' };

everywhere('a delivery carries the fields of the reference, and the content', async (world) => {
  const { mailbox } = world;
  const { helpdesk } = openDesks(world);
  await using receiver = startReceiver(world);
  await hook(world, receiver);
  const [arrived] = await mailbox.receiveMessage({ ...MAIL, html: '<p>Grüße</p>' });
  const sent = await helpdesk.mail(['bounce@simulator.test', ADDRESS.dana]);
  await mailbox.settled();

  const base = {
    id: expect.stringMatching(EVENT_ID),
    inboxId: helpdesk.id,
    workspaceId: IDS.acme.workspaces.support,
    receivedAt: START,
  };
  const outbound = {
    ...base,
    messageId: sent.id,
    threadId: sent.threadId,
    from: 'Acme Helpdesk <helpdesk@acme.test>',
    to: 'bounce@simulator.test, dana@customer.test',
    subject: 'Hello',
    plainBody: 'Hello!',
    htmlBody: null,
  };
  expect(receiver.requests.map(({ json }) => json)).toEqual([
    {
      ...base,
      event: 'message.received',
      messageId: arrived?.id,
      threadId: arrived?.threadId,
      from: MAIL.from,
      to: MAIL.to,
      subject: MAIL.subject,
      plainBody: MAIL.text,
      htmlBody: '<p>Grüße</p>',
    },
    { ...outbound, event: 'message.sent' },
    { ...outbound, event: 'message.bounced' },
  ]);
  expect(new Set(receiver.requests.map(({ json }) => json.id)).size).toBe(3);
});

everywhere(
  'a delivery can carry the fields of the reference only',
  { behaviours: { 'deliveries.payload': 'reference' } },
  async (world) => {
    await using receiver = startReceiver(world);
    await hook(world, receiver);
    const [arrived] = await world.mailbox.receiveMessage(MAIL);
    const [{ json }] = (await receiver.received(1)) as [Receiver['requests'][number]];
    expect(json).toEqual({
      event: 'message.received',
      messageId: arrived?.id,
      inboxId: IDS.acme.inboxes.helpdesk,
      threadId: arrived?.threadId,
      from: MAIL.from,
      to: MAIL.to,
    });
  },
);

everywhere('a send does not wait for a receiver that does not answer', async (world) => {
  const { mailbox } = world;
  const { helpdesk } = openDesks(world);
  await using receiver = startReceiver(world, 'timeout');
  const { id } = await hook(world, receiver);
  expect((await helpdesk.mail(ADDRESS.dana)).status).toBe('sent');
  await receiver.received(1);
  expect(mailbox.deliveries({ webhookId: id })).toMatchObject([{ state: 'pending', attempts: [] }]);
});

everywhere('the log has every field of a delivery and of its attempts', async (world) => {
  const { mailbox } = world;
  const lab = openLab(world);
  await using receiver = startReceiver(world, { status: 500, headers: { 'X-Reason': 'busy' }, body: 'Später' });
  const webhook = await hook(world, receiver);
  const [arrived] = await mailbox.receiveMessage(MAIL);
  await mailbox.settled();
  const [first] = mailbox.deliveries({ webhookId: webhook.id });
  expect(first).toMatchObject({ state: 'pending', nextAttemptAt: after(5 * SECOND) });
  await mailbox.clock.advance('5s');

  const attempt = (at: number) => ({
    at: after(at),
    url: webhook.url,
    requestHeaders: {
      'content-type': 'application/json',
      'user-agent': 'agent-mailbox-mock',
      'webhook-id': first?.eventId,
      'webhook-timestamp': String((Date.parse(START) + at) / 1000),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      'x-webhook-signature': expect.stringMatching(/^v1=[0-9a-f]{64}$/),
    },
    requestBody: JSON.stringify(first?.payload),
    durationMs: expect.any(Number),
  });
  const expected = {
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    tenantId: IDS.acme.tenant,
    webhookId: webhook.id,
    event: 'message.received',
    eventId: expect.stringMatching(EVENT_ID),
    payload: receiver.requests[0]?.json,
    state: 'delivered',
    reason: null,
    createdAt: START,
    nextAttemptAt: null,
    attempts: [
      {
        ...attempt(0),
        status: 500,
        responseHeaders: expect.objectContaining({ 'x-reason': 'busy' }),
        responseBody: 'Später',
        error: 'The receiver answered 500.',
        nextAttemptAt: after(5 * SECOND),
      },
      {
        ...attempt(5 * SECOND),
        status: 200,
        responseHeaders: expect.any(Object),
        responseBody: '',
        error: null,
        nextAttemptAt: null,
      },
    ],
  };
  const { json } = await lab.deliveries({ webhookId: webhook.id });
  expect(json).toEqual({ deliveries: [expected] });
  expect((await lab.delivery(first?.id ?? '')).json).toEqual(expected);
  expect(json.deliveries[0].payload.messageId).toBe(arrived?.id);
  expect(receiver.requests.map(({ body }) => body)).toEqual(
    json.deliveries[0].attempts.map(({ requestBody }: { requestBody: string }) => requestBody),
  );
  for (const [index, { headers }] of receiver.requests.entries()) {
    expect(headers).toMatchObject(json.deliveries[0].attempts[index].requestHeaders);
  }
});

everywhere('the log is filtered by tenant, webhook, kind and state', async (world) => {
  const { mailbox } = world;
  const { helpdesk, info } = openDesks(world);
  const lab = openLab(world);
  await using receiver = startReceiver(world);
  await using broken = startReceiver(world, 500, 500);
  const good = await hook(world, receiver);
  const bad = await hook(world, broken);
  const foreign = await hook(world, receiver, { key: mailbox.keys.globex.tenant });
  await helpdesk.mail(info.address);
  await helpdesk.mail('bounce@simulator.test');
  await mailbox.settled();

  const list = async (filter: object) =>
    (await lab.deliveries(filter)).json.deliveries.map(({ webhookId, event, state }: Delivery) => [
      { [good.id]: 'good', [bad.id]: 'bad', [foreign.id]: 'foreign' }[webhookId],
      event.slice('message.'.length),
      state,
    ]);
  const pair = (event: string, badState: string) => [
    ['good', event, 'delivered'],
    ['bad', event, badState],
  ];
  const ofAcme = [...pair('sent', 'pending'), ...pair('sent', 'pending'), ...pair('bounced', 'delivered')];
  const ofGlobex = [['foreign', 'received', 'delivered']];
  expect(await list({})).toEqual([...ofAcme, ...ofGlobex]);
  expect(await list({ tenant: IDS.acme.tenant.toUpperCase() })).toEqual(ofAcme);
  expect(await list({ tenant: IDS.globex.tenant })).toEqual(ofGlobex);
  expect(await list({ tenant: IDS.nobody })).toEqual([]);
  expect(await list({ webhookId: bad.id.toUpperCase() })).toEqual(ofAcme.filter(([name]) => name === 'bad'));
  expect(await list({ event: 'message.bounced' })).toEqual(pair('bounced', 'delivered'));
  expect(await list({ state: 'pending' })).toEqual(ofAcme.filter(([, , state]) => state === 'pending'));
  expect(await list({ webhookId: bad.id, event: 'message.sent', state: 'delivered' })).toEqual([]);
});

const KINDS = 'must be one of message.received, message.sent, message.bounced.';

everywhere('a filter that there is not is refused, and says what there is', async (world) => {
  const lab = openLab(world);
  for (const [filter, said] of [
    [{ state: 'lost' }, 'state must be one of pending, held, delivered, exhausted, dropped, refused.'],
    [{ event: 'message.lost' }, `event ${KINDS}`],
    [{ webhookId: 'x' }, 'webhookId must be a UUID.'],
    [{ tenant: 'acme' }, 'tenant must be a UUID.'],
  ] as const) {
    const { status, json } = await lab.deliveries(filter as DeliveryFilter);
    expect([status, json]).toEqual([400, { error: expect.stringContaining(said), code: 'VALIDATION_ERROR' }]);
    expect(json.error).toMatch(/^The (?:filter|query) is not valid: /);
  }
});

everywhere('a delivery that is not in the log is not there, nor sent again', async (world) => {
  const lab = openLab(world);
  for (const { status, json } of [await lab.delivery(IDS.nobody), await lab.redeliver(IDS.nobody)]) {
    expect([status, json]).toEqual([
      404,
      { error: 'There is no delivery with this id in the log.', code: 'NOT_FOUND' },
    ]);
  }
});

everywhere('what fails is tried ten times, each exactly when it is due, and then no more', async (world) => {
  const { mailbox } = world;
  await using receiver = startReceiver(world, ...Array<number>(10).fill(503));
  const { id } = await hook(world, receiver);
  const delivery = await fire(world, id);
  const dues = LADDER.map((_, step) => LADDER.slice(0, step + 1).reduce((sum, ms) => sum + ms));
  for (const [step, waitMs] of LADDER.entries()) {
    expect(mailbox.delivery(delivery.id)).toMatchObject({ state: 'pending', nextAttemptAt: after(dues[step] ?? 0) });
    await mailbox.clock.advance(waitMs - 1);
    expect(receiver.requests).toHaveLength(step + 1);
    await mailbox.clock.advance(1);
    expect(receiver.requests).toHaveLength(step + 2);
  }
  const { attempts, ...over } = mailbox.delivery(delivery.id);
  expect(over).toMatchObject({ state: 'exhausted', reason: 'Its last attempt failed.', nextAttemptAt: null });
  expect(attempts.map(({ at }) => at)).toEqual([0, ...dues].map(after));
  expect(attempts.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([...dues.map(after), null]);
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(receiver.requests.every(({ verified }) => verified)).toBe(true);
  await mailbox.clock.advance('30d');
  expect(receiver.requests).toHaveLength(10);
});

everywhere('ten days in one go are ten attempts, for every webhook and tenant', async (world) => {
  const { mailbox } = world;
  const fail = () => startReceiver(world, ...Array<number>(20).fill(500));
  await using acme = fail();
  await using globex = fail();
  await hook(world, acme, { path: '/one' });
  await hook(world, acme, { path: '/two' });
  await hook(world, globex, { key: mailbox.keys.globex.tenant });
  await mailbox.receiveMessage({ from: ADDRESS.dana, to: [ADDRESS.helpdesk, ADDRESS.info] });
  await mailbox.clock.advance('10d');
  expect([heardAt(acme, '/one').length, heardAt(acme, '/two').length, globex.requests.length]).toEqual([10, 10, 10]);
  expect(mailbox.deliveries({ state: 'exhausted' })).toHaveLength(3);
});

everywhere('every retry verifies by the time of the mailbox, whether it was settled or not', async (world) => {
  const { mailbox } = world;
  mailbox.clock.freeze(START);
  for (const isSettled of [true, false]) {
    await using receiver = createReceiver({ answers: [500, 500, 500, 500], now: () => mailbox.clock.now() });
    const { id } = await hook(world, receiver);
    const [delivery] = mailbox.trigger('message.received', { webhookId: id });
    if (isSettled) await mailbox.settled();
    await mailbox.clock.advance('10d');
    expect(mailbox.delivery(delivery?.id ?? '').attempts.map(({ status }) => status)).toEqual([
      500, 500, 500, 500, 200,
    ]);
  }
});

everywhere('a retry that succeeds is the last', async (world) => {
  const { mailbox } = world;
  await using receiver = startReceiver(world, 500, 404, 302, 299);
  const { id } = await hook(world, receiver);
  const delivery = await fire(world, id);
  await mailbox.clock.advance('10d');
  const { state, attempts } = mailbox.delivery(delivery.id);
  expect([state, attempts.map(({ status }) => status)]).toEqual(['delivered', [500, 404, 302, 299]]);
});

everywhere('what fails can be tried never again', { behaviours: { 'deliveries.retry': 'never' } }, async (world) => {
  await using receiver = startReceiver(world, { status: 500, headers: { 'Retry-After': '5' } });
  const { id } = await hook(world, receiver);
  expect(await fire(world, id)).toMatchObject({ state: 'exhausted', nextAttemptAt: null });
  await world.mailbox.clock.advance('10d');
  expect(receiver.requests).toHaveLength(1);
});

everywhere('a retry comes when real time gets there', async (world) => {
  await using receiver = createReceiver({ answers: [500] });
  const { id } = await hook(world, receiver);
  const delivery = await fire(world, id);
  await world.mailbox.clock.advance(4_999);
  await receiver.received(2);
  await world.mailbox.settled();
  expect(stateOf(world, delivery)).toBe('delivered');
});

const RETRY_AFTERS: [retryAfter: string, waitMs: number][] = [
  ['120', 2 * MINUTE],
  ['3', 5 * SECOND],
  ['0', 5 * SECOND],
  ['86400', 24 * HOUR],
  ['86401', 24 * HOUR],
  ['9'.repeat(400), 24 * HOUR],
  ['Sun, 01 Mar 2026 10:00:00 GMT', HOUR],
  ['Sun, 01 Mar 2026 09:00:01 GMT', 5 * SECOND],
  ['Sun, 01 Mar 2020 10:00:00 GMT', 5 * SECOND],
  ['Sun, 01 Mar 2099 10:00:00 GMT', 24 * HOUR],
  ['soon', 5 * SECOND],
  ['-60', 5 * SECOND],
  ['1e5', 5 * SECOND],
  ['0x1000', 5 * SECOND],
  ['600 s', 5 * SECOND],
  ['try 2099', 5 * SECOND],
];

everywhere('a receiver that says Retry-After gets the time it asks for, up to a day', async (world) => {
  await using receiver = startReceiver(world);
  const { id } = await hook(world, receiver);
  for (const [retryAfter, waitMs] of RETRY_AFTERS) {
    receiver.answer({ status: 503, headers: { 'Retry-After': retryAfter } });
    const { nextAttemptAt, attempts } = await fire(world, id);
    expect([nextAttemptAt, attempts[0]?.nextAttemptAt], retryAfter).toEqual([after(waitMs), after(waitMs)]);
  }
});

everywhere('Retry-After lengthens one step, and the next is as the schedule says', async (world) => {
  await using receiver = startReceiver(world, { status: 429, headers: { 'Retry-After': '60' } }, 500);
  const { id } = await hook(world, receiver);
  const { id: deliveryId } = await fire(world, id);
  await world.mailbox.clock.advance('59s');
  expect(receiver.requests).toHaveLength(1);
  await world.mailbox.clock.advance('1s');
  expect(world.mailbox.delivery(deliveryId).nextAttemptAt).toBe(after(6 * MINUTE));
});

everywhere('Retry-After can be ignored', { behaviours: { 'deliveries.retry-after': 'ignored' } }, async (world) => {
  await using receiver = startReceiver(world, { status: 503, headers: { 'Retry-After': '3600' } });
  const { id } = await hook(world, receiver);
  expect((await fire(world, id)).nextAttemptAt).toBe(after(5 * SECOND));
});

everywhere('a redirect is a failure, and is not followed', async (world) => {
  await using target = startReceiver(world);
  await using receiver = startReceiver(world);
  const location = await target.listen();
  const { id } = await hook(world, receiver);
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer({ status, headers: { Location: location } });
    const { state, attempts } = await fire(world, id);
    const error = `The receiver answered ${status}, and redirects are not followed.`;
    expect([state, attempts]).toMatchObject(['pending', [{ status, error, responseHeaders: { location } }]]);
  }
  expect(target.requests).toEqual([]);
});

everywhere('an answer of 410 makes the webhook inactive, and nothing more is sent', async (world) => {
  const { mailbox, send } = world;
  await using receiver = startReceiver(world, 500, 410);
  const { id } = await hook(world, receiver);
  for (let count = 0; count < 2; count += 1) await mailbox.receiveMessage(MAIL);
  await mailbox.settled();
  const [, gone] = mailbox.deliveries({ webhookId: id });
  expect(gone).toMatchObject({
    state: 'exhausted',
    reason: 'The receiver answered 410, so its webhook is not active any more.',
    attempts: [{ status: 410, nextAttemptAt: null }],
  });
  const shown = await send('GET', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant });
  expect(shown.json.isActive).toBe(false);
  await mailbox.receiveMessage(MAIL);
  await mailbox.clock.advance('10d');
  expect(receiver.requests).toHaveLength(2);
  expect(mailbox.deliveries({ webhookId: id }).map(({ state }) => state)).toEqual(['dropped', 'exhausted']);
});

everywhere(
  'an answer of 410 can be a failure as any other',
  { behaviours: { 'deliveries.gone': 'retried' } },
  async (world) => {
    const { mailbox, send } = world;
    await using receiver = startReceiver(world, 410);
    const { id } = await hook(world, receiver);
    await mailbox.receiveMessage(MAIL);
    await mailbox.clock.advance('5s');
    expect(mailbox.deliveries({ webhookId: id })).toMatchObject([{ state: 'delivered' }]);
    const shown = await send('GET', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant });
    expect(shown.json.isActive).toBe(true);
  },
);

const ENDS: [title: string, reason: string, end: (world: World, webhookId: string) => Promise<unknown>][] = [
  [
    'made inactive',
    'Its webhook is not active.',
    ({ mailbox, send }, id) =>
      send('PATCH', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant, json: { isActive: false } }),
  ],
  [
    'deleted',
    'Its webhook is gone.',
    ({ mailbox, send }, id) => send('DELETE', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant }),
  ],
  [
    'deleted with its workspace',
    'Its webhook is gone.',
    ({ mailbox, send }) =>
      send('DELETE', `/v1/workspaces/${IDS.acme.workspaces.sales}`, { key: mailbox.keys.acme.tenant }),
  ],
];

for (const [title, reason, end] of ENDS) {
  everywhere(`what waits for a webhook that is ${title} is dropped when it is due`, async (world) => {
    const { mailbox } = world;
    const { outreach } = openDesks(world);
    await using receiver = startReceiver(world, 500);
    const { id } = await hook(world, receiver, { workspaceId: IDS.acme.workspaces.sales });
    await outreach.mail(ADDRESS.dana);
    await mailbox.settled();
    expect(((await end(world, id)) as { status: number }).status).toBe(200);
    await mailbox.clock.advance(5 * SECOND - 1);
    expect(mailbox.deliveries({ webhookId: id })).toMatchObject([{ state: 'pending' }]);
    await mailbox.clock.advance('10d');
    expect(mailbox.deliveries({ webhookId: id })).toMatchObject([
      { state: 'dropped', reason, nextAttemptAt: null, attempts: [{ status: 500 }] },
    ]);
    expect(receiver.requests).toHaveLength(1);
  });
}

everywhere('what waits for a tenant that is deleted is forgotten', async (world) => {
  const { mailbox, send } = world;
  await using receiver = startReceiver(world, 500, 'timeout');
  const { id } = await hook(world, receiver);
  const failed = await fire(world, id);
  await mailbox.receiveMessage(MAIL);
  await receiver.received(2);
  const deleted = await send('DELETE', `/v1/tenants/${IDS.acme.tenant}`, { key: mailbox.keys.operator });
  expect(deleted.status).toBe(200);
  expect(mailbox.deliveries()).toEqual([]);
  expect(() => mailbox.redeliver(failed.id)).toThrow('There is no delivery with this id in the log.');
  await mailbox.settled();
  await mailbox.clock.advance('10d');
  expect(receiver.requests).toHaveLength(2);
});

everywhere('a webhook that is inactive for a while only loses nothing that is due later', async (world) => {
  const { mailbox, send } = world;
  await using receiver = startReceiver(world, 500);
  const { id } = await hook(world, receiver);
  await mailbox.receiveMessage(MAIL);
  await mailbox.settled();
  for (const isActive of [false, true]) {
    await send('PATCH', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant, json: { isActive } });
  }
  await mailbox.clock.advance('5s');
  expect(mailbox.deliveries({ webhookId: id })).toMatchObject([{ state: 'delivered' }]);
});

everywhere('a retry goes where the webhook leads by then', async (world) => {
  const { mailbox, send } = world;
  await using before = startReceiver(world, 500);
  await using later = startReceiver(world);
  const { id, secret } = await hook(world, before);
  await mailbox.receiveMessage(MAIL);
  await mailbox.settled();
  const url = `${await later.listen()}/later`;
  later.secret = secret;
  await send('PATCH', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant, json: { url, events: ['message.sent'] } });
  await mailbox.clock.advance('5s');
  expect([before.requests.length, later.requests]).toMatchObject([1, [{ path: '/later', verified: true }]]);
  expect(later.requests[0]?.headers['webhook-id']).toBe(before.requests[0]?.headers['webhook-id']);
  expect(mailbox.deliveries({ webhookId: id })[0]?.attempts.map((attempt) => attempt.url)).toEqual([
    before.requests.length === 1 ? expect.stringMatching(/\/in$/) : undefined,
    url,
  ]);
});

everywhere(
  'a receiver that does not answer in time has failed, and is asked again',
  { behaviours: { 'deliveries.timeout': '1s' } },
  async (world) => {
    await using receiver = startReceiver(world, 'timeout', 200);
    const { id } = await hook(world, receiver);
    const delivery = await fire(world, id);
    expect(delivery).toMatchObject({
      state: 'pending',
      attempts: [
        { status: null, error: 'The receiver did not answer within 1 s.', responseHeaders: {}, responseBody: '' },
      ],
    });
    await world.mailbox.clock.advance('5s');
    expect(stateOf(world, delivery)).toBe('delivered');
    expect(receiver.requests).toHaveLength(2);
  },
);

everywhere(
  'a receiver that begins its answer and never ends it has failed too',
  { behaviours: { 'deliveries.timeout': '100ms' } },
  async (world) => {
    await using receiver = createReceiver();
    await using server = await serve((_request, response) => void response.writeHead(200).write('x'));
    const { id } = await hook(world, receiver, { url: server.url });
    expect(await fire(world, id)).toMatchObject({
      state: 'pending',
      attempts: [{ status: null, error: 'The receiver did not answer within 0.1 s.' }],
    });
  },
);

test('a receiver that takes no notice of being given up has failed too, and holds up nothing', async () => {
  let calls = 0;
  const fetch = () => {
    calls += 1;
    return calls === 1 ? new Promise<Response>(() => {}) : Promise.resolve(new Response());
  };
  const { mailbox } = await startCounted(1, fetch, { 'deliveries.timeout': '100ms' });
  for (let count = 0; count < 2; count += 1) mailbox.trigger('message.sent');
  await mailbox.settled();
  expect(mailbox.deliveries()).toMatchObject([
    { state: 'pending', attempts: [{ status: null, error: 'The receiver did not answer within 0.1 s.' }] },
    { state: 'delivered' },
  ]);
});

everywhere('a login in the URL of a webhook goes out as a header', async (world) => {
  await using receiver = startReceiver(world);
  const url = (await receiver.listen()).replace('//', '//kim:p%C3%A4ss%40@');
  const { id } = await hook(world, receiver, { url: `${url}/in` });
  expect((await fire(world, id)).state).toBe('delivered');
  const authorization = `Basic ${Buffer.from('kim:päss@').toString('base64')}`;
  expect(receiver.requests).toMatchObject([{ path: '/in', verified: true, headers: { authorization } }]);
});

everywhere('a receiver that cannot be reached has failed', async (world) => {
  await using receiver = startReceiver(world);
  const { id } = await hook(world, receiver);
  await receiver.close();
  const { state, attempts } = await fire(world, id);
  expect([state, attempts]).toMatchObject([
    'pending',
    [{ status: null, error: expect.stringMatching(/ECONNREFUSED/) }],
  ]);
});

everywhere('a receiver that hangs up has failed', async (world) => {
  await using receiver = startReceiver(world);
  await using server = await serve(({ socket }) => socket.destroy());
  const { id } = await hook(world, receiver, { url: server.url });
  const { state, attempts } = await fire(world, id);
  expect([state, attempts]).toMatchObject(['pending', [{ status: null, error: expect.stringMatching(/\S/) }]]);
});

everywhere('an answer is read up to 16 KiB', async (world) => {
  await using receiver = startReceiver(
    world,
    { status: 200, body: 'é'.repeat(20_000) },
    { status: 500, body: 'x'.repeat(16_384) },
    { status: 200, body: `${'x'.repeat(16_383)}é` },
  );
  const { id } = await hook(world, receiver);
  const bodies = [];
  for (let count = 0; count < 3; count += 1) bodies.push((await fire(world, id)).attempts[0]?.responseBody);
  expect(bodies).toEqual(['é'.repeat(8_192), 'x'.repeat(16_384), 'x'.repeat(16_383)]);
});

everywhere('an answer without end is let go', async (world) => {
  await using receiver = startReceiver(world);
  await using server = await serve((_request, response) => {
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(1_000)));
    };
    response.on('drain', pour);
    pour();
  });
  const { id } = await hook(world, receiver, { url: server.url });
  const { state, attempts } = await fire(world, id);
  expect([state, attempts[0]?.responseBody.length]).toEqual(['delivered', 16_384]);
});

/** Answers once `together` requests are there at once, and then all; knows the most that ever were. */
function createCrowd(together: number) {
  const waiting: (() => void)[] = [];
  const order: string[] = [];
  let open = 0;
  let most = 0;
  const listener: RequestListener = (request, response) => {
    open += 1;
    most = Math.max(most, open);
    order.push(String(request.headers['webhook-id']));
    waiting.push(() => {
      open -= 1;
      response.end();
    });
    if (open >= together) setImmediate(() => waiting.splice(0).forEach((answer) => void answer()));
  };
  return { listener, order, most: () => most };
}

everywhere('a webhook gets one delivery at a time, in the order of the events', async (world) => {
  const { mailbox } = world;
  await using receiver = startReceiver(world);
  const crowd = createCrowd(1);
  await using server = await serve(crowd.listener);
  const { id } = await hook(world, receiver, { url: server.url });
  const ids = Array.from({ length: 12 }, (_, index) => `evt_${index}`);
  for (const eventId of ids) mailbox.trigger('message.sent', { webhookId: id, id: eventId });
  await mailbox.settled();
  expect([crowd.order, crowd.most()]).toEqual([ids, 1]);
});

test.for([
  ['one-by-one', 1],
  ['parallel', 10],
] as const)('under %s, so many deliveries of a webhook are on their way at most: %i', async ([order, width]) => {
  const gates: (() => void)[] = [];
  const fetch = () => new Promise<Response>((resolve) => gates.push(() => resolve(new Response())));
  const { mailbox, ids } = await startCounted(2, fetch, { 'deliveries.order': order });
  for (let count = 0; count < 12; count += 1) mailbox.trigger('message.sent', { webhookId: ids[count % 2] ?? '' });
  const most = Math.min(width, 6);
  let called = 0;
  for (let left = 6; left > 0; left -= most) {
    // Whatever waits for nothing has run by then.
    await new Promise((resolve) => setImmediate(resolve));
    called += gates.length;
    expect(gates).toHaveLength(2 * Math.min(most, left));
    for (const answer of gates.splice(0)) answer();
  }
  await mailbox.settled();
  expect([called, gates.length]).toEqual([12, 0]);
});

everywhere('a webhook that waits for its answer holds up no other', async (world) => {
  const { mailbox } = world;
  await using slow = startReceiver(world, 'timeout');
  await using quick = startReceiver(world);
  const one = await hook(world, slow);
  await hook(world, quick);
  await mailbox.receiveMessage(MAIL);
  await mailbox.receiveMessage(MAIL);
  await Promise.all([slow.received(1), quick.received(2)]);
  expect(mailbox.deliveries({ webhookId: one.id })).toMatchObject([{ attempts: [] }, { attempts: [] }]);
});

everywhere(
  'a webhook can get ten deliveries at a time',
  { behaviours: { 'deliveries.order': 'parallel' } },
  async (world) => {
    const { mailbox } = world;
    await using receiver = startReceiver(world);
    const crowd = createCrowd(10);
    await using server = await serve(crowd.listener);
    const { id } = await hook(world, receiver, { url: server.url });
    for (let count = 0; count < 20; count += 1) mailbox.trigger('message.sent', { webhookId: id });
    await mailbox.settled();
    expect([crowd.order.length, new Set(crowd.order).size, crowd.most()]).toEqual([20, 20, 10]);
  },
);

everywhere('what fails does not hold up what comes after it', async (world) => {
  const { mailbox } = world;
  await using receiver = startReceiver(world, 500);
  const { id } = await hook(world, receiver);
  for (const name of ['a', 'b']) await fire(world, id, { id: name });
  await mailbox.clock.advance('5s');
  expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(['a', 'b', 'a']);
});

everywhere('a reset ends what is on its way, what waits and what is held', async (world) => {
  const { mailbox } = world;
  await using hanging = startReceiver(world, 'timeout');
  await using failing = startReceiver(world, 500);
  await using holding = startReceiver(world);
  await hook(world, hanging);
  const failed = await hook(world, failing);
  const held = await hook(world, holding);
  mailbox.hostile({ plan: 'hold', webhookId: held.id });
  mailbox.hostile({ plan: 'drop', count: 5 });
  mailbox.hostile({ plan: 'none' });
  mailbox.hostile({ plan: 'hold', webhookId: held.id, count: 2 });
  await mailbox.receiveMessage(MAIL);
  await mailbox.receiveMessage(MAIL);
  await Promise.all([hanging.received(1), failing.received(1)]);
  await fire(world, failed.id).catch(() => undefined);
  const counts = () => [hanging, failing, holding].map(({ requests }) => requests.length);
  mailbox.reset();
  const atReset = counts();
  expect([mailbox.deliveries(), mailbox.hostile()]).toEqual([[], []]);
  await mailbox.settled();
  await mailbox.clock.advance('10d');
  mailbox.hostile({ plan: 'release' });
  await mailbox.settled();
  expect(counts()).toEqual(atReset);
  expect(mailbox.deliveries()).toEqual([]);
});

everywhere('after a reset, deliveries go on as in a new mailbox', async (world) => {
  const { mailbox } = world;
  await using hanging = startReceiver(world, 'timeout');
  await hook(world, hanging);
  await mailbox.receiveMessage(MAIL);
  await hanging.received(1);
  mailbox.reset();
  await using receiver = startReceiver(world, 500);
  const { id } = await hook(world, receiver);
  await mailbox.receiveMessage(MAIL);
  await mailbox.clock.advance('5s');
  expect(mailbox.deliveries()).toMatchObject([{ webhookId: id, state: 'delivered' }]);
  expect(receiver.requests.map(({ verified }) => verified)).toEqual([true, true]);
});

everywhere(
  'a delivery is sent once more with the same id and a new signature, whatever became of it',
  async (world) => {
    const { mailbox, send } = world;
    const lab = openLab(world);
    await using receiver = startReceiver(world);
    const { id } = await hook(world, receiver);
    const delivered = await fire(world, id);
    mailbox.hostile({ plan: 'hold' });
    const held = await fire(world, id);
    mailbox.hostile({ plan: 'drop' });
    const dropped = await fire(world, id);
    receiver.answer(...Array<number>(10).fill(500));
    const exhausted = await fire(world, id);
    await mailbox.clock.advance('10d');
    receiver.answer(500);
    const pending = await fire(world, id);
    const all = [delivered, held, dropped, exhausted, pending];
    expect(all.map((each) => stateOf(world, each))).toEqual(['delivered', 'held', 'dropped', 'exhausted', 'pending']);
    await mailbox.clock.advance('1s');

    for (const { id: deliveryId, eventId } of all) {
      const { attempts } = mailbox.delivery(deliveryId);
      const again = await lab.redeliver(deliveryId);
      expect([again.status, again.json]).toMatchObject([200, { id: deliveryId, state: 'pending', reason: null }]);
      await mailbox.settled();
      const now = mailbox.delivery(deliveryId);
      expect(now).toMatchObject({ state: 'delivered', nextAttemptAt: null, reason: null });
      expect(now.attempts).toMatchObject([...attempts, { status: 200, at: mailbox.clock.now().toISOString() }]);
      const { headers, verified } = receiver.requests.at(-1) as Receiver['requests'][number];
      expect([headers['webhook-id'], verified]).toEqual([eventId, true]);
      expect(headers['webhook-timestamp']).toBe(String(mailbox.clock.now().getTime() / 1000));
    }
    const count = receiver.requests.length;
    await mailbox.clock.advance('10d');
    mailbox.hostile({ plan: 'release' });
    await mailbox.settled();
    expect(receiver.requests).toHaveLength(count);
    expect((await send('GET', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant })).json.isActive).toBe(true);
  },
);

everywhere('what is sent once more and fails begins the schedule again', async (world) => {
  const { mailbox } = world;
  await using receiver = startReceiver(world, ...Array<number>(20).fill(500));
  const { id } = await hook(world, receiver);
  const { id: deliveryId } = await fire(world, id);
  await mailbox.clock.advance('10d');
  mailbox.redeliver(deliveryId);
  await mailbox.settled();
  expect(mailbox.delivery(deliveryId)).toMatchObject({
    state: 'pending',
    nextAttemptAt: after(240 * HOUR + 5 * SECOND),
  });
  await mailbox.clock.advance('10d');
  expect(mailbox.delivery(deliveryId)).toMatchObject({ state: 'exhausted' });
  expect(receiver.requests).toHaveLength(20);
});

everywhere('a delivery is sent once more to a webhook that is not active', async (world) => {
  const { mailbox, send } = world;
  await using receiver = startReceiver(world);
  const { id } = await hook(world, receiver);
  const delivery = await fire(world, id);
  await send('PATCH', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant, json: { isActive: false } });
  mailbox.redeliver(delivery.id);
  await mailbox.settled();
  expect([stateOf(world, delivery), receiver.requests.length]).toEqual(['delivered', 2]);
});

everywhere('a delivery is not sent once more while it is being sent, or without its webhook', async (world) => {
  const { mailbox, send } = world;
  const lab = openLab(world);
  await using receiver = startReceiver(world, 200, 'timeout');
  const { id } = await hook(world, receiver);
  const delivered = await fire(world, id);
  await mailbox.receiveMessage(MAIL);
  await receiver.received(2);
  const [, inFlight] = mailbox.deliveries({ webhookId: id });
  const busy = await lab.redeliver(inFlight?.id ?? '');
  expect([busy.status, busy.json]).toEqual([409, { error: 'This delivery is being sent already.', code: 'CONFLICT' }]);
  await send('DELETE', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant });
  const gone = await lab.redeliver(delivered.id);
  expect([gone.status, gone.json]).toEqual([409, { error: 'The webhook of this delivery is gone.', code: 'CONFLICT' }]);
  expect(stateOf(world, delivered)).toBe('delivered');
  expect(receiver.requests).toHaveLength(2);
});

everywhere('settled does not wait for a retry, and says what it waits for in vain', async (world) => {
  const { mailbox } = world;
  const lab = openLab(world);
  await using receiver = startReceiver(world, 500);
  const { id } = await hook(world, receiver);
  const [failed] = mailbox.trigger('message.bounced', { webhookId: id });
  expect((await lab.settled()).status).toBe(200);
  expect(mailbox.delivery(failed?.id ?? '')).toMatchObject({ state: 'pending', attempts: [{ status: 500 }] });

  receiver.answer('timeout');
  const [hanging] = mailbox.trigger('message.sent', { webhookId: id });
  await receiver.received(2);
  const late = await lab.settled('20ms');
  expect([late.status, late.json]).toEqual([
    409,
    {
      error: `Not settled after 20 ms; still on its way: delivery ${hanging?.id} of message.sent to webhook ${id}.`,
      code: 'CONFLICT',
    },
  ]);
  mailbox.reset();
  expect((await lab.settled(1_000)).status).toBe(200);
});

everywhere('settled names three deliveries at most, and counts the others', async (world) => {
  const { mailbox } = world;
  await using receiver = startReceiver(world, ...Array<'timeout'>(5).fill('timeout'));
  for (let count = 0; count < 5; count += 1) await hook(world, receiver);
  await mailbox.receiveMessage(MAIL);
  await receiver.received(5);
  await expect(mailbox.settled({ timeout: 1 })).rejects.toThrow(
    /^Not settled after 1 ms; still on its way: (?:delivery \S+ of message\.received to webhook \S+(?:, |(?= and))){3} and 2 more\.$/,
  );
});

everywhere('settled takes no timeout that is none', async (world) => {
  const { status, json } = await openLab(world).settled('soon');
  expect([status, json]).toEqual([
    400,
    { error: expect.stringContaining('must be milliseconds or a text such as 5m'), code: 'VALIDATION_ERROR' },
  ]);
});

everywhere('an event of any kind is fired by hand', async (world) => {
  const lab = openLab(world);
  await using receiver = startReceiver(world);
  const { id } = await hook(world, receiver);
  for (const event of EVENT_KINDS) {
    const { status, json } = await lab.trigger(event);
    expect([status, json]).toMatchObject([200, { deliveries: [{ webhookId: id, event, state: 'pending' }] }]);
    const isInbound = event === 'message.received';
    const [inside, outside] = [ADDRESS.helpdesk, ADDRESS.dana];
    expect(json.deliveries[0].payload).toEqual({
      id: expect.stringMatching(EVENT_ID),
      event,
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      inboxId: IDS.acme.inboxes.helpdesk,
      threadId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspaceId: IDS.acme.workspaces.support,
      from: isInbound ? `Dana Reyes <${outside}>` : expect.stringContaining(inside),
      to: isInbound ? inside : outside,
      subject: 'Hello',
      plainBody: 'Hello!',
      htmlBody: null,
      receivedAt: START,
    });
    await world.mailbox.settled();
    expect(receiver.requests.at(-1)).toMatchObject({ json: json.deliveries[0].payload, verified: true });
  }
});

everywhere('an event fired by hand says what it is told to say, and changes no mail', async (world) => {
  const before = world.mailbox.snapshot();
  const lab = openLab(world);
  await using receiver = startReceiver(world);
  await hook(world, receiver);
  const stored = world.mailbox.snapshot();
  const said = {
    id: 'evt_mine',
    inboxId: IDS.acme.inboxes.billing,
    messageId: 'message-1',
    threadId: 'thread-1',
    from: 'Kim <kim@visitor.test>',
    to: 'a@acme.test, b@acme.test',
    subject: 'Invoice 12',
    plainBody: 'Grüße',
    htmlBody: '<p>Hi</p>',
    receivedAt: '2020-01-01T00:00:00.000Z',
    priority: 'high',
    nested: { list: [1, null, true] },
  };
  const { json } = await lab.trigger('message.received', said);
  const expected = { event: 'message.received', workspaceId: IDS.acme.workspaces.support, ...said };
  expect(json.deliveries).toMatchObject([{ eventId: 'evt_mine' }]);
  expect(json.deliveries[0].payload).toEqual(expected);
  await world.mailbox.settled();
  expect(receiver.requests[0]?.json).toEqual(expected);
  expect(receiver.requests[0]?.headers['webhook-id']).toBe('evt_mine');
  expect(world.mailbox.snapshot()).toEqual(stored);
  expect(stored.tenants.map(({ messages }) => messages)).toEqual(before.tenants.map(({ messages }) => messages));
});

everywhere('an event fired by hand is about a message that is there', async (world) => {
  const lab = openLab(world);
  await using receiver = startReceiver(world);
  const { id } = await hook(world, receiver);
  const { json } = await lab.trigger('message.received', {
    webhookId: id,
    inboxId: IDS.acme.inboxes.billing,
    messageId: IDS.acme.messages.invoice,
  });
  expect(json.deliveries[0].payload).toEqual({
    id: expect.stringMatching(EVENT_ID),
    event: 'message.received',
    messageId: IDS.acme.messages.invoice,
    inboxId: IDS.acme.inboxes.billing,
    threadId: IDS.acme.threads.invoice,
    workspaceId: IDS.acme.workspaces.support,
    from: 'Accounts <accounts@customer.test>',
    to: ADDRESS.billing,
    subject: 'Invoice 1042',
    plainBody: 'Could you add our purchase order number to invoice 1042?',
    htmlBody: null,
    receivedAt: '2026-01-07T14:20:00.000Z',
  });
});

everywhere(
  'an event fired by hand is heard by whom it concerns, or by the one webhook that is named',
  async (world) => {
    const { mailbox, send } = world;
    const lab = openLab(world);
    const key = mailbox.keys.acme.tenant;
    await using receiver = startReceiver(world);
    const tenantWide = await hook(world, receiver);
    const sales = await hook(world, receiver, { workspaceId: IDS.acme.workspaces.sales, events: ['message.sent'] });
    const globex = await hook(world, receiver, { key: mailbox.keys.globex.tenant });
    const names: Record<string, string> = { [tenantWide.id]: 'tenant', [sales.id]: 'sales', [globex.id]: 'globex' };
    const heard = async (event: string, options: TriggerOptions = {}) =>
      (await lab.trigger(event, options)).json.deliveries.map(({ webhookId }: Delivery) => names[webhookId]);

    expect(await heard('message.sent')).toEqual(['tenant', 'globex']);
    expect(await heard('message.sent', { inboxId: IDS.acme.inboxes.outreach })).toEqual(['tenant', 'sales']);
    expect(await heard('message.received', { inboxId: IDS.acme.inboxes.outreach.toUpperCase() })).toEqual(['tenant']);
    expect(await heard('message.sent', { tenant: IDS.globex.tenant })).toEqual(['globex']);
    expect(await heard('message.bounced', { webhookId: sales.id })).toEqual(['sales']);
    await send('PATCH', `/v1/webhooks/${sales.id}`, { key, json: { isActive: false } });
    expect(await heard('message.sent', { inboxId: IDS.acme.inboxes.outreach })).toEqual(['tenant']);
    const [byHand] = (await lab.trigger('message.bounced', { webhookId: sales.id })).json.deliveries;
    expect(byHand.payload).toMatchObject({
      inboxId: IDS.acme.inboxes.outreach,
      workspaceId: IDS.acme.workspaces.sales,
    });
    await mailbox.settled();
    expect(mailbox.deliveries({ webhookId: sales.id, state: 'delivered' })).toHaveLength(3);
  },
);

everywhere('an event fired by hand at nobody leads to no delivery', async (world) => {
  expect(await openLab(world).trigger('message.sent')).toMatchObject({ status: 200, json: { deliveries: [] } });
});

everywhere('an event about what is not there is not fired', async (world) => {
  const lab = openLab(world);
  await using receiver = startReceiver(world);
  const { id } = await hook(world, receiver);
  for (const [event, options, status, said] of [
    ['message.lost', {}, 400, KINDS],
    ['', {}, 400, KINDS],
    ['message.sent', { webhookId: IDS.nobody }, 404, 'There is no webhook with this id.'],
    ['message.sent', { inboxId: IDS.nobody }, 404, 'There is no inbox with this id.'],
    ['message.sent', { tenant: IDS.nobody }, 404, 'There is no tenant with this id.'],
    ['message.sent', { webhookId: id, tenant: IDS.globex.tenant }, 404, 'There is no webhook with this id.'],
    [
      'message.sent',
      { inboxId: IDS.globex.inboxes.info, tenant: IDS.acme.tenant },
      404,
      'There is no inbox with this id.',
    ],
    ['message.sent', { tenant: 5 as never }, 400, 'tenant must be the id of a tenant.'],
    ['message.sent', { id: 'x'.repeat(201) }, 400, 'id must be 1 to 200 '],
  ] as const) {
    const refused = await lab.trigger(event, options);
    expect([refused.status, refused.json.error], `${event} ${JSON.stringify(options)}`).toEqual([
      status,
      expect.stringContaining(said),
    ]);
  }
  expect(world.mailbox.deliveries()).toEqual([]);
});

/** A mailbox with webhooks that a fetch of the test's own answers. */
async function startCounted(
  webhooks: number,
  fetch: (url: string) => Promise<Response>,
  behaviours: BehaviourOptions = {},
) {
  const mailbox = createMailbox({ behaviours, environment: { fetch } });
  mailbox.clock.freeze(START);
  const ids: string[] = [];
  for (let count = 0; count < webhooks; count += 1) {
    const created = await mailbox.fetch(
      new Request(`${mailbox.baseUrl}/v1/webhooks`, {
        method: 'POST',
        headers: { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' },
        body: JSON.stringify({ url: `https://agent.example/${count}`, events: EVENT_KINDS }),
      }),
    );
    ids.push((await created.json()).id);
  }
  return { mailbox, ids };
}

test('the log keeps 10,000 deliveries of a tenant: first what is over goes, oldest first', async () => {
  const { mailbox, ids } = await startCounted(100, async () => new Response());
  mailbox.hostile({ plan: 'hold', webhookId: ids[7] ?? '' });
  for (let count = 0; count < 102; count += 1) {
    mailbox.trigger('message.sent', { id: `evt_${count}` });
    await mailbox.settled({ timeout: '25s' });
  }
  const kept = mailbox.deliveries();
  expect(kept).toHaveLength(10_000);
  expect(kept[0]).toMatchObject({ state: 'held', eventId: 'evt_0', webhookId: ids[7] });
  expect(kept.slice(1).every(({ state }) => state === 'delivered')).toBe(true);
  expect([kept[1]?.eventId, kept.at(-1)?.eventId]).toEqual(['evt_2', 'evt_101']);
  mailbox.hostile({ plan: 'release' });
  await mailbox.settled();
  expect(mailbox.delivery(kept[0]?.id ?? '').state).toBe('delivered');
});

test('what is not over goes too where the log has room for nothing else, and is not sent any more', async () => {
  let isUp = false;
  const called: string[] = [];
  const { mailbox } = await startCounted(100, async (url) => {
    if (isUp) called.push(url);
    return new Response(null, { status: isUp ? 200 : 503 });
  });
  for (let count = 0; count < 101; count += 1) mailbox.trigger('message.sent', { id: `evt_${count}` });
  await mailbox.settled({ timeout: '25s' });
  const kept = mailbox.deliveries();
  expect([kept.length, kept[0]?.eventId, kept.at(-1)?.eventId]).toEqual([10_000, 'evt_1', 'evt_100']);
  isUp = true;
  await mailbox.clock.advance('5s');
  expect(called).toHaveLength(10_000);
  expect(mailbox.deliveries({ state: 'delivered' })).toHaveLength(10_000);
});

test('the log keeps 64 MiB of text of a tenant', async () => {
  const { mailbox } = await startCounted(1, async () => new Response('x'.repeat(100)));
  mailbox.hostile({ plan: 'hold', tenant: IDS.acme.tenant });
  const note = 'x'.repeat(1024 * 1024);
  for (let count = 0; count < 80; count += 1) {
    mailbox.trigger('message.sent', { id: `evt_${count}`, note });
    await mailbox.settled({ timeout: '25s' });
  }
  const kept = mailbox.deliveries();
  const characters = kept.reduce(
    (sum, { payload, attempts }) =>
      attempts.reduce((total, { requestBody, responseBody }) => total + requestBody.length + responseBody.length, sum) +
      JSON.stringify(payload).length,
    0,
  );
  expect(characters).toBeLessThanOrEqual(64 * 1024 * 1024 + kept.length * 1_000);
  expect(characters).toBeGreaterThan(60 * 1024 * 1024);
  expect([kept[0]?.eventId, kept[0]?.state, kept.at(-1)?.eventId]).toEqual(['evt_0', 'held', 'evt_79']);
});
