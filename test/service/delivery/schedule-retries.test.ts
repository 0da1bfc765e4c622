import type { Receiver } from 'agent-mailbox-mock/receiver';
import { expect } from 'vitest';
import { fire, MAIL, stateOf } from '../../support/deliveries.ts';
import { everywhere, interceptRequests, type Reply, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, openInboxClients } from '../../support/inbox-clients.ts';
import { createPatientReceiver } from '../../support/patient-receiver.ts';
import { after, hook, START, startReceiver } from '../../support/webhooks.ts';

interceptRequests();

const BY_CLOCK = { behaviours: { 'deliveries.timestamp': 'clock' } } as const;

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

const heardAt = ({ requests }: Receiver, path: string) => requests.filter((request) => request.path === path);

everywhere('a failing delivery is attempted ten times, each exactly when due, and then no more', async (service) => {
  const { mailbox } = service;
  await using receiver = startReceiver(service, ...Array<number>(10).fill(503));
  const { id } = await hook(service, receiver);
  const delivery = await fire(service, id);
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

everywhere('advancing ten days at once makes ten attempts, for every webhook and tenant', async (service) => {
  const { mailbox } = service;
  const fail = () => startReceiver(service, ...Array<number>(20).fill(500));
  await using acme = fail();
  await using globex = fail();
  await hook(service, acme, { path: '/one' });
  await hook(service, acme, { path: '/two' });
  await hook(service, globex, { key: mailbox.keys.globex.tenant });
  await mailbox.receiveMessage({ from: ADDRESS.dana, to: [ADDRESS.helpdesk, ADDRESS.info] });
  await mailbox.clock.advance('10d');
  expect([heardAt(acme, '/one').length, heardAt(acme, '/two').length, globex.requests.length]).toEqual([10, 10, 10]);
  expect(mailbox.deliveries({ state: 'exhausted' })).toHaveLength(3);
});

everywhere(
  'the signature of every retry verifies at the time of the mailbox, whether or not the test has waited for settled',
  BY_CLOCK,
  async (service) => {
    const { mailbox } = service;
    mailbox.clock.freeze(START);
    for (const isSettled of [true, false]) {
      await using receiver = createPatientReceiver({ answers: [500, 500, 500, 500], now: () => mailbox.clock.now() });
      const { id } = await hook(service, receiver);
      const [delivery] = mailbox.trigger('message.received', { webhookId: id });
      if (isSettled) await mailbox.settled();
      await mailbox.clock.advance('10d');
      expect(mailbox.delivery(delivery?.id ?? '').attempts.map(({ status }) => status)).toEqual([
        500, 500, 500, 500, 200,
      ]);
    }
  },
);

everywhere('a retry that succeeds is the last', async (service) => {
  const { mailbox } = service;
  await using receiver = startReceiver(service, 500, 404, 302, 299);
  const { id } = await hook(service, receiver);
  const delivery = await fire(service, id);
  await mailbox.clock.advance('10d');
  const { state, attempts } = mailbox.delivery(delivery.id);
  expect([state, attempts.map(({ status }) => status)]).toEqual(['delivered', [500, 404, 302, 299]]);
});

everywhere('retries can be switched off', { behaviours: { 'deliveries.retry': 'never' } }, async (service) => {
  await using receiver = startReceiver(service, { status: 500, headers: { 'Retry-After': '5' } });
  const { id } = await hook(service, receiver);
  expect(await fire(service, id)).toMatchObject({ state: 'exhausted', nextAttemptAt: null });
  await service.mailbox.clock.advance('10d');
  expect(receiver.requests).toHaveLength(1);
});

everywhere('a retry is made when real time reaches it', async (service) => {
  await using receiver = createPatientReceiver({ answers: [500] });
  const { id } = await hook(service, receiver);
  const delivery = await fire(service, id);
  await service.mailbox.clock.advance(4_999);
  await receiver.received(2);
  await service.mailbox.settled();
  expect(stateOf(service, delivery)).toBe('delivered');
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

everywhere('a Retry-After header delays the retry, up to a day', BY_CLOCK, async (service) => {
  await using receiver = startReceiver(service);
  const { id } = await hook(service, receiver);
  for (const [retryAfter, waitMs] of RETRY_AFTERS) {
    receiver.answer({ status: 503, headers: { 'Retry-After': retryAfter } });
    const { nextAttemptAt, attempts } = await fire(service, id);
    expect([nextAttemptAt, attempts[0]?.nextAttemptAt], retryAfter).toEqual([after(waitMs), after(waitMs)]);
  }
});

everywhere('Retry-After delays one retry, and the next one follows the schedule', async (service) => {
  await using receiver = startReceiver(service, { status: 429, headers: { 'Retry-After': '60' } }, 500);
  const { id } = await hook(service, receiver);
  const { id: deliveryId } = await fire(service, id);
  await service.mailbox.clock.advance('59s');
  expect(receiver.requests).toHaveLength(1);
  await service.mailbox.clock.advance('1s');
  expect(service.mailbox.delivery(deliveryId).nextAttemptAt).toBe(after(6 * MINUTE));
});

everywhere('Retry-After can be ignored', { behaviours: { 'deliveries.retry-after': 'ignored' } }, async (service) => {
  await using receiver = startReceiver(service, { status: 503, headers: { 'Retry-After': '3600' } });
  const { id } = await hook(service, receiver);
  expect((await fire(service, id)).nextAttemptAt).toBe(after(5 * SECOND));
});

everywhere('a 410 response makes the webhook inactive, and nothing more is sent', async (service) => {
  const { mailbox, send } = service;
  await using receiver = startReceiver(service, 500, 410);
  const { id } = await hook(service, receiver);
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
  'a 410 response can count as any other failure',
  { behaviours: { 'deliveries.gone': 'retried' } },
  async (service) => {
    const { mailbox, send } = service;
    await using receiver = startReceiver(service, 410);
    const { id } = await hook(service, receiver);
    await mailbox.receiveMessage(MAIL);
    await mailbox.clock.advance('5s');
    expect(mailbox.deliveries({ webhookId: id })).toMatchObject([{ state: 'delivered' }]);
    const shown = await send('GET', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant });
    expect(shown.json.isActive).toBe(true);
  },
);

const ENDS: [title: string, reason: string, end: (service: Service, webhookId: string) => Promise<Reply>][] = [
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
  everywhere(`what waits for a webhook that is ${title} is dropped when it is due`, async (service) => {
    const { mailbox } = service;
    const { outreach } = openInboxClients(service);
    await using receiver = startReceiver(service, 500);
    const { id } = await hook(service, receiver, { workspaceId: IDS.acme.workspaces.sales });
    await outreach.mail(ADDRESS.dana);
    await mailbox.settled();
    expect((await end(service, id)).status).toBe(200);
    await mailbox.clock.advance(5 * SECOND - 1);
    expect(mailbox.deliveries({ webhookId: id })).toMatchObject([{ state: 'pending' }]);
    await mailbox.clock.advance('10d');
    expect(mailbox.deliveries({ webhookId: id })).toMatchObject([
      { state: 'dropped', reason, nextAttemptAt: null, attempts: [{ status: 500 }] },
    ]);
    expect(receiver.requests).toHaveLength(1);
  });
}

everywhere('deleting a tenant discards its pending deliveries', async (service) => {
  const { mailbox, send } = service;
  await using receiver = startReceiver(service, 500, 'timeout');
  const { id } = await hook(service, receiver);
  const failed = await fire(service, id);
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

everywhere('a webhook that is inactive for a time loses no delivery that is due later', async (service) => {
  const { mailbox, send } = service;
  await using receiver = startReceiver(service, 500);
  const { id } = await hook(service, receiver);
  await mailbox.receiveMessage(MAIL);
  await mailbox.settled();
  for (const isActive of [false, true]) {
    await send('PATCH', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant, json: { isActive } });
  }
  await mailbox.clock.advance('5s');
  expect(mailbox.deliveries({ webhookId: id })).toMatchObject([{ state: 'delivered' }]);
});

everywhere('a retry is sent to the current URL of the webhook', async (service) => {
  const { mailbox, send } = service;
  await using before = startReceiver(service, 500);
  await using later = startReceiver(service);
  const { id, secret } = await hook(service, before);
  await mailbox.receiveMessage(MAIL);
  await mailbox.settled();
  const url = `${await later.listen()}/later`;
  later.secret = secret;
  await send('PATCH', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant, json: { url, events: ['message.sent'] } });
  await mailbox.clock.advance('5s');
  expect([before.requests.length, later.requests]).toMatchObject([1, [{ path: '/later', verified: true }]]);
  expect(later.requests[0]?.headers['webhook-id']).toBe(before.requests[0]?.headers['webhook-id']);
  expect(mailbox.deliveries({ webhookId: id })[0]?.attempts.map((attempt) => attempt.url)).toEqual([
    expect.stringMatching(/\/in$/),
    url,
  ]);
});
