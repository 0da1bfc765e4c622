import type { Delivery, DeliveryFilter } from 'agent-mailbox-mock';
import type { Receiver } from 'agent-mailbox-mock/receiver';
import { expect } from 'vitest';
import { EVENT_ID, KINDS, MAIL, openDeliveryClient } from '../../support/deliveries.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, openInboxClients } from '../../support/inbox-clients.ts';
import { after, hook, START, startReceiver } from '../../support/webhooks.ts';

interceptRequests();

const BY_CLOCK = { behaviours: { 'deliveries.timestamp': 'clock' } } as const;

const SECOND = 1000;

const heardAt = ({ requests }: Receiver, path: string) => requests.filter((request) => request.path === path);

everywhere('an event is delivered to the webhooks that list its kind and have its inbox in scope', async (service) => {
  const { mailbox, send } = service;
  const { acme, globex } = mailbox.keys;
  const { helpdesk, outreach } = openInboxClients(service);
  await using receiver = startReceiver(service);
  await hook(service, receiver, { path: '/tenant' });
  await hook(service, receiver, { path: '/support', workspaceId: IDS.acme.workspaces.support });
  await hook(service, receiver, { path: '/sales', key: acme.workspaces.sales });
  await hook(service, receiver, { path: '/bounces', events: ['message.bounced'] });
  await hook(service, receiver, { path: '/globex', key: globex.tenant });
  const { id } = await hook(service, receiver, { path: '/inactive' });
  await send('PATCH', `/v1/webhooks/${id}`, { key: acme.tenant, json: { isActive: false } });

  await mailbox.receiveMessage({ from: ADDRESS.dana, to: [ADDRESS.helpdesk, ADDRESS.info] });
  await outreach.mail(ADDRESS.dana);
  await helpdesk.mail('bounce@simulator.test');
  await mailbox.settled();

  const heard = (path: string) => heardAt(receiver, path).map(({ json }) => [json.event, json.inboxId]);
  const atSupport = [
    ['message.received', helpdesk.id],
    ['message.sent', helpdesk.id],
    // The report of the bounce.
    ['message.received', helpdesk.id],
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

everywhere(
  'a delivery carries the fields of the reference, and the content',
  { behaviours: { 'sending.bounce.report': 'none' } },
  async (service) => {
    const { mailbox } = service;
    const { helpdesk } = openInboxClients(service);
    await using receiver = startReceiver(service);
    await hook(service, receiver);
    const [arrived] = await mailbox.receiveMessage({ ...MAIL, htmlBody: '<p>Grüße</p>' });
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
        plainBody: MAIL.plainBody,
        htmlBody: '<p>Grüße</p>',
      },
      { ...outbound, event: 'message.sent' },
      { ...outbound, event: 'message.bounced' },
    ]);
    expect(new Set(receiver.requests.map(({ json }) => json.id)).size).toBe(3);
  },
);

everywhere(
  'a delivery can carry the fields of the reference only',
  { behaviours: { 'deliveries.payload': 'reference' } },
  async (service) => {
    await using receiver = startReceiver(service);
    await hook(service, receiver);
    const [arrived] = await service.mailbox.receiveMessage(MAIL);
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

everywhere('a send does not wait for a receiver that does not answer', async (service) => {
  const { mailbox } = service;
  const { helpdesk } = openInboxClients(service);
  await using receiver = startReceiver(service, 'timeout');
  const { id } = await hook(service, receiver);
  expect((await helpdesk.mail(ADDRESS.dana)).status).toBe('sent');
  await receiver.received(1);
  expect(mailbox.deliveries({ webhookId: id })).toMatchObject([{ state: 'pending', attempts: [] }]);
});

everywhere('the log has every field of a delivery and of its attempts', BY_CLOCK, async (service) => {
  const { mailbox } = service;
  const deliveryClient = openDeliveryClient(service);
  await using receiver = startReceiver(service, { status: 500, headers: { 'X-Reason': 'busy' }, body: 'Später' });
  const webhook = await hook(service, receiver);
  const [arrived] = await mailbox.receiveMessage(MAIL);
  await mailbox.settled();
  const [first] = mailbox.deliveries({ webhookId: webhook.id });
  expect(first).toMatchObject({ state: 'pending', nextAttemptAt: after(5 * SECOND) });
  await mailbox.clock.advance('5s');

  const attempt = (at: number) => ({
    at: after(at),
    realTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
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
    fault: null,
    faultId: null,
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
  const { json } = await deliveryClient.deliveries({ webhookId: webhook.id });
  expect(json).toEqual({ deliveries: [expected], losses: { dropped: 0, forgotten: 0 } });
  expect((await deliveryClient.delivery(first?.id ?? '')).json).toEqual(expected);
  expect(json.deliveries[0].payload.messageId).toBe(arrived?.id);
  expect(receiver.requests.map(({ body }) => body)).toEqual(
    json.deliveries[0].attempts.map(({ requestBody }: { requestBody: string }) => requestBody),
  );
  for (const [index, { headers }] of receiver.requests.entries()) {
    expect(headers).toMatchObject(json.deliveries[0].attempts[index].requestHeaders);
  }
});

everywhere(
  'the log is filtered by tenant, webhook, kind and state',
  { behaviours: { 'sending.bounce.report': 'none' } },
  async (service) => {
    const { mailbox } = service;
    const { helpdesk, info } = openInboxClients(service);
    const deliveryClient = openDeliveryClient(service);
    await using receiver = startReceiver(service);
    await using broken = startReceiver(service, 500, 500);
    const good = await hook(service, receiver);
    const bad = await hook(service, broken);
    const foreign = await hook(service, receiver, { key: mailbox.keys.globex.tenant });
    await helpdesk.mail(info.address);
    await helpdesk.mail('bounce@simulator.test');
    await mailbox.settled();

    const list = async (filter: object) =>
      (await deliveryClient.deliveries(filter)).json.deliveries.map(({ webhookId, event, state }: Delivery) => [
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
  },
);

everywhere('an invalid filter is refused with the valid values', async (service) => {
  const deliveryClient = openDeliveryClient(service);
  for (const [filter, said] of [
    [{ state: 'lost' }, 'state must be one of pending, held, delivered, exhausted, dropped, refused, failed.'],
    [{ event: 'message.lost' }, `event ${KINDS}`],
    [{ webhookId: 'x' }, 'webhookId must be the UUID of a webhook.'],
    [{ tenant: 'acme' }, 'tenant must be the UUID of a tenant.'],
  ] as const) {
    const { status, json } = await deliveryClient.deliveries(filter as DeliveryFilter);
    expect([status, json]).toEqual([400, { error: expect.stringContaining(said), code: 'VALIDATION_ERROR' }]);
    expect(json.error).toMatch(/^The (?:filter|query) is not valid: /);
  }
});

everywhere('a delivery that is not in the log is not found and cannot be redelivered', async (service) => {
  const deliveryClient = openDeliveryClient(service);
  for (const { status, json } of [
    await deliveryClient.delivery(IDS.nobody),
    await deliveryClient.redeliver(IDS.nobody),
  ]) {
    expect([status, json]).toEqual([
      404,
      { error: 'There is no delivery with this id in the log.', code: 'NOT_FOUND' },
    ]);
  }
});
