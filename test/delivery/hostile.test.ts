import type { HostileOptions, HostilePlan } from 'agent-mailbox-mock';
import type { Receiver, ReceiverAnswer } from 'agent-mailbox-mock/receiver';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { control } from '../support/control.ts';
import { everywhere, interceptRequests, type World } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { after, hook, START, startReceiver } from '../support/webhooks.ts';

interceptRequests();

/** Makes and reads plans. */
function hostile(world: World, options?: HostileOptions) {
  return control(world, options ? 'POST /hostile' : 'GET /hostile', options, () => ({
    plans: world.mailbox.hostile(options),
  }));
}

async function plan(world: World, options: HostileOptions): Promise<HostilePlan[]> {
  const { status, json } = await hostile(world, options);
  expect([status, json.error]).toEqual([200, undefined]);
  return json.plans;
}

/** A webhook of Acme, unless a key says otherwise, at a receiver that verifies; time stands still. */
async function target(world: World, answers: ReceiverAnswer[] = [], key = world.mailbox.keys.acme.tenant) {
  const receiver = startReceiver(world, ...answers);
  const { id, secret } = await hook(world, receiver, { key });
  return {
    id,
    secret,
    receiver,
    /** Fires an event with an id at this webhook, without waiting. */
    fire: (name: string) => world.mailbox.trigger('message.received', { webhookId: id, id: name })[0]?.id ?? '',
    /** The ids of the events that came in, in their order. */
    heard: () => receiver.requests.map(({ headers }) => headers['webhook-id']),
    [Symbol.asyncDispose]: () => receiver.close(),
  };
}

const seenBy = ({ requests }: Receiver) => requests.map(({ verified, problem }) => [verified, problem]);

everywhere('a duplicate is sent twice, with the same id and signed both times', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'duplicate', webhookId: one.id });
  const id = one.fire('a');
  one.fire('b');
  await world.mailbox.settled();
  expect(one.heard().toSorted()).toEqual(['a', 'a', 'b']);
  expect(one.receiver.requests.every(({ verified }) => verified)).toBe(true);
  expect(world.mailbox.delivery(id)).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 200 }, { status: 200 }],
  });
  await world.mailbox.clock.advance('10d');
  expect(one.heard()).toHaveLength(3);
});

everywhere('a duplicate whose first copy fails is delivered by the second, and not tried again', async (world) => {
  await using one = await target(world, [500]);
  await plan(world, { plan: 'duplicate' });
  const id = one.fire('a');
  await world.mailbox.settled();
  expect(world.mailbox.delivery(id)).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 500 }, { status: 200 }],
  });
  await world.mailbox.clock.advance('10d');
  expect(one.heard()).toEqual(['a', 'a']);
});

everywhere('a duplicate whose second copy fails stays delivered', async (world) => {
  await using one = await target(world, [200, 500]);
  await plan(world, { plan: 'duplicate' });
  const id = one.fire('a');
  await world.mailbox.clock.advance('10d');
  expect(world.mailbox.delivery(id)).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 200 }, { status: 500 }],
  });
});

everywhere('a duplicate of which both fail is tried again as one', async (world) => {
  await using one = await target(world, [500, 500]);
  await plan(world, { plan: 'duplicate' });
  const id = one.fire('a');
  await world.mailbox.settled();
  expect(world.mailbox.delivery(id)).toMatchObject({ state: 'pending', nextAttemptAt: after(5_000) });
  await world.mailbox.clock.advance('10d');
  expect(one.heard()).toEqual(['a', 'a', 'a']);
  expect(world.mailbox.delivery(id).attempts.map(({ status }) => status)).toEqual([500, 500, 200]);
});

everywhere(
  'a duplicate whose second copy is taken is delivered, even where nothing is tried again',
  { behaviours: { 'deliveries.retry': 'never' } },
  async (world) => {
    await using one = await target(world, [500]);
    await plan(world, { plan: 'duplicate' });
    const id = one.fire('a');
    await world.mailbox.settled();
    expect(world.mailbox.delivery(id)).toMatchObject({
      state: 'delivered',
      reason: null,
      attempts: [{ status: 500 }, { status: 200 }],
    });
  },
);

everywhere('a reordered delivery is sent after the next one to its webhook', async (world) => {
  await using one = await target(world);
  await using two = await target(world);
  await plan(world, { plan: 'reorder', webhookId: one.id });
  const id = one.fire('a');
  await world.mailbox.settled();
  expect(world.mailbox.delivery(id)).toMatchObject({
    state: 'held',
    reason: 'It is held until the next delivery to its webhook has been sent, or for a minute.',
    attempts: [],
  });
  two.fire('other');
  await world.mailbox.settled();
  expect([one.heard(), two.heard()]).toEqual([[], ['other']]);
  one.fire('b');
  one.fire('c');
  await world.mailbox.settled();
  expect(one.heard()[0]).toBe('b');
  expect(one.heard().toSorted()).toEqual(['a', 'b', 'c']);
  expect(world.mailbox.delivery(id)).toMatchObject({ state: 'delivered', reason: null });
  await world.mailbox.clock.advance('10d');
  expect(one.heard()).toHaveLength(3);
});

everywhere('several that are reordered come after the next, the latest first', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'reorder', count: 3 });
  for (const name of ['a', 'b', 'c', 'd']) one.fire(name);
  await world.mailbox.settled();
  expect(one.heard()).toEqual(['d', 'c', 'b', 'a']);
});

everywhere('a reordered delivery is sent after one that fails too', async (world) => {
  await using one = await target(world, [500]);
  await plan(world, { plan: 'reorder' });
  for (const name of ['a', 'b']) one.fire(name);
  await world.mailbox.clock.advance('5s');
  expect(one.heard()).toEqual(['b', 'a', 'b']);
});

everywhere('a reordered delivery that no other follows is sent a minute later', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'reorder' });
  const id = one.fire('a');
  await world.mailbox.clock.advance(59_999);
  expect(one.heard()).toEqual([]);
  await world.mailbox.clock.advance(1);
  expect(world.mailbox.delivery(id)).toMatchObject({ state: 'delivered', attempts: [{ at: after(60_000) }] });
});

everywhere('what is held waits until it is released, oldest first and as many as are asked for', async (world) => {
  await using one = await target(world);
  await using two = await target(world);
  await plan(world, { plan: 'hold', count: 6 });
  const [id] = ['a', 'b', 'c'].map(one.fire);
  ['d', 'e', 'f'].map(two.fire);
  one.fire('free');
  await world.mailbox.clock.advance('30d');
  expect([one.heard(), two.heard()]).toEqual([['free'], []]);
  expect(world.mailbox.deliveries({ state: 'held' })).toHaveLength(6);
  expect(world.mailbox.delivery(id ?? '')).toMatchObject({ reason: 'It is held until it is released.', attempts: [] });

  await plan(world, { plan: 'release', webhookId: one.id, count: 2 });
  await world.mailbox.settled();
  expect([one.heard(), two.heard()]).toEqual([['free', 'a', 'b'], []]);
  await plan(world, { plan: 'release', count: 2 });
  await world.mailbox.settled();
  expect([one.heard().at(-1), two.heard()]).toEqual(['c', ['d']]);
  await plan(world, { plan: 'release' });
  await world.mailbox.settled();
  expect([one.heard().length, two.heard()]).toEqual([4, ['d', 'e', 'f']]);
  expect([...one.receiver.requests, ...two.receiver.requests].every(({ verified }) => verified)).toBe(true);
  expect(world.mailbox.deliveries({ state: 'delivered' })).toHaveLength(7);
});

everywhere('what is released and fails is tried again', async (world) => {
  await using one = await target(world, [500]);
  await plan(world, { plan: 'hold' });
  const id = one.fire('a');
  await plan(world, { plan: 'release' });
  await world.mailbox.settled();
  expect(world.mailbox.delivery(id)).toMatchObject({ state: 'pending', reason: null, nextAttemptAt: after(5_000) });
  await world.mailbox.clock.advance('5s');
  expect(world.mailbox.delivery(id).state).toBe('delivered');
});

everywhere('what was held for a webhook that is gone by then is dropped', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'hold' });
  const id = one.fire('a');
  await world.send('DELETE', `/v1/webhooks/${one.id}`, { key: world.mailbox.keys.acme.tenant });
  await plan(world, { plan: 'release' });
  await world.mailbox.settled();
  expect(world.mailbox.delivery(id)).toMatchObject({ state: 'dropped', reason: 'Its webhook is gone.' });
  expect(one.heard()).toEqual([]);
});

everywhere('release lets go what waits to be reordered too', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'reorder' });
  one.fire('a');
  await plan(world, { plan: 'release' });
  await world.mailbox.settled();
  one.fire('b');
  await world.mailbox.clock.advance('10d');
  expect(one.heard()).toEqual(['a', 'b']);
});

everywhere('what is dropped is never sent', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'drop', count: 2 });
  const ids = ['a', 'b', 'c'].map(one.fire);
  await world.mailbox.clock.advance('10d');
  await plan(world, { plan: 'release' });
  await world.mailbox.settled();
  expect(one.heard()).toEqual(['c']);
  expect(world.mailbox.delivery(ids[0] ?? '')).toMatchObject({
    state: 'dropped',
    reason: 'A hostile plan dropped it.',
    attempts: [],
    nextAttemptAt: null,
  });
});

everywhere('what is delayed is sent later: by a minute, or as it is asked for', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'delay' });
  await plan(world, { plan: 'delay', delay: '2h' });
  await plan(world, { plan: 'delay', delay: 1_500 });
  const ids = ['a', 'b', 'c', 'd'].map(one.fire);
  const dues = ids.slice(0, 3).map((id) => world.mailbox.delivery(id).nextAttemptAt);
  expect(dues).toEqual([60_000, 7_200_000, 1_500].map(after));
  await world.mailbox.clock.advance(59_999);
  expect(one.heard()).toEqual(['d', 'c']);
  await world.mailbox.clock.advance('2h');
  expect(one.heard()).toEqual(['d', 'c', 'a', 'b']);
  expect(one.receiver.requests.every(({ verified }) => verified)).toBe(true);
  expect(ids.map((id) => world.mailbox.delivery(id).attempts.map(({ at }) => at))).toEqual(
    [60_000, 7_200_000, 1_500, 0].map((ms) => [after(ms)]),
  );
});

everywhere('a stale timestamp is an hour old and signed so, and its retry is right', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'stale-timestamp' });
  const id = one.fire('a');
  await world.mailbox.clock.advance('5s');
  const [stale] = one.receiver.requests;
  const at = Date.parse(START) / 1000 - 3_600;
  expect(seenBy(one.receiver)).toEqual([
    [false, `The timestamp ${at} is more than 5 minutes from ${START}`],
    [true, null],
  ]);
  const signed = new Webhook(one.secret).sign('a', new Date(at * 1000), stale?.body ?? '');
  expect(stale?.headers['webhook-signature']).toBe(signed);
  expect(world.mailbox.delivery(id)).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 401 }, { status: 200 }],
  });
});

everywhere('a wrong secret does not verify, and the retry does', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'wrong-secret', count: 2 });
  const ids = ['a', 'b'].map(one.fire);
  await world.mailbox.clock.advance('5s');
  const wrong = [false, 'No matching signature found'];
  expect(seenBy(one.receiver)).toEqual([wrong, wrong, [true, null], [true, null]]);
  const [first, second, retry] = one.receiver.requests;
  expect(first?.headers['x-webhook-signature']).not.toBe(retry?.headers['x-webhook-signature']);
  expect(first?.headers['webhook-signature']).not.toBe(second?.headers['webhook-signature']);
  expect(first?.body).toBe(retry?.body);
  expect(ids.map((id) => world.mailbox.delivery(id).state)).toEqual(['delivered', 'delivered']);
});

everywhere('one with two signatures verifies by the second, as while a secret rotates', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'two-signatures' });
  one.fire('a');
  await world.mailbox.settled();
  const [request] = one.receiver.requests;
  expect(request).toMatchObject({ verified: true });
  const signatures = request?.headers['webhook-signature']?.split(' ') ?? [];
  const right = new Webhook(one.secret).sign('a', new Date(START), request?.body ?? '');
  expect([signatures.length, signatures[1]]).toEqual([2, right]);
  expect(signatures[0]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  expect(signatures[0]).not.toBe(right);
  expect(request?.headers['x-webhook-signature']).toMatch(/^v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
});

everywhere('half of a truncated body is missing, and the retry is whole', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'truncated-body' });
  const id = one.fire('a');
  await world.mailbox.clock.advance('5s');
  expect(seenBy(one.receiver)).toEqual([
    [false, 'No matching signature found'],
    [true, null],
  ]);
  const [half, whole] = one.receiver.requests.map(({ body }) => body) as [string, string];
  expect([half, half.length]).toEqual([whole.slice(0, half.length), Math.floor(whole.length / 2)]);
  expect(one.receiver.requests.map(({ json }) => json)).toEqual([undefined, world.mailbox.delivery(id).payload]);
  expect(world.mailbox.delivery(id).attempts.map(({ requestBody }) => requestBody)).toEqual([half, whole]);
});

everywhere('an oversize body has 1 MiB more and verifies, and a retry has not', async (world) => {
  await using one = await target(world, [413]);
  await plan(world, { plan: 'oversize-body' });
  const id = one.fire('a');
  await world.mailbox.clock.advance('5s');
  const [big, retry] = one.receiver.requests;
  const { payload } = world.mailbox.delivery(id);
  expect(seenBy(one.receiver)).toEqual([
    [true, null],
    [true, null],
  ]);
  expect(big?.json).toEqual({ ...payload, padding: 'x'.repeat(1024 * 1024) });
  expect(retry?.json).toEqual(payload);
});

everywhere('a plan is for as many deliveries as it says, and those that stand are listed', async (world) => {
  await using one = await target(world);
  expect((await hostile(world)).json).toEqual({ plans: [] });
  const standing = { tenantId: IDS.acme.tenant, webhookId: one.id, delayMs: 0 };
  expect(await plan(world, { plan: 'drop', webhookId: one.id, count: 3 })).toEqual([
    { ...standing, plan: 'drop', count: 3 },
  ]);
  await plan(world, { plan: 'delay', webhookId: one.id.toUpperCase(), delay: '5m' });
  one.fire('a');
  expect((await hostile(world)).json).toEqual({
    plans: [
      { ...standing, plan: 'drop', count: 2 },
      { ...standing, plan: 'delay', count: 1, delayMs: 300_000 },
    ],
  });
  for (const name of ['b', 'c', 'd', 'e']) one.fire(name);
  expect((await hostile(world)).json).toEqual({ plans: [] });
  await world.mailbox.settled();
  expect(one.heard()).toEqual(['e']);
});

everywhere(
  'a plan that names no webhook is for every one of every tenant, or of the tenant it names',
  async (world) => {
    const { globex } = world.mailbox.keys;
    await using one = await target(world);
    await using two = await target(world);
    await using other = await target(world, [], globex.tenant);
    const both = await plan(world, { plan: 'drop' });
    expect(both.map(({ tenantId, webhookId, count }) => [tenantId, webhookId, count])).toEqual([
      [IDS.acme.tenant, null, 1],
      [IDS.globex.tenant, null, 1],
    ]);
    for (const { fire } of [one, two, other, other]) fire('a');
    await world.mailbox.settled();
    expect([one.heard(), two.heard(), other.heard()]).toEqual([[], ['a'], ['a']]);

    await plan(world, { plan: 'drop', tenant: IDS.globex.tenant.toUpperCase() });
    for (const { fire } of [one, other]) fire('b');
    await world.mailbox.settled();
    expect([one.heard(), other.heard()]).toEqual([['b'], ['a']]);
  },
);

everywhere('the plans of a webhook come before those of its tenant, the older before the newer', async (world) => {
  await using one = await target(world);
  await using two = await target(world);
  await plan(world, { plan: 'drop' });
  await plan(world, { plan: 'hold' });
  await plan(world, { plan: 'delay', webhookId: one.id, delay: 1_000 });
  await plan(world, { plan: 'stale-timestamp', webhookId: one.id });
  await plan(world, { plan: 'drop', webhookId: two.id });
  const ids = ['a', 'b', 'c', 'd', 'e'].map(one.fire);
  await world.mailbox.settled();
  expect(ids.map((id) => world.mailbox.delivery(id).state)).toEqual([
    'pending',
    'pending',
    'dropped',
    'held',
    'delivered',
  ]);
  expect(world.mailbox.delivery(ids[0] ?? '').nextAttemptAt).toBe(after(1_000));
  expect(seenBy(one.receiver)[0]?.[0]).toBe(false);
  const ofAcme = (await hostile(world)).json.plans.filter(({ tenantId }: HostilePlan) => tenantId === IDS.acme.tenant);
  expect(ofAcme).toMatchObject([{ webhookId: two.id, plan: 'drop' }]);
});

everywhere('none ends the plans that have not come true: of one webhook, or all', async (world) => {
  await using one = await target(world);
  await plan(world, { plan: 'drop', webhookId: one.id, count: 5 });
  await plan(world, { plan: 'hold' });
  one.fire('a');
  expect(await plan(world, { plan: 'none', webhookId: one.id })).toMatchObject([
    { plan: 'hold', webhookId: null, tenantId: IDS.acme.tenant },
    { plan: 'hold', webhookId: null, tenantId: IDS.globex.tenant },
  ]);
  const held = one.fire('b');
  expect(await plan(world, { plan: 'none' })).toEqual([]);
  one.fire('c');
  await world.mailbox.settled();
  expect([one.heard(), world.mailbox.delivery(held).state]).toEqual([['c'], 'held']);
});

everywhere('a plan takes what mail leads to, and does not touch what is sent once more', async (world) => {
  const { mailbox } = world;
  await using one = await target(world);
  await plan(world, { plan: 'wrong-secret', tenant: IDS.acme.tenant });
  await mailbox.receiveMessage({ from: 'dana@customer.test', to: 'helpdesk@acme.test' });
  await mailbox.clock.advance('5s');
  await plan(world, { plan: 'wrong-secret', tenant: IDS.acme.tenant });
  const [delivery] = mailbox.deliveries({ webhookId: one.id });
  mailbox.redeliver(delivery?.id ?? '');
  await mailbox.settled();
  expect(one.receiver.requests.map(({ verified }) => verified)).toEqual([false, true, true]);
  expect((await hostile(world)).json.plans).toHaveLength(1);
});

const PLANS =
  'plan must be one of duplicate, reorder, hold, drop, delay, stale-timestamp, wrong-secret, two-signatures, truncated-body, oversize-body, release, none.';
const COUNT = 'count must be a whole number from 1 to 1000000.';
const DELAY = 'delay must be milliseconds or a text such as 5m, 36h or 3d, up to 100 years.';

everywhere('a plan that there is not is refused, and no plan changes', async (world) => {
  await using one = await target(world);
  const before = await plan(world, { plan: 'drop', webhookId: one.id });
  for (const [options, status, said] of [
    [{}, 400, PLANS],
    [{ plan: 'chaos' }, 400, PLANS],
    [{ plan: null }, 400, PLANS],
    [{ plan: 'toString' }, 400, PLANS],
    [{ plan: 'drop', count: 0 }, 400, COUNT],
    [{ plan: 'drop', count: 1.5 }, 400, COUNT],
    [{ plan: 'drop', count: 1_000_001 }, 400, COUNT],
    [{ plan: 'drop', count: '3' }, 400, COUNT],
    [{ plan: 'delay', delay: 'soon' }, 400, DELAY],
    [{ plan: 'delay', delay: -1 }, 400, DELAY],
    [{ plan: 'drop', webhookId: 'x' }, 400, 'webhookId must be the UUID of a webhook.'],
    [{ plan: 'drop', tenant: 'acme' }, 400, 'tenant must be the UUID of a tenant.'],
    [{ plan: 'drop', often: true }, 400, 'has fields that are not known here: "often".'],
    [{ plan: 'drop', webhookId: IDS.nobody }, 404, 'There is no webhook with this id.'],
    [{ plan: 'drop', tenant: IDS.nobody }, 404, 'There is no tenant with this id.'],
    [{ plan: 'drop', webhookId: one.id, tenant: IDS.globex.tenant }, 404, 'There is no webhook with this id.'],
    [{ plan: 'none', webhookId: IDS.nobody }, 404, 'There is no webhook with this id.'],
    [{ plan: 'release', tenant: IDS.nobody }, 404, 'There is no tenant with this id.'],
  ] as const) {
    const refused = await hostile(world, options as never);
    const code = status === 400 ? 'VALIDATION_ERROR' : 'NOT_FOUND';
    const title = JSON.stringify(options);
    expect([refused.status, refused.json], title).toEqual([status, { error: expect.stringContaining(said), code }]);
    expect(refused.json.error, title).toMatch(/^[^\n]+\.$/);
  }
  expect((await hostile(world)).json.plans).toEqual(before);
});
