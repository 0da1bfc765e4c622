import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { addFault, release, seenBy, target } from '../../support/faults.ts';
import { serve } from '../../support/serve.ts';
import { after, createWebhook, START } from '../../support/webhooks.ts';

interceptRequests();

const BY_CLOCK = { behaviours: { 'deliveries.timestamp': 'clock' } } as const;

everywhere('an attempt names the fault that applied to it', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'wrong-secret', webhookId: one.id });
  const id = one.fire('a');
  await service.mailbox.clock.advance('5s');
  expect(service.mailbox.delivery(id).attempts).toMatchObject([
    { status: 401, fault: 'wrong-secret' },
    { status: 200, fault: null },
  ]);
});

everywhere('a duplicate is sent twice, with the same id and signed both times', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'duplicate', webhookId: one.id });
  const id = one.fire('a');
  one.fire('b');
  await service.mailbox.settled();
  expect(one.received().toSorted()).toEqual(['a', 'a', 'b']);
  expect(one.receiver.requests.every(({ verified }) => verified)).toBe(true);
  expect(service.mailbox.delivery(id)).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 200 }, { status: 200 }],
  });
  await service.mailbox.clock.advance('10d');
  expect(one.received()).toHaveLength(3);
});

everywhere('a duplicate whose first copy fails is delivered by the second, and not tried again', async (service) => {
  await using one = await target(service, [500]);
  await addFault(service, { kind: 'duplicate' });
  const id = one.fire('a');
  await service.mailbox.settled();
  expect(service.mailbox.delivery(id)).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 500 }, { status: 200 }],
  });
  const attempts = service.mailbox.journal({ kinds: ['attempt'] });
  expect(attempts.map(({ data: { status, state } }) => [status, state])).toEqual([
    [500, 'pending'],
    [200, 'delivered'],
  ]);
  await service.mailbox.clock.advance('10d');
  expect(one.received()).toEqual(['a', 'a']);
});

everywhere('a duplicate whose second copy fails stays delivered', async (service) => {
  await using one = await target(service, [200, 500]);
  await addFault(service, { kind: 'duplicate' });
  const id = one.fire('a');
  await service.mailbox.clock.advance('10d');
  expect(service.mailbox.delivery(id)).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 200 }, { status: 500 }],
  });
});

everywhere('a duplicate whose copies both fail is retried once', async (service) => {
  await using one = await target(service, [500, 500]);
  await addFault(service, { kind: 'duplicate' });
  const id = one.fire('a');
  await service.mailbox.settled();
  expect(service.mailbox.delivery(id)).toMatchObject({ state: 'pending', nextAttemptAt: after(5_000) });
  await service.mailbox.clock.advance('10d');
  expect(one.received()).toEqual(['a', 'a', 'a']);
  expect(service.mailbox.delivery(id).attempts.map(({ status }) => status)).toEqual([500, 500, 200]);
});

everywhere('a duplicate that is redelivered before its turn leaves the new delivery alone', async (service) => {
  const { mailbox } = service;
  const open: ServerResponse[] = [];
  await using receiver = await serve((_, response) => void open.push(response));
  const { id: webhookId } = await createWebhook(service, receiver.url);
  mailbox.trigger('message.received', { webhookId, id: 'before' });
  await addFault(service, { kind: 'duplicate' });
  const [delivery] = mailbox.trigger('message.received', { webhookId, id: 'twice' });
  const id = delivery?.id ?? '';
  const answer = async (count: number, status: number) => {
    await expect.poll(() => open.length).toBe(count);
    open.at(-1)?.writeHead(status).end();
  };
  await expect.poll(() => open.length).toBe(1);
  mailbox.redeliver(id);
  await answer(1, 200);
  // The second copy of the former delivery succeeds, which does not end the new one: it is still sent, and fails.
  await answer(2, 200);
  await answer(3, 500);
  await mailbox.settled();
  expect(mailbox.delivery(id)).toMatchObject({ state: 'pending', attempts: [{ status: 200 }, { status: 500 }] });
  expect(mailbox.delivery(id).nextAttemptAt).not.toBeNull();
});

everywhere(
  'a duplicate whose second copy succeeds is delivered, even if retries are off',
  { behaviours: { 'deliveries.retry': 'never' } },
  async (service) => {
    await using one = await target(service, [500]);
    await addFault(service, { kind: 'duplicate' });
    const id = one.fire('a');
    await service.mailbox.settled();
    expect(service.mailbox.delivery(id)).toMatchObject({
      state: 'delivered',
      reason: null,
      attempts: [{ status: 500 }, { status: 200 }],
    });
  },
);

everywhere('a reordered delivery is sent after the next one to its webhook', async (service) => {
  await using one = await target(service);
  await using two = await target(service);
  await addFault(service, { kind: 'reorder', webhookId: one.id });
  const id = one.fire('a');
  await service.mailbox.settled();
  expect(service.mailbox.delivery(id)).toMatchObject({
    state: 'held',
    reason: 'It is held until the next delivery to its webhook has been sent, or for a minute.',
    attempts: [],
  });
  two.fire('other');
  await service.mailbox.settled();
  expect([one.received(), two.received()]).toEqual([[], ['other']]);
  one.fire('b');
  one.fire('c');
  await service.mailbox.settled();
  expect(one.received()[0]).toBe('b');
  expect(one.received().toSorted()).toEqual(['a', 'b', 'c']);
  expect(service.mailbox.delivery(id)).toMatchObject({ state: 'delivered', reason: null });
  await service.mailbox.clock.advance('10d');
  expect(one.received()).toHaveLength(3);
});

everywhere('several reordered deliveries are sent after the next one, the latest first', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'reorder', times: 3 });
  for (const name of ['a', 'b', 'c', 'd']) one.fire(name);
  await service.mailbox.settled();
  expect(one.received()).toEqual(['d', 'c', 'b', 'a']);
});

everywhere('a reordered delivery is sent after one that fails too', async (service) => {
  await using one = await target(service, [500]);
  await addFault(service, { kind: 'reorder' });
  for (const name of ['a', 'b']) one.fire(name);
  await service.mailbox.clock.advance('5s');
  expect(one.received()).toEqual(['b', 'a', 'b']);
});

everywhere('a reordered delivery that no other follows is sent a minute later', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'reorder' });
  const id = one.fire('a');
  await service.mailbox.clock.advance(59_999);
  expect(one.received()).toEqual([]);
  await service.mailbox.clock.advance(1);
  expect(service.mailbox.delivery(id)).toMatchObject({ state: 'delivered', attempts: [{ at: after(60_000) }] });
});

everywhere('held deliveries wait for release, which sends the oldest first, up to a count', async (service) => {
  await using one = await target(service);
  await using two = await target(service);
  await addFault(service, { kind: 'hold', times: 6 });
  const [id] = ['a', 'b', 'c'].map(one.fire);
  ['d', 'e', 'f'].map(two.fire);
  one.fire('free');
  await service.mailbox.clock.advance('30d');
  expect([one.received(), two.received()]).toEqual([['free'], []]);
  expect(service.mailbox.deliveries({ state: 'held' })).toHaveLength(6);
  expect(service.mailbox.delivery(id ?? '')).toMatchObject({
    reason: 'It is held until it is released.',
    attempts: [],
  });

  await release(service, { webhookId: one.id, count: 2 });
  await service.mailbox.settled();
  expect([one.received(), two.received()]).toEqual([['free', 'a', 'b'], []]);
  await release(service, { count: 2 });
  await service.mailbox.settled();
  expect([one.received().at(-1), two.received()]).toEqual(['c', ['d']]);
  await release(service);
  await service.mailbox.settled();
  expect([one.received().length, two.received()]).toEqual([4, ['d', 'e', 'f']]);
  expect([...one.receiver.requests, ...two.receiver.requests].every(({ verified }) => verified)).toBe(true);
  expect(service.mailbox.deliveries({ state: 'delivered' })).toHaveLength(7);
});

everywhere('a released delivery that fails is retried', async (service) => {
  await using one = await target(service, [500]);
  await addFault(service, { kind: 'hold' });
  const id = one.fire('a');
  await release(service);
  await service.mailbox.settled();
  expect(service.mailbox.delivery(id)).toMatchObject({ state: 'pending', reason: null, nextAttemptAt: after(5_000) });
  await service.mailbox.clock.advance('5s');
  expect(service.mailbox.delivery(id).state).toBe('delivered');
});

everywhere('a held delivery is dropped if its webhook has been deleted', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'hold' });
  const id = one.fire('a');
  await service.send('DELETE', `/v1/webhooks/${one.id}`, { key: service.mailbox.keys.acme.tenant });
  await release(service);
  await service.mailbox.settled();
  expect(service.mailbox.delivery(id)).toMatchObject({ state: 'dropped', reason: 'Its webhook is gone.' });
  expect(one.received()).toEqual([]);
});

everywhere('release also sends deliveries that wait to be reordered', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'reorder' });
  one.fire('a');
  await release(service);
  await service.mailbox.settled();
  one.fire('b');
  await service.mailbox.clock.advance('10d');
  expect(one.received()).toEqual(['a', 'b']);
});

everywhere('a dropped delivery is never sent', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'drop', times: 2 });
  const ids = ['a', 'b', 'c'].map(one.fire);
  await service.mailbox.clock.advance('10d');
  await release(service);
  await service.mailbox.settled();
  expect(one.received()).toEqual(['c']);
  expect(service.mailbox.delivery(ids[0] ?? '')).toMatchObject({
    state: 'dropped',
    reason: 'A delivery fault dropped it.',
    attempts: [],
    nextAttemptAt: null,
  });
});

everywhere('the journal says that a dropped delivery was created, and then that it ended', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'drop' });
  one.fire('a');
  await service.mailbox.settled();
  const [created, ended, ...others] = service.mailbox.journal({ kinds: ['delivery-created', 'delivery-ended'] });
  expect(created).toMatchObject({ kind: 'delivery-created', data: { state: 'pending', reason: null } });
  expect(ended).toMatchObject({
    kind: 'delivery-ended',
    cause: { number: created?.number },
    data: { state: 'dropped', reason: 'A delivery fault dropped it.' },
  });
  expect(others).toEqual([]);
});

everywhere('a delayed delivery is sent a minute later, or by the given delay', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'delay' });
  await addFault(service, { kind: 'delay', delay: '2h' });
  await addFault(service, { kind: 'delay', delay: 1_500 });
  const ids = ['a', 'b', 'c', 'd'].map(one.fire);
  const dues = ids.slice(0, 3).map((id) => service.mailbox.delivery(id).nextAttemptAt);
  expect(dues).toEqual([60_000, 7_200_000, 1_500].map(after));
  await service.mailbox.clock.advance(59_999);
  expect(one.received()).toEqual(['d', 'c']);
  await service.mailbox.clock.advance('2h');
  expect(one.received()).toEqual(['d', 'c', 'a', 'b']);
  expect(one.receiver.requests.every(({ verified }) => verified)).toBe(true);
  expect(ids.map((id) => service.mailbox.delivery(id).attempts.map(({ at }) => at))).toEqual(
    [60_000, 7_200_000, 1_500, 0].map((ms) => [after(ms)]),
  );
});

everywhere(
  'a stale timestamp is an hour old and signed, and the retry has the right time',
  BY_CLOCK,
  async (service) => {
    await using one = await target(service);
    await addFault(service, { kind: 'stale-timestamp' });
    const id = one.fire('a');
    await service.mailbox.clock.advance('5s');
    const [stale] = one.receiver.requests;
    const at = Date.parse(START) / 1000 - 3_600;
    expect(seenBy(one)).toEqual([
      [false, `The timestamp ${at} is more than 5 minutes from ${START}.`],
      [true, null],
    ]);
    const signed = new Webhook(one.secret).sign('a', new Date(at * 1000), stale?.body ?? '');
    expect(stale?.headers['webhook-signature']).toBe(signed);
    expect(service.mailbox.delivery(id)).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 401 }, { status: 200 }],
    });
  },
);

everywhere('a delivery with a wrong secret does not verify, and its retry does', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'wrong-secret', times: 2 });
  const ids = ['a', 'b'].map(one.fire);
  await service.mailbox.clock.advance('5s');
  const wrong = [false, 'No matching signature found'];
  expect(seenBy(one)).toEqual([wrong, wrong, [true, null], [true, null]]);
  const [first, second, retry] = one.receiver.requests;
  expect(first?.headers['x-webhook-signature']).not.toBe(retry?.headers['x-webhook-signature']);
  expect(first?.headers['webhook-signature']).not.toBe(second?.headers['webhook-signature']);
  expect(first?.body).toBe(retry?.body);
  expect(ids.map((id) => service.mailbox.delivery(id).state)).toEqual(['delivered', 'delivered']);
});

everywhere(
  'a delivery with two signatures verifies by the second, as while a secret rotates',
  BY_CLOCK,
  async (service) => {
    await using one = await target(service);
    await addFault(service, { kind: 'two-signatures' });
    one.fire('a');
    await service.mailbox.settled();
    const [request] = one.receiver.requests;
    expect(request).toMatchObject({ verified: true });
    const signatures = request?.headers['webhook-signature']?.split(' ') ?? [];
    const right = new Webhook(one.secret).sign('a', new Date(START), request?.body ?? '');
    expect([signatures.length, signatures[1]]).toEqual([2, right]);
    expect(signatures[0]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    expect(signatures[0]).not.toBe(right);
    expect(request?.headers['x-webhook-signature']).toMatch(/^v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  },
);

everywhere('a truncated body lacks its second half, and the retry is whole', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'truncated-body' });
  const id = one.fire('a');
  await service.mailbox.clock.advance('5s');
  expect(seenBy(one)).toEqual([
    [false, 'No matching signature found'],
    [true, null],
  ]);
  const [half, whole] = one.receiver.requests.map(({ body }) => body) as [string, string];
  expect([half, half.length]).toEqual([whole.slice(0, half.length), Math.floor(whole.length / 2)]);
  expect(one.receiver.requests.map(({ json }) => json)).toEqual([undefined, service.mailbox.delivery(id).payload]);
  expect(service.mailbox.delivery(id).attempts.map(({ requestBody }) => requestBody)).toEqual([half, whole]);
});

everywhere('an unreachable receiver gets nothing at the first attempt, and the retry', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'unreachable' });
  const id = one.fire('a');
  await service.mailbox.settled();
  expect(one.received()).toEqual([]);
  await service.mailbox.clock.advance('5s');
  expect(one.received()).toEqual(['a']);
  expect(service.mailbox.delivery(id)).toMatchObject({
    state: 'delivered',
    attempts: [
      { status: null, fault: 'unreachable', error: 'The receiver could not be reached, because of a fault.' },
      { status: 200, fault: null },
    ],
  });
});

everywhere('an oversize body has 1 MiB of padding and verifies, and the retry has no padding', async (service) => {
  await using one = await target(service, [413]);
  await addFault(service, { kind: 'oversize-body' });
  const id = one.fire('a');
  await service.mailbox.clock.advance('5s');
  const [big, retry] = one.receiver.requests;
  const { payload } = service.mailbox.delivery(id);
  expect(seenBy(one)).toEqual([
    [true, null],
    [true, null],
  ]);
  expect(big?.json).toEqual({ ...payload, padding: 'x'.repeat(1024 * 1024) });
  expect(retry?.json).toEqual(payload);
});
