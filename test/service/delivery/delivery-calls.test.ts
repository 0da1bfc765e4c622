import { type Delivery, EVENT_KINDS, type TriggerOptions } from 'agent-mailbox-mock';
import type { Receiver } from 'agent-mailbox-mock/receiver';
import { expect } from 'vitest';
import { isInProcess } from '../../support/control.ts';
import { EVENT_ID, fire, KINDS, MAIL, openDeliveryClient, stateOf } from '../../support/deliveries.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS } from '../../support/inbox-clients.ts';
import { after, hook, START, startReceiver } from '../../support/webhooks.ts';

interceptRequests();

const BY_CLOCK = { behaviours: { 'deliveries.timestamp': 'clock' } } as const;

const [SECOND, HOUR] = [1000, 3_600_000];

everywhere(
  'a delivery in any final state can be redelivered, with the same id and a new signature',
  BY_CLOCK,
  async (service) => {
    const { mailbox, send } = service;
    const deliveryClient = openDeliveryClient(service);
    await using receiver = startReceiver(service);
    const { id } = await hook(service, receiver);
    const delivered = await fire(service, id);
    mailbox.addFault({ on: 'delivery', kind: 'hold' });
    const held = await fire(service, id);
    mailbox.addFault({ on: 'delivery', kind: 'drop' });
    const dropped = await fire(service, id);
    receiver.answer(...Array<number>(10).fill(500));
    const exhausted = await fire(service, id);
    await mailbox.clock.advance('10d');
    receiver.answer(500);
    const pending = await fire(service, id);
    const all = [delivered, held, dropped, exhausted, pending];
    expect(all.map((each) => stateOf(service, each))).toEqual(['delivered', 'held', 'dropped', 'exhausted', 'pending']);
    await mailbox.clock.advance('1s');

    for (const { id: deliveryId, eventId } of all) {
      const { attempts } = mailbox.delivery(deliveryId);
      const again = await deliveryClient.redeliver(deliveryId);
      expect([again.status, again.json]).toMatchObject([
        200,
        { id: deliveryId, state: 'pending', reason: null, nextAttemptAt: null },
      ]);
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
    mailbox.release();
    await mailbox.settled();
    expect(receiver.requests).toHaveLength(count);
    expect((await send('GET', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant })).json.isActive).toBe(true);
  },
);

everywhere('a delivery can be sent once to another URL, which changes only its list of attempts', async (service) => {
  const { mailbox } = service;
  const deliveryClient = openDeliveryClient(service);
  await using receiver = startReceiver(service, 500);
  await using other = startReceiver(service, 200, 500);
  const elsewhere = `${await other.listen()}/else`;
  const { id, url } = await hook(service, receiver);
  const { id: deliveryId } = await fire(service, id);
  const { state, nextAttemptAt } = mailbox.delivery(deliveryId);
  expect(state).toBe('pending');
  for (const status of [200, 500]) {
    const again = await deliveryClient.redeliver(deliveryId, { url: elsewhere });
    expect([again.status, again.json]).toMatchObject([200, { id: deliveryId, state, nextAttemptAt }]);
    await mailbox.settled();
    expect(mailbox.delivery(deliveryId)).toMatchObject({ state, reason: null, nextAttemptAt });
    expect(mailbox.delivery(deliveryId).attempts.at(-1)).toMatchObject({ url: elsewhere, status });
  }
  expect(other.requests.map(({ json }) => json)).toEqual([receiver.requests[0]?.json, receiver.requests[0]?.json]);
  await mailbox.clock.advance('5s');
  expect(mailbox.delivery(deliveryId)).toMatchObject({ state: 'delivered' });
  expect(mailbox.delivery(deliveryId).attempts.map((each) => each.url)).toEqual([url, elsewhere, elsewhere, url]);
});

everywhere('a delivery is not sent to a URL that is none or not allowed', async (service) => {
  const { mailbox } = service;
  const deliveryClient = openDeliveryClient(service);
  await using receiver = startReceiver(service);
  const { id } = await hook(service, receiver);
  const delivery = await fire(service, id);
  const wrong = await deliveryClient.redeliver(delivery.id, { url: 'localhost:3000' });
  expect([wrong.status, wrong.json.error]).toEqual([
    400,
    'The input of redeliver is not valid: url must be an absolute http or https URL.',
  ]);
  if (isInProcess(service)) return;
  await deliveryClient.redeliver(delivery.id, { url: 'http://10.1.2.3/hooks' });
  await mailbox.settled();
  const { state, attempts } = mailbox.delivery(delivery.id);
  expect([state, attempts.length]).toEqual(['delivered', 2]);
  expect(attempts[1]).toMatchObject({ status: null, error: expect.stringContaining('--deliver-to') });
});

everywhere('a redelivery that fails starts the retry schedule again', async (service) => {
  const { mailbox } = service;
  await using receiver = startReceiver(service, ...Array<number>(20).fill(500));
  const { id } = await hook(service, receiver);
  const { id: deliveryId } = await fire(service, id);
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

everywhere('a delivery can be redelivered to an inactive webhook', async (service) => {
  const { mailbox, send } = service;
  await using receiver = startReceiver(service);
  const { id } = await hook(service, receiver);
  const delivery = await fire(service, id);
  await send('PATCH', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant, json: { isActive: false } });
  mailbox.redeliver(delivery.id);
  await mailbox.settled();
  expect([stateOf(service, delivery), receiver.requests.length]).toEqual(['delivered', 2]);
});

everywhere(
  'a delivery cannot be redelivered while it is being sent, or after its webhook is deleted',
  async (service) => {
    const { mailbox, send } = service;
    const deliveryClient = openDeliveryClient(service);
    await using receiver = startReceiver(service, 200, 'timeout');
    const { id } = await hook(service, receiver);
    const delivered = await fire(service, id);
    await mailbox.receiveMessage(MAIL);
    await receiver.received(2);
    const [, inFlight] = mailbox.deliveries({ webhookId: id });
    const busy = await deliveryClient.redeliver(inFlight?.id ?? '');
    expect([busy.status, busy.json]).toEqual([
      409,
      { error: 'This delivery is already being sent.', code: 'CONFLICT' },
    ]);
    await send('DELETE', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant });
    const gone = await deliveryClient.redeliver(delivered.id);
    expect([gone.status, gone.json]).toEqual([
      409,
      { error: 'The webhook of this delivery was deleted.', code: 'CONFLICT' },
    ]);
    expect(stateOf(service, delivered)).toBe('delivered');
    expect(receiver.requests).toHaveLength(2);
  },
);

everywhere('settled does not wait for a retry, and after its timeout names what is still pending', async (service) => {
  const { mailbox } = service;
  const deliveryClient = openDeliveryClient(service);
  await using receiver = startReceiver(service, 500);
  const { id } = await hook(service, receiver);
  const [failed] = mailbox.trigger('message.bounced', { webhookId: id });
  expect((await deliveryClient.settled()).status).toBe(200);
  expect(mailbox.delivery(failed?.id ?? '')).toMatchObject({ state: 'pending', attempts: [{ status: 500 }] });

  receiver.answer('timeout');
  const [hanging] = mailbox.trigger('message.sent', { webhookId: id });
  await receiver.received(2);
  const late = await deliveryClient.settled('20ms');
  expect([late.status, late.json]).toEqual([
    409,
    {
      error: `Not settled after 20 ms; still pending: delivery ${hanging?.id} of message.sent to webhook ${id}.`,
      code: 'CONFLICT',
    },
  ]);
  mailbox.reset();
  expect((await deliveryClient.settled(1_000)).status).toBe(200);
});

everywhere('settled names three deliveries at most, and counts the others', async (service) => {
  const { mailbox } = service;
  await using receiver = startReceiver(service, ...Array<'timeout'>(5).fill('timeout'));
  for (let count = 0; count < 5; count += 1) await hook(service, receiver);
  await mailbox.receiveMessage(MAIL);
  await receiver.received(5);
  await expect(mailbox.settled({ timeout: 1 })).rejects.toThrow(
    /^Not settled after 1 ms; still pending: (?:delivery \S+ of message\.received to webhook \S+(?:, |(?= and))){3} and 2 more\.\nWhat happened:\n {2}\S+ "[^"]*" from .* arrived at /,
  );
});

everywhere('settled refuses an invalid timeout', async (service) => {
  const { status, json } = await openDeliveryClient(service).settled('soon');
  expect([status, json]).toEqual([
    400,
    { error: expect.stringContaining('must be milliseconds or a text such as 5m'), code: 'VALIDATION_ERROR' },
  ]);
});

everywhere('an event of any kind is fired by hand', async (service) => {
  const deliveryClient = openDeliveryClient(service);
  await using receiver = startReceiver(service);
  const { id } = await hook(service, receiver);
  for (const event of EVENT_KINDS) {
    const { status, json } = await deliveryClient.trigger(event);
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
    await service.mailbox.settled();
    expect(receiver.requests.at(-1)).toMatchObject({ json: json.deliveries[0].payload, verified: true });
  }
});

everywhere('an event fired by hand has the fields that are given, and changes no mail', async (service) => {
  const before = service.mailbox.snapshot();
  const deliveryClient = openDeliveryClient(service);
  await using receiver = startReceiver(service);
  await hook(service, receiver);
  const stored = service.mailbox.snapshot();
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
  const { json } = await deliveryClient.trigger('message.received', said);
  const expected = { event: 'message.received', workspaceId: IDS.acme.workspaces.support, ...said };
  expect(json.deliveries).toMatchObject([{ eventId: 'evt_mine' }]);
  expect(json.deliveries[0].payload).toEqual(expected);
  await service.mailbox.settled();
  expect(receiver.requests[0]?.json).toEqual(expected);
  expect(receiver.requests[0]?.headers['webhook-id']).toBe('evt_mine');
  expect(service.mailbox.snapshot()).toEqual(stored);
  expect(stored.tenants.map(({ messages }) => messages)).toEqual(before.tenants.map(({ messages }) => messages));
});

everywhere('an event fired by hand can be about an existing message', async (service) => {
  const deliveryClient = openDeliveryClient(service);
  await using receiver = startReceiver(service);
  const { id } = await hook(service, receiver);
  const { json } = await deliveryClient.trigger('message.received', {
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
  'an event fired by hand is delivered to the webhooks in scope, or only to the webhook that is named',
  async (service) => {
    const { mailbox, send } = service;
    const deliveryClient = openDeliveryClient(service);
    const key = mailbox.keys.acme.tenant;
    await using receiver = startReceiver(service);
    const tenantWide = await hook(service, receiver);
    const sales = await hook(service, receiver, { workspaceId: IDS.acme.workspaces.sales, events: ['message.sent'] });
    const globex = await hook(service, receiver, { key: mailbox.keys.globex.tenant });
    const names: Record<string, string> = { [tenantWide.id]: 'tenant', [sales.id]: 'sales', [globex.id]: 'globex' };
    const heard = async (event: string, options: TriggerOptions = {}) =>
      (await deliveryClient.trigger(event, options)).json.deliveries.map(({ webhookId }: Delivery) => names[webhookId]);

    expect(await heard('message.sent')).toEqual(['tenant', 'globex']);
    expect(await heard('message.sent', { inboxId: IDS.acme.inboxes.outreach })).toEqual(['tenant', 'sales']);
    expect(await heard('message.received', { inboxId: IDS.acme.inboxes.outreach.toUpperCase() })).toEqual(['tenant']);
    expect(await heard('message.sent', { tenant: IDS.globex.tenant })).toEqual(['globex']);
    expect(await heard('message.bounced', { webhookId: sales.id })).toEqual(['sales']);
    await send('PATCH', `/v1/webhooks/${sales.id}`, { key, json: { isActive: false } });
    expect(await heard('message.sent', { inboxId: IDS.acme.inboxes.outreach })).toEqual(['tenant']);
    const [byHand] = (await deliveryClient.trigger('message.bounced', { webhookId: sales.id })).json.deliveries;
    expect(byHand.payload).toMatchObject({
      inboxId: IDS.acme.inboxes.outreach,
      workspaceId: IDS.acme.workspaces.sales,
    });
    await mailbox.settled();
    expect(mailbox.deliveries({ webhookId: sales.id, state: 'delivered' })).toHaveLength(3);
  },
);

everywhere('an event fired by hand without a matching webhook creates no delivery', async (service) => {
  expect(await openDeliveryClient(service).trigger('message.sent')).toMatchObject({
    status: 200,
    json: { deliveries: [] },
  });
});

everywhere('an event in a tenant, inbox or webhook that does not exist is not fired', async (service) => {
  const deliveryClient = openDeliveryClient(service);
  await using receiver = startReceiver(service);
  const { id } = await hook(service, receiver);
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
    const refused = await deliveryClient.trigger(event, options);
    expect([refused.status, refused.json.error], `${event} ${JSON.stringify(options)}`).toEqual([
      status,
      expect.stringContaining(said),
    ]);
  }
  expect(service.mailbox.deliveries()).toEqual([]);
});
