import 'agent-mailbox-mock/matchers';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { startCalling } from '../../support/deliveries.ts';
import { IDS } from '../../support/ids.ts';
import { withoutTimes } from '../../support/log.ts';
import { send, senderTo } from '../../support/send.ts';
import { createWebhook, START } from '../../support/webhooks.ts';

test('the log keeps 10,000 deliveries of a tenant and removes finished ones first, oldest first', async () => {
  const { mailbox, ids } = await startCalling(async () => new Response(), 100);
  mailbox.addFault({ on: 'delivery', kind: 'hold', webhookId: ids[7] ?? '' });
  for (let count = 0; count < 102; count += 1) {
    mailbox.trigger('message.sent', { id: `evt_${count}` });
    await mailbox.settled({ timeout: '25s' });
  }
  const kept = mailbox.deliveries();
  expect(kept).toHaveLength(10_000);
  const lost = { dropped: 0, forgotten: 200 };
  expect([mailbox.losses(), await mailbox.settled()]).toEqual([lost, { losses: lost }]);
  expect(mailbox).toHaveDelivered({ event: 'message.sent' });
  expect(() => expect(mailbox).not.toHaveDelivered({ event: 'message.received' })).toThrow(
    'no longer has 200 deliveries',
  );
  expect(kept[0]).toMatchObject({ state: 'held', eventId: 'evt_0', webhookId: ids[7] });
  expect(kept.slice(1).every(({ state }) => state === 'delivered')).toBe(true);
  expect([kept[1]?.eventId, kept.at(-1)?.eventId]).toEqual(['evt_2', 'evt_101']);
  mailbox.release();
  await mailbox.settled();
  expect(mailbox.delivery(kept[0]?.id ?? '').state).toBe('delivered');
});

test('the log drops unfinished deliveries when it has no room for others, and they are not sent again', async () => {
  let isUp = false;
  const called: string[] = [];
  const { mailbox } = await startCalling(async (url) => {
    if (isUp) called.push(url);
    return new Response(null, { status: isUp ? 200 : 503 });
  }, 100);
  for (let count = 0; count < 101; count += 1) mailbox.trigger('message.sent', { id: `evt_${count}` });
  await mailbox.settled({ timeout: '25s' });
  const kept = mailbox.deliveries();
  expect([kept.length, kept[0]?.eventId, kept.at(-1)?.eventId]).toEqual([10_000, 'evt_1', 'evt_100']);
  const { acme, globex } = IDS;
  const lost = { dropped: 100, forgotten: 0 };
  expect([mailbox.losses(), await mailbox.settled()]).toEqual([lost, { losses: lost }]);
  expect(mailbox.losses({ tenant: acme.tenant.toUpperCase() })).toEqual(lost);
  expect(mailbox.losses({ tenant: globex.tenant })).toEqual({ dropped: 0, forgotten: 0 });
  isUp = true;
  await mailbox.clock.advance('5s');
  expect(called).toHaveLength(10_000);
  expect(mailbox.deliveries({ state: 'delivered' })).toHaveLength(10_000);
  mailbox.reset();
  expect(mailbox.losses()).toEqual({ dropped: 0, forgotten: 0 });
});

test('the log keeps 64 MiB of text of a tenant', async () => {
  const { mailbox } = await startCalling(async () => new Response('x'.repeat(100)), 1);
  mailbox.addFault({ on: 'delivery', kind: 'hold', tenant: IDS.acme.tenant });
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

test('a delivery that is larger than the log is tried to its end, and not dropped for itself', async () => {
  const { mailbox } = await startCalling(async () => new Response(null, { status: 503 }), 1);
  mailbox.trigger('message.sent', { note: 'x'.repeat(20 * 1024 * 1024) });
  await mailbox.settled({ timeout: '25s' });
  await mailbox.clock.advance('5d');
  expect(mailbox.deliveries()).toMatchObject([{ state: 'exhausted', reason: 'Its last attempt failed.' }]);
  expect(mailbox.deliveries()[0]?.attempts).toHaveLength(10);
  expect(mailbox.losses()).toEqual({ dropped: 0, forgotten: 0 });
});

test('a full log drops the oldest delivery that waits, but not the delivery that has just been tried', async () => {
  const { mailbox } = await startCalling(async () => new Response(null, { status: 503 }), 1);
  const note = 'x'.repeat(10 * 1024 * 1024);
  mailbox.trigger('message.sent', { id: 'a', note });
  await mailbox.clock.advance('1s');
  mailbox.trigger('message.sent', { id: 'b', note });
  await mailbox.clock.advance('5s');
  expect(mailbox.deliveries()).toMatchObject([{ attempts: { length: 2 } }, { attempts: { length: 2 } }]);
  await mailbox.clock.advance('299s');
  expect(mailbox.deliveries().map(({ eventId, state }) => [eventId, state])).toEqual([['a', 'pending']]);
  expect(mailbox.losses()).toEqual({ dropped: 1, forgotten: 0 });
});

test('the server log and the list of deliveries report what a full log drops', async () => {
  const lines: string[] = [];
  const environment = { fetch: async () => new Response(null, { status: 503 }) };
  await using server = await startServer({ port: 0, environment, log: (line) => lines.push(line) });
  const { mailbox } = server;
  mailbox.clock.freeze(START);
  const service = { mailbox, send: senderTo(mailbox) };
  const { id } = await createWebhook(service, 'https://agent.example/in');
  mailbox.trigger('message.received');
  const ids = [id];
  while (ids.length < 100) ids.push((await createWebhook(service, 'https://agent.example/in')).id);
  for (let count = 0; count < 100; count += 1) mailbox.trigger('message.received');
  await mailbox.settled({ timeout: '25s' });
  const nameOf = (each: string) => `webhook ${each.slice(0, 4)}… https://agent.example/in`;
  const attempts = ids.map((each) => `message.received 503 ${nameOf(each)} `);
  const others = lines.map(withoutTimes).filter((line) => !attempts.some((attempt) => line.startsWith(attempt)));
  expect(others).toEqual([
    `message.received ! ${nameOf(id)} dropped: There was no room for it: too many deliveries wait. (link)`,
  ]);
  const { json } = await send(`${server.control}/deliveries?state=delivered`, 'GET', {});
  expect(json).toEqual({ deliveries: [], losses: { dropped: 1, forgotten: 0 } });
});
