import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { fire, MAIL, startCalling } from '../../support/deliveries.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { serve } from '../../support/serve.ts';
import { createWebhook, hook, startReceiver } from '../../support/webhooks.ts';

interceptRequests();

/** Answers all requests once `together` of them are open, and records the most that were open at the same time. */
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

everywhere('a webhook receives one delivery at a time, in the order of the events', async (service) => {
  const { mailbox } = service;
  const crowd = createCrowd(1);
  await using server = await serve(crowd.listener);
  const { id } = await createWebhook(service, server.url);
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
  const { mailbox, ids } = await startCalling(fetch, 2, { 'deliveries.order': order });
  for (let count = 0; count < 12; count += 1) mailbox.trigger('message.sent', { webhookId: ids[count % 2] ?? '' });
  const most = Math.min(width, 6);
  let called = 0;
  for (let left = 6; left > 0; left -= most) {
    // Everything that is not waiting for something has run by then.
    await new Promise((resolve) => setImmediate(resolve));
    called += gates.length;
    expect(gates).toHaveLength(2 * Math.min(most, left));
    for (const answer of gates.splice(0)) answer();
  }
  await mailbox.settled();
  expect([called, gates.length]).toEqual([12, 0]);
});

everywhere('a webhook with a slow receiver does not delay other webhooks', async (service) => {
  const { mailbox } = service;
  await using slow = startReceiver(service, 'timeout');
  await using quick = startReceiver(service);
  const one = await hook(service, slow);
  await hook(service, quick);
  await mailbox.receiveMessage(MAIL);
  await mailbox.receiveMessage(MAIL);
  await Promise.all([slow.received(1), quick.received(2)]);
  expect(mailbox.deliveries({ webhookId: one.id })).toMatchObject([{ attempts: [] }, { attempts: [] }]);
});

everywhere(
  'a webhook can receive ten deliveries at a time',
  { behaviours: { 'deliveries.order': 'parallel' } },
  async (service) => {
    const { mailbox } = service;
    const crowd = createCrowd(10);
    await using server = await serve(crowd.listener);
    const { id } = await createWebhook(service, server.url);
    for (let count = 0; count < 20; count += 1) mailbox.trigger('message.sent', { webhookId: id });
    await mailbox.settled();
    expect([crowd.order.length, new Set(crowd.order).size, crowd.most()]).toEqual([20, 20, 10]);
  },
);

everywhere('a delivery that fails does not delay later ones', async (service) => {
  const { mailbox } = service;
  await using receiver = startReceiver(service, 500);
  const { id } = await hook(service, receiver);
  for (const name of ['a', 'b']) await fire(service, id, { id: name });
  await mailbox.clock.advance('5s');
  expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(['a', 'b', 'a']);
});

everywhere('a reset ends deliveries that are being sent, pending or held', async (service) => {
  const { mailbox } = service;
  await using hanging = startReceiver(service, 'timeout');
  await using failing = startReceiver(service, 500);
  await using holding = startReceiver(service);
  await hook(service, hanging);
  const failed = await hook(service, failing);
  const held = await hook(service, holding);
  mailbox.addFault({ on: 'delivery', kind: 'hold', webhookId: held.id });
  mailbox.addFault({ on: 'delivery', kind: 'drop', times: 5 });
  mailbox.clearFaults();
  mailbox.addFault({ on: 'delivery', kind: 'hold', webhookId: held.id, times: 2 });
  await mailbox.receiveMessage(MAIL);
  await mailbox.receiveMessage(MAIL);
  await Promise.all([hanging.received(1), failing.received(1)]);
  mailbox.trigger('message.received', { webhookId: failed.id });
  const counts = () => [hanging, failing, holding].map(({ requests }) => requests.length);
  mailbox.reset();
  const atReset = counts();
  expect([mailbox.deliveries(), mailbox.faults()]).toEqual([[], []]);
  await mailbox.settled();
  await mailbox.clock.advance('10d');
  mailbox.release();
  await mailbox.settled();
  expect(counts()).toEqual(atReset);
  expect(mailbox.deliveries()).toEqual([]);
});

everywhere('after a reset, deliveries go on as in a new mailbox', async (service) => {
  const { mailbox } = service;
  await using hanging = startReceiver(service, 'timeout');
  await hook(service, hanging);
  await mailbox.receiveMessage(MAIL);
  await hanging.received(1);
  mailbox.reset();
  await using receiver = startReceiver(service, 500);
  const { id } = await hook(service, receiver);
  await mailbox.receiveMessage(MAIL);
  await mailbox.clock.advance('5s');
  expect(mailbox.deliveries()).toMatchObject([{ webhookId: id, state: 'delivered' }]);
  expect(receiver.requests.map(({ verified }) => verified)).toEqual([true, true]);
});
