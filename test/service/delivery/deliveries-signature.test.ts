import { createHmac } from 'node:crypto';
import type { BehaviourOptions } from 'agent-mailbox-mock';
import type { ReceivedRequest, Receiver } from 'agent-mailbox-mock/receiver';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { expect, test } from 'vitest';
import { parseBehaviours } from '../../../src/contract/behaviours.ts';
import { createRequest, hmacSha256, portableHmac, type RequestInput } from '../../../src/service/delivery/request.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { ADDRESS, openInboxClients } from '../../support/inbox-clients.ts';
import { createPatientReceiver } from '../../support/patient-receiver.ts';
import { createWebhook } from '../../support/webhooks.ts';

interceptRequests();

const BY_CLOCK = { behaviours: { 'deliveries.timestamp': 'clock' } } as const;

/** A webhook that leads to a receiver, which verifies nothing itself. */
const hookUnverified = async (service: Service, receiver: Receiver) => createWebhook(service, await receiver.listen());

/** Verifies a delivery as its recipients would, by each library there is; neither knows our code. */
function expectVerified({ headers, body }: ReceivedRequest, secret: string): void {
  for (const Webhook of [StandardWebhook, SvixWebhook]) {
    const webhook = new Webhook(secret);
    expect(webhook.verify(body, { ...headers })).toEqual(JSON.parse(body));
    expect(() => webhook.verify(`${body} `, { ...headers })).toThrow('No matching signature found');
    const forged = { ...headers, 'webhook-id': `${headers['webhook-id']}x` };
    expect(() => webhook.verify(body, forged)).toThrow('No matching signature found');
  }
}

const hexOf = (secret: string, body: string) => createHmac('sha256', secret).update(body, 'utf8').digest('hex');

everywhere('every kind of delivery verifies with standardwebhooks, with svix and by its hex HMAC', async (service) => {
  const { mailbox } = service;
  const { helpdesk } = openInboxClients(service);
  await using receiver = createPatientReceiver();
  const { secret } = await hookUnverified(service, receiver);
  await mailbox.receiveMessage({
    from: 'Zoë Ängström <zoe@customer.test>',
    to: ADDRESS.helpdesk,
    subject: 'Größenänderung 😀 漢字 \u2028 "\\"',
    plainBody: 'Grüße,\r\n\tZoë \u0000 \ud83d',
  });
  await helpdesk.mail('bounce@simulator.test', { subject: 'Ünïcode', plainBody: '漢'.repeat(10_000) });
  await mailbox.settled();
  expect(receiver.requests.map(({ json }) => json.event)).toEqual([
    'message.received',
    'message.sent',
    'message.received',
    'message.bounced',
  ]);
  for (const request of receiver.requests) {
    expectVerified(request, secret);
    expect(request.headers['x-webhook-signature']).toBe(`v1=${hexOf(secret, request.body)}`);
    expect(request.headers['webhook-id']).toBe(request.json.id);
    expect(request.headers['content-type']).toBe('application/json');
  }
});

everywhere(
  'a retry and a redelivery have the same id, and their own timestamp and signature',
  BY_CLOCK,
  async (service) => {
    const { mailbox } = service;
    await using receiver = createPatientReceiver({ answers: [500] });
    const { id, secret } = await hookUnverified(service, receiver);
    const [delivery] = mailbox.trigger('message.sent', { webhookId: id, subject: 'Grüße' });
    await mailbox.clock.advance('5s');
    await mailbox.clock.advance('2s');
    mailbox.redeliver(delivery?.id ?? '');
    await mailbox.settled();
    const { requests } = receiver;
    for (const request of requests) expectVerified(request, secret);
    const valuesOf = (name: string) => new Set(requests.map(({ headers }) => headers[name])).size;
    expect([requests.length, valuesOf('webhook-id')]).toEqual([3, 1]);
    expect([valuesOf('webhook-timestamp'), valuesOf('webhook-signature')]).toEqual([3, 3]);
    expect([valuesOf('x-webhook-signature'), new Set(requests.map(({ body }) => body)).size]).toEqual([1, 1]);
  },
);

everywhere('two webhooks sign the same event with the secret of each', async (service) => {
  await using one = createPatientReceiver();
  await using two = createPatientReceiver();
  const secrets = [(await hookUnverified(service, one)).secret, (await hookUnverified(service, two)).secret] as const;
  await service.mailbox.receiveMessage({ from: ADDRESS.dana, to: ADDRESS.helpdesk });
  await service.mailbox.settled();
  const [first, second] = [one.requests[0], two.requests[0]] as [ReceivedRequest, ReceivedRequest];
  expectVerified(first, secrets[0]);
  expectVerified(second, secrets[1]);
  expect(() => new StandardWebhook(secrets[1]).verify(first.body, { ...first.headers })).toThrow('No matching');
  expect(first.headers['webhook-id']).toBe(second.headers['webhook-id']);
  expect(first.body).toBe(second.body);
});

everywhere(
  'each delivery can have an id of its own',
  { behaviours: { 'deliveries.id': 'delivery' } },
  async (service) => {
    await using receiver = createPatientReceiver({ answers: [500] });
    const hooks = [await hookUnverified(service, receiver), await hookUnverified(service, receiver)];
    await service.mailbox.receiveMessage({ from: ADDRESS.dana, to: ADDRESS.helpdesk });
    await service.mailbox.clock.advance('5s');
    expect(receiver.requests).toHaveLength(3);
    const logged = service.mailbox.deliveries();
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set(logged.map(({ id }) => id)),
    );
    for (const request of receiver.requests) {
      const { webhookId } = logged.find(({ id }) => id === request.headers['webhook-id']) ?? {};
      expectVerified(request, hooks.find(({ id }) => id === webhookId)?.secret ?? '');
    }
  },
);

/** A secret with the bytes `0` to `v`, and a delivery; the signatures were computed by another program. */
const GOLDEN = {
  secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY=',
  id: 'evt_golden',
  payload: { event: 'message.received', subject: 'Größe 😀', to: 'a@acme.test' },
  body: '{"event":"message.received","subject":"Größe 😀","to":"a@acme.test"}',
  now: new Date('2026-03-01T09:00:00.999Z'),
  timestamp: '1772355600',
  standard: 'v1,yNFfNqqkPTT3HHRGu82V/Xj2+pN48Ykd5Frmen4PICM=',
  hex: '6035ed2227009145a5aaeccdb3e83a95ecf20aacf78929dac8fd26930fe413bc',
  staleTimestamp: '1772352000',
  staleStandard: 'v1,EafxLwVoN9GwfsbPye+Pe2Vcla3M+eKd1iuQ5Z+a+zU=',
  otherSecret: 'whsec_YW5vdGhlciBzZWNyZXQgb2YgMzIgYnl0ZXMuLi4uLi4=',
  otherStandard: 'v1,7dO/10VmbL/bUY2lgvbJNPsHROrk5nzobwHa1UPYyC0=',
  otherHex: '13c0221931cbf605113e0fca3840173ca9501ce98ab15cc6cad0023e74c496b1',
} as const;

/** The request of the golden delivery, or of another payload. */
function requestGolden(
  fault?: RequestInput['fault'],
  behaviours: BehaviourOptions = {},
  payload: object = GOLDEN.payload,
) {
  const { id, secret, now, otherSecret } = GOLDEN;
  const values = parseBehaviours(behaviours);
  return createRequest({
    eventId: 'evt_1',
    id,
    secret,
    content: JSON.stringify(payload),
    now,
    fault,
    newSecret: () => otherSecret,
    behaviours: values,
  });
}

const BASE = {
  'content-type': 'application/json',
  'user-agent': 'agent-mailbox-mock',
  'webhook-id': GOLDEN.id,
  'webhook-timestamp': GOLDEN.timestamp,
};

const { standard, hex, staleStandard, otherStandard, otherHex } = GOLDEN;

test.for<[behaviours: BehaviourOptions, signatures: Record<string, string>]>([
  [{}, { 'webhook-signature': standard, 'x-webhook-signature': `v1=${hex}` }],
  [{ 'deliveries.signature': 'standard' }, { 'webhook-signature': standard }],
  [{ 'deliveries.signature': 'hex' }, { 'x-webhook-signature': `v1=${hex}` }],
  [
    { 'deliveries.signature.header': 'x-signature', 'deliveries.signature.form': 'bare' },
    { 'webhook-signature': standard, 'x-signature': hex },
  ],
  [
    { 'deliveries.signature': 'hex', 'deliveries.signature.header': 'x-mailbox-signature' },
    { 'x-mailbox-signature': `v1=${hex}` },
  ],
  [
    {
      'deliveries.signature': 'hex',
      'deliveries.signature.header': 'x-hub-signature-256',
      'deliveries.signature.form': 'sha256',
    },
    { 'x-hub-signature-256': `sha256=${hex}` },
  ],
])(
  'under %j, the golden delivery has the headers and the body that it must have',
  ([behaviours, signatures], { expect }) => {
    expect(requestGolden(undefined, behaviours)).toEqual({ headers: { ...BASE, ...signatures }, body: GOLDEN.body });
  },
);

test.for<[fault: RequestInput['fault'], headers: Record<string, string>, body: string]>([
  ['duplicate', { 'webhook-signature': standard, 'x-webhook-signature': `v1=${hex}` }, GOLDEN.body],
  [
    'stale-timestamp',
    {
      'webhook-timestamp': GOLDEN.staleTimestamp,
      'webhook-signature': staleStandard,
      'x-webhook-signature': `v1=${hex}`,
    },
    GOLDEN.body,
  ],
  ['wrong-secret', { 'webhook-signature': otherStandard, 'x-webhook-signature': `v1=${otherHex}` }, GOLDEN.body],
  [
    'two-signatures',
    {
      'webhook-signature': `${otherStandard} ${standard}`,
      'x-webhook-signature': `v1=${otherHex},v1=${hex}`,
    },
    GOLDEN.body,
  ],
  [
    'truncated-body',
    { 'webhook-signature': standard, 'x-webhook-signature': `v1=${hex}` },
    '{"event":"message.received","subje',
  ],
])('under the fault %s, the golden delivery is wrong in this way only', ([fault, headers, body], { expect }) => {
  expect(requestGolden(fault)).toEqual({ headers: { ...BASE, ...headers }, body });
});

test('a truncated body does not end within a character', ({ expect }) => {
  for (const subject of ['😀', 'x😀', 'xx😀', '😀😀😀']) {
    const payload = { subject: subject.repeat(20) };
    const { body } = requestGolden('truncated-body', {}, payload);
    expect(body).not.toMatch(/\p{Surrogate}/u);
    expect(JSON.stringify(payload).startsWith(body)).toBe(true);
    expect(Math.abs(body.length - JSON.stringify(payload).length / 2)).toBeLessThan(2);
  }
});

everywhere(
  'the behaviours decide the headers and the body of a request',
  {
    behaviours: {
      'deliveries.signature': 'hex',
      'deliveries.signature.header': 'x-hub-signature-256',
      'deliveries.signature.form': 'sha256',
    },
  },
  async (service) => {
    await using receiver = createPatientReceiver();
    const { secret } = await hookUnverified(service, receiver);
    await service.mailbox.receiveMessage({ from: ADDRESS.dana, to: ADDRESS.helpdesk, subject: 'Grüße' });
    const [request] = (await receiver.received(1)) as [ReceivedRequest];
    expect(request.headers['x-hub-signature-256']).toBe(`sha256=${hexOf(secret, request.body)}`);
    expect(Object.keys(request.headers)).toEqual(expect.arrayContaining(['webhook-id', 'webhook-timestamp']));
    expect(Object.keys(request.headers)).not.toContain('webhook-signature');
    expect(Object.keys(request.headers)).not.toContain('x-webhook-signature');
  },
);

test('signatures are the same without the crypto module of Node', ({ expect }) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 500 }), (key, data) => {
      const expected = createHmac('sha256', key).update(data).digest('hex');
      const made = [portableHmac(key, data), hmacSha256(key, data)];
      expect(made.map((bytes) => Buffer.from(bytes).toString('hex'))).toEqual([expected, expected]);
    }),
  );
});
