import { setImmediate as nextTurn } from 'node:timers/promises';
import { BEHAVIOURS, type BehaviourOptions, createMailbox, type Delivery, type Environment } from 'agent-mailbox-mock';
import { createReceiver, type Receiver } from 'agent-mailbox-mock/receiver';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import type { AssumptionId, BehaviourValue, ChangeableId } from '../../../src/contract/behaviours.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';

interceptRequests();

type DeliveryBehaviourId = Extract<ChangeableId, `deliveries.${string}`>;
type DeliveryAssumption = Extract<AssumptionId, `deliveries.${string}`>;

/** A mailbox whose time stands still, with a receiver and a webhook of Acme that leads there. */
interface Setup extends Service {
  readonly receiver: Receiver;
  readonly webhookId: string;
  readonly webhookPath: string;
  addWebhook(): Promise<string>;
  /** Fires this many events at once, runs what is due now, and returns the deliveries afterwards. */
  deliver(count?: number): Promise<Delivery[]>;
}

async function withReceiver(service: Service, body: (setup: Setup) => Promise<void>): Promise<void> {
  const { mailbox, send } = service;
  const key = mailbox.keys.acme.tenant;
  await using receiver = createReceiver();
  const url = `${await receiver.listen()}/hook`;
  const addWebhook = async (): Promise<string> =>
    (await send('POST', '/v1/webhooks', { key, json: { url, events: ['message.received'] } })).json.id;
  mailbox.clock.freeze();
  const webhookId = await addWebhook();
  await body({
    ...service,
    receiver,
    webhookId,
    webhookPath: `/v1/webhooks/${webhookId}`,
    addWebhook,
    async deliver(count = 1) {
      for (let left = count; left > 0; left -= 1) mailbox.trigger('message.received');
      await mailbox.clock.advance(0);
      return mailbox.deliveries();
    },
  });
}

/** What shows a behaviour, and what it shows under each value. */
interface Readings<Id extends DeliveryBehaviourId> {
  readonly read: (setup: Setup) => Promise<unknown>;
  readonly values: Readonly<Record<BehaviourValue<Id>, unknown>>;
  readonly environment?: Partial<Environment>;
}

/** Receivers that are never in time: each timer of the platform is over at once. */
const impatient: Partial<Environment> = {
  setTimer(_, wake) {
    const timer = setTimeout(wake, 0);
    return () => clearTimeout(timer);
  },
};

/** Receivers that answer how many calls of the same URL are open. */
function countOpenCalls(): Partial<Environment> {
  const open = new Map<string, number>();
  const add = (url: string, count: number) => {
    const sum = (open.get(url) ?? 0) + count;
    open.set(url, sum);
    return String(sum);
  };
  return {
    async fetch(url) {
      const count = add(url, 1);
      await nextTurn();
      add(url, -1);
      return new Response(count);
    },
  };
}

const SIGNATURE_HEADERS = ['webhook-signature', ...Object.keys(BEHAVIOURS['deliveries.signature.header'].choices)];

/** The names of the signature headers of what arrived first. */
async function signatureHeaders({ deliver, receiver }: Setup): Promise<string[]> {
  await deliver();
  return SIGNATURE_HEADERS.filter((name) => name in (receiver.requests[0]?.headers ?? {}));
}

/** How long a delivery waits for each of its attempts after the first, in seconds. */
const waitsOf = ([delivery]: readonly Delivery[]) =>
  delivery?.attempts.flatMap(({ at, nextAttemptAt }) =>
    nextAttemptAt === null ? [] : [(Date.parse(nextAttemptAt) - Date.parse(at)) / 1000],
  );

const statesOf = (deliveries: readonly Delivery[]) => deliveries.map(({ state }) => state);

const READINGS: { readonly [Id in DeliveryBehaviourId]: Readings<Id> } = {
  'deliveries.payload': {
    async read({ deliver, receiver }) {
      await deliver();
      return Object.keys(receiver.requests[0]?.json).sort();
    },
    values: {
      'reference-and-content': [
        ...['event', 'from', 'htmlBody', 'id', 'inboxId', 'messageId', 'plainBody', 'receivedAt', 'subject'],
        ...['threadId', 'to', 'workspaceId'],
      ],
      reference: ['event', 'from', 'inboxId', 'messageId', 'threadId', 'to'],
    },
  },
  'deliveries.addresses': {
    async read({ mailbox, receiver }) {
      await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'Dana <Dana@Customer.test>', subject: 'Hi' });
      await mailbox.clock.advance(0);
      return receiver.requests[0]?.json.from;
    },
    values: { display: 'Dana <Dana@Customer.test>', bare: 'dana@customer.test' },
  },
  'deliveries.signature': {
    read: signatureHeaders,
    values: {
      'standard-and-hex': ['webhook-signature', 'x-webhook-signature'],
      standard: ['webhook-signature'],
      hex: ['x-webhook-signature'],
    },
  },
  'deliveries.signature.header': {
    read: signatureHeaders,
    values: {
      'x-webhook-signature': ['webhook-signature', 'x-webhook-signature'],
      'x-signature': ['webhook-signature', 'x-signature'],
      'x-mailbox-signature': ['webhook-signature', 'x-mailbox-signature'],
      'x-hub-signature-256': ['webhook-signature', 'x-hub-signature-256'],
    },
  },
  'deliveries.signature.form': {
    async read({ deliver, receiver }) {
      await deliver();
      return receiver.requests[0]?.headers['x-webhook-signature']?.replace(/[0-9a-f]{64}/, '<hex>');
    },
    values: { v1: 'v1=<hex>', sha256: 'sha256=<hex>', bare: '<hex>' },
  },
  'deliveries.timestamp': {
    async read({ deliver, receiver, mailbox }) {
      mailbox.clock.freeze('2030-06-01T12:00:00Z');
      await deliver();
      const seconds = Number(receiver.requests[0]?.headers['webhook-timestamp']);
      const isNear = (time: Date) => Math.abs(seconds - time.getTime() / 1000) < 60;
      return { isReal: isNear(new Date()), isByClock: isNear(mailbox.clock.now()) };
    },
    values: { real: { isReal: true, isByClock: false }, clock: { isReal: false, isByClock: true } },
  },
  'deliveries.id': {
    async read({ addWebhook, deliver, receiver, mailbox }) {
      await addWebhook();
      receiver.answer(500);
      await deliver();
      await mailbox.clock.advance('5s');
      return [receiver.requests.length, new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size];
    },
    values: { event: [3, 1], delivery: [3, 2] },
  },
  'deliveries.trace': {
    async read({ deliver, receiver }) {
      await deliver();
      return /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/.test(receiver.requests[0]?.headers.traceparent ?? '');
    },
    values: { none: false, header: true },
  },
  'deliveries.timeout': {
    async read({ deliver, receiver }) {
      receiver.answer('timeout');
      return (await deliver())[0]?.attempts.map(({ error }) => error);
    },
    values: {
      '15s': ['The receiver did not respond within 15 s.'],
      '30s': ['The receiver did not respond within 30 s.'],
      '5s': ['The receiver did not respond within 5 s.'],
      '1s': ['The receiver did not respond within 1 s.'],
      '100ms': ['The receiver did not respond within 0.1 s.'],
    },
    environment: impatient,
  },
  'deliveries.retry': {
    async read({ deliver, receiver, mailbox }) {
      receiver.answer(...Array.from({ length: 10 }, () => 500));
      await deliver();
      await mailbox.clock.advance('7d');
      return [...statesOf(mailbox.deliveries()), waitsOf(mailbox.deliveries())];
    },
    values: {
      'standard-webhooks': ['exhausted', [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]],
      never: ['exhausted', []],
    },
  },
  'deliveries.retry-after': {
    async read({ deliver, receiver }) {
      receiver.answer({ status: 503, headers: { 'retry-after': '3600' } });
      return waitsOf(await deliver());
    },
    values: { respected: [3600], ignored: [5] },
  },
  'deliveries.gone': {
    async read({ deliver, receiver, send, mailbox, webhookPath }) {
      receiver.answer(410);
      const states = statesOf(await deliver());
      return [...states, (await send('GET', webhookPath, { key: mailbox.keys.acme.tenant })).json.isActive];
    },
    values: { deactivates: ['exhausted', false], retried: ['pending', true] },
  },
  'deliveries.order': {
    read: async ({ deliver }) => (await deliver(12)).map(({ attempts }) => attempts[0]?.responseBody),
    values: {
      'one-by-one': Array.from({ length: 12 }, () => '1'),
      parallel: ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '10', '10'],
    },
    environment: countOpenCalls(),
  },
};

const HEADER = 'deliveries.signature.header';

/** Names that no library knows, among them one of every sign that a header name may have. */
for (const name of ['X-Acme-Signature', 'signature', "a!#$%&'*+-.^_`|~0", 'x'.repeat(100)]) {
  everywhere(
    `${HEADER}=${name.slice(0, 20)} shows in what is delivered`,
    { behaviours: { [HEADER]: name } },
    (service) =>
      withReceiver(service, async ({ deliver, receiver }) => {
        const [delivery] = await deliver();
        const value = expect.stringMatching(/^v1=[0-9a-f]{64}$/);
        expect(receiver.requests[0]?.headers).toMatchObject({ [name.toLowerCase()]: value });
        expect(receiver.requests[0]?.headers).not.toHaveProperty(['x-webhook-signature']);
        expect(delivery?.attempts[0]?.requestHeaders).toMatchObject({ [name.toLowerCase()]: value });
        expect(service.mailbox.behaviours[HEADER]).toBe(name.toLowerCase());
      }),
  );
}

test.for([
  ...['', ' ', 'x y', 'x:', 'x\r\ny', 'größe', 'x/y', '"x"', '(x)', 'x'.repeat(101), '__proto__'],
  ...['Content-Type', 'content-length', 'Host', 'webhook-id', 'Webhook-Timestamp', 'webhook-signature', 'user-agent'],
  ...['authorization', 'connection', 'transfer-encoding', 'upgrade', 'expect', 'cookie', 'sec-fetch-mode', 'proxy-x'],
])(`${HEADER} is not %j, which is refused with what is right`, (name, { expect: expectHere }) => {
  expectHere(() => createMailbox({ behaviours: { [HEADER]: name } })).toThrow(
    `Behaviour "${HEADER}" cannot be ${JSON.stringify(name)}; it can be: x-webhook-signature, x-signature, x-mailbox-signature, x-hub-signature-256, any other header name such as x-acme-signature, except names that HTTP or the delivery uses, such as host or webhook-id.`,
  );
});

test(`the ledger says what is right for ${HEADER}`, async ({ expect: expectHere }) => {
  await using server = await startServer({ port: 0, behaviours: { [HEADER]: 'X-Acme-Signature' } });
  const { behaviours } = await (await fetch(`${server.control}/behaviours`)).json();
  expectHere(behaviours.find(({ id }: { id: string }) => id === HEADER)).toMatchObject({
    value: 'x-acme-signature',
    default: 'x-webhook-signature',
    otherValues: { rule: expectHere.stringContaining('any other header name') },
  });
});

/** What shows an assumption, and what it shows. */
const ASSUMED: Record<DeliveryAssumption, { read: (setup: Setup) => Promise<unknown>; value: unknown }> = {
  'deliveries.success': {
    async read({ deliver, receiver }) {
      receiver.answer(200, 204, 299, { status: 302, headers: { location: '/hook' } }, 304, 400);
      return statesOf(await deliver(6));
    },
    value: ['delivered', 'delivered', 'delivered', 'pending', 'pending', 'pending'],
  },
  'deliveries.user-agent': {
    async read({ deliver, receiver }) {
      await deliver();
      return receiver.requests[0]?.headers['user-agent'];
    },
    value: 'agent-mailbox-mock',
  },
  'deliveries.updated': {
    async read({ deliver, receiver, send, mailbox, webhookPath }) {
      receiver.answer(500, 200);
      const [delivery] = await deliver();
      const key = mailbox.keys.acme.tenant;
      const url = `${String(delivery?.attempts[0]?.url)}?moved`;
      await send('PATCH', webhookPath, { key, json: { url, events: ['message.bounced'] } });
      await mailbox.clock.advance('5s');
      const [first, second] = receiver.requests;
      return [receiver.requests.length, second?.path === `${first?.path}?moved`, second?.body === first?.body];
    },
    value: [2, true, true],
  },
  'deliveries.inactive': {
    async read({ addWebhook, deliver, receiver, send, mailbox, webhookPath }) {
      const other = await addWebhook();
      receiver.answer(500, 500);
      await deliver();
      const key = mailbox.keys.acme.tenant;
      await send('PATCH', webhookPath, { key, json: { isActive: false } });
      await send('DELETE', `/v1/webhooks/${other}`, { key });
      await mailbox.clock.advance('5s');
      return mailbox.deliveries().map(({ state, reason }) => [state, reason]);
    },
    value: [
      ['dropped', 'Its webhook is not active.'],
      ['dropped', 'Its webhook is gone.'],
    ],
  },
};

describe('behaviours of deliveries', () => {
  for (const [id, { read, value }] of Object.entries(ASSUMED)) {
    everywhere(`${id} shows in what is delivered`, (service) =>
      withReceiver(service, async (setup) => expect(await read(setup)).toEqual(value)),
    );
  }

  for (const [id, { read, values, environment = {} }] of Object.entries<Readings<DeliveryBehaviourId>>(READINGS)) {
    for (const [current, value] of Object.entries(values)) {
      const behaviours = { [id]: current } as BehaviourOptions;
      everywhere(`${id}=${current} shows in what is delivered`, { behaviours, environment }, (service) =>
        withReceiver(service, async (setup) => expect(await read(setup)).toEqual(value)),
      );
    }

    test(`each value of ${id} differs from the others`, () => {
      const shown = Object.values(values).map((value) => JSON.stringify(value));
      expect(new Set(shown).size).toBe(shown.length);
    });
  }
});
