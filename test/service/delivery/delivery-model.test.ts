import {
  type Attempt,
  createMailbox,
  type Delivery,
  type DeliveryFault,
  EVENT_KINDS,
  type EventKind,
  type Mailbox,
  RefusedError,
} from 'agent-mailbox-mock';
import { createReceiver, type ReceivedRequest, type Receiver, type ReceiverAnswer } from 'agent-mailbox-mock/receiver';
import { startServer } from 'agent-mailbox-mock/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, openInboxClients } from '../../support/inbox-clients.ts';
import type { SendOptions } from '../../support/send.ts';
import { senderTo } from '../../support/send.ts';
import { START } from '../../support/webhooks.ts';

const HOUR = 3_600_000;

const SCOPES = [
  { tenant: 'acme', workspaceId: null },
  { tenant: 'acme', workspaceId: IDS.acme.workspaces.support },
  { tenant: 'acme', workspaceId: IDS.acme.workspaces.sales },
  { tenant: 'globex', workspaceId: null },
] as const;

const INBOX_NAMES = ['helpdesk', 'billing', 'outreach', 'info'] as const;

const FAULTS = [
  'duplicate',
  'reorder',
  'hold',
  'drop',
  'delay',
  'stale-timestamp',
  'wrong-secret',
  'two-signatures',
  'truncated-body',
  'oversize-body',
] as const;

/** Faults after which the first attempt does not verify. */
const UNVERIFIED: readonly string[] = ['stale-timestamp', 'wrong-secret', 'truncated-body'];

const ANSWERS: readonly ReceiverAnswer[] = [
  200,
  500,
  404,
  410,
  302,
  'timeout',
  { status: 503, headers: { 'Retry-After': '7200' } },
  { status: 204 },
];

/** What can happen, as data: numbers pick among what there is at the time. */
type Step =
  | { readonly do: 'mail'; readonly to: readonly number[] }
  | { readonly do: 'send'; readonly from: number; readonly to: readonly number[] }
  | { readonly do: 'trigger'; readonly kind: EventKind; readonly inbox: number }
  | { readonly do: 'answer'; readonly hook: number; readonly answers: readonly number[] }
  | {
      readonly do: 'fault';
      readonly kind: (typeof FAULTS)[number];
      readonly hook: number | null;
      readonly times: number;
    }
  | { readonly do: 'unfault'; readonly fault: number | null }
  | { readonly do: 'release'; readonly hook: number | null; readonly count: number | undefined }
  | { readonly do: 'advance'; readonly ms: number; readonly tenant: number }
  | { readonly do: 'freeze'; readonly ms: number; readonly tenant: number }
  | { readonly do: 'create'; readonly scope: number; readonly kinds: readonly EventKind[] }
  | { readonly do: 'patch'; readonly hook: number; readonly change: 'on' | 'off' | 'refused' | 'back' | EventKind }
  | { readonly do: 'delete'; readonly hook: number }
  | { readonly do: 'rotate'; readonly inbox: number }
  | { readonly do: 'redeliver'; readonly delivery: number }
  | { readonly do: 'settle' };

const nat = fc.nat({ max: 1000 });
const anyHook = fc.option(nat, { freq: 2 });
const kind = fc.constantFrom(...EVENT_KINDS);
const few = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: 1, maxLength: 3 });
const is = <Name extends string>(name: Name) => fc.constant(name);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: is('mail'), to: few(nat) }) },
  { weight: 4, arbitrary: fc.record({ do: is('send'), from: nat, to: few(nat) }) },
  { weight: 4, arbitrary: fc.record({ do: is('trigger'), kind, inbox: nat }) },
  { weight: 4, arbitrary: fc.record({ do: is('answer'), hook: nat, answers: few(nat) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: is('fault'),
      kind: fc.constantFrom(...FAULTS),
      hook: anyHook,
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  fc.record({ do: is('unfault'), fault: fc.option(nat) }),
  fc.record({ do: is('release'), hook: anyHook, count: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }) }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: is('advance'),
      ms: fc.constantFrom(0, 1, 4_999, 5_000, 60_000, HOUR, 30 * HOUR),
      tenant: nat,
    }),
  },
  fc.record({ do: is('freeze'), ms: fc.constantFrom(-24 * HOUR, 0, 5_000, HOUR), tenant: nat }),
  { weight: 3, arbitrary: fc.record({ do: is('create'), scope: nat, kinds: fc.uniqueArray(kind, { minLength: 1 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: is('patch'),
      hook: nat,
      change: fc.constantFrom('on', 'off', 'refused', 'back', ...EVENT_KINDS),
    }),
  },
  fc.record({ do: is('delete'), hook: nat }),
  fc.record({ do: is('rotate'), inbox: nat }),
  fc.record({ do: is('redeliver'), delivery: nat }),
  fc.record({ do: is('settle') }),
);

const steps = fc
  .array(step, { maxLength: 40, size: 'max' })
  .map((rest): Step[] => [
    { do: 'create', scope: 0, kinds: EVENT_KINDS },
    { do: 'create', scope: 3, kinds: EVENT_KINDS },
    ...rest,
  ]);

/** Where a mailbox and receivers find each other. */
interface Setting {
  readonly mailbox: Mailbox;
  /** The URL of the receiver with this number. */
  urlOf(receiver: Receiver, index: number): Promise<string>;
  readonly refusedUrl: string;
}

interface Hook {
  readonly id: string;
  readonly url: string;
  readonly receiver: Receiver;
}

/** An event that must be delivered to a webhook, and the faults planned for it. */
interface Owed {
  readonly webhookId: string;
  readonly kind: EventKind;
  readonly messageId: string;
  readonly fault: string | undefined;
}

const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % Math.max(items.length, 1)];

/** What happened so far, and what must come of it. */
class History {
  readonly hooks: Hook[] = [];
  readonly owed: Owed[] = [];
  readonly keys: Record<string, string> = {};
  #faults: { id: string; webhookId: string | null; kind: string; times: number }[] = [];
  #fired = 0;

  constructor(readonly setting: Setting) {}

  get mailbox(): Mailbox {
    return this.setting.mailbox;
  }

  /** Sends a request, with the key that a key has become where it was rotated. */
  async send(method: string, path: string, { key = '', json }: SendOptions = {}) {
    return senderTo(this.mailbox)(method, path, { key: this.keys[key] ?? key, json });
  }

  tenantKey(id: string): string {
    const { acme, globex } = this.mailbox.keys;
    const isOfGlobex = this.mailbox
      .snapshot()
      .tenants.find((tenant) => tenant.id === IDS.globex.tenant)
      ?.webhooks.some((row) => row.id === id);
    return isOfGlobex ? globex.tenant : acme.tenant;
  }

  /**
   * Records the webhooks that must receive an event: an independent copy of the scope rule, on the rows of the moment
   * before the event. A receiver that answers 410 may have ended its webhook by the time the client has its reply.
   */
  owe(kind: EventKind, inboxId: string, messageId: string, tenants = this.mailbox.snapshot().tenants): void {
    for (const { inboxes, webhooks } of tenants) {
      const inbox = inboxes.find(({ id }) => id === inboxId);
      if (!inbox) continue;
      for (const { id, isActive, events, workspaceId } of webhooks) {
        const isInScope = workspaceId === null || workspaceId === inbox.workspaceId;
        if (!isActive || !isInScope || !events.includes(kind)) continue;
        this.owed.push({ webhookId: id, kind, messageId, fault: this.#takeFault(id) });
      }
    }
  }

  #takeFault(webhookId: string): string | undefined {
    const left = this.#faults.filter(({ times }) => times > 0);
    const taken = left.find((each) => each.webhookId === webhookId) ?? left.find((each) => !each.webhookId);
    if (taken) taken.times -= 1;
    return taken?.kind;
  }

  addFault(kind: DeliveryFault['kind'], webhookId: string | undefined, times: number): void {
    const { id } = this.mailbox.addFault({ on: 'delivery', kind, webhookId, times });
    this.#faults.push({ id, webhookId: webhookId ?? null, kind, times });
  }

  removeFault(index: number): void {
    const { id } = pick(this.mailbox.faults(), index) ?? {};
    if (id === undefined) return;
    this.mailbox.removeFault(id);
    this.#faults = this.#faults.filter((each) => each.id !== id);
  }

  clearFaults(): void {
    this.mailbox.clearFaults();
    this.#faults = [];
  }

  nextMessageId(): string {
    this.#fired += 1;
    return `message-${this.#fired}`;
  }

  living(): Hook[] {
    const rows = this.mailbox.snapshot().tenants.flatMap(({ webhooks }) => webhooks.map(({ id }) => id));
    return this.hooks.filter(({ id }) => rows.includes(id));
  }
}

type Do = { readonly [Name in Step['do']]: (history: History, step: Extract<Step, { do: Name }>) => unknown };

const tenantOf = (index: number) => pick([undefined, IDS.acme.tenant, IDS.globex.tenant], index);
const inboxOf = (index: number) => pick(Object.values({ ...IDS.acme.inboxes, ...IDS.globex.inboxes }), index) ?? '';

const DO: Do = {
  async mail(history, { to }) {
    // Whether the webhook is active is known only after a receiver that answers 410 has finished.
    await settle(history.mailbox);
    const addresses = [...new Set(to.map((index) => ADDRESS[pick(INBOX_NAMES, index) ?? 'info']))];
    const { tenants } = history.mailbox.snapshot();
    const arrived = await history.mailbox.receiveMessage({ from: ADDRESS.dana, to: addresses });
    for (const { id, inboxId } of arrived) history.owe('message.received', inboxId, id, tenants);
  },
  async send(history, { from, to }) {
    await settle(history.mailbox);
    const inboxClients = openInboxClients({ mailbox: history.mailbox, send: history.send.bind(history) });
    const inboxClient = inboxClients[pick(INBOX_NAMES, from) ?? 'info'];
    const addresses = [...Object.values(ADDRESS), 'bounce@simulator.test'];
    const recipients = [...new Set(to.map((index) => pick(addresses, index) ?? ''))];
    const known = messagesOf(history.mailbox);
    const { tenants } = history.mailbox.snapshot();
    const sent = await inboxClient.mail(recipients);
    expect(sent.status).toBe('sent');
    history.owe('message.sent', inboxClient.id, sent.id, tenants);
    const addressOf = (inboxId: string) => Object.values(inboxClients).find(({ id }) => id === inboxId)?.address ?? '';
    // It arrives in the order of the recipients, and the report of a bounce after that.
    const placeOf = ({ inboxId, fromAddress }: { readonly inboxId: string; readonly fromAddress: string }) =>
      fromAddress === inboxClient.address ? recipients.indexOf(addressOf(inboxId)) : recipients.length;
    const arrived = messagesOf(history.mailbox).filter(
      ({ id }) => id !== sent.id && !known.some((one) => one.id === id),
    );
    arrived.sort((one, other) => placeOf(one) - placeOf(other));
    for (const { id, inboxId } of arrived) history.owe('message.received', inboxId, id, tenants);
    if (recipients.includes('bounce@simulator.test')) history.owe('message.bounced', inboxClient.id, sent.id, tenants);
  },
  trigger(history, { kind, inbox }) {
    const messageId = history.nextMessageId();
    history.owe(kind, inboxOf(inbox), messageId);
    history.mailbox.trigger(kind, { inboxId: inboxOf(inbox), messageId });
  },
  answer(history, { hook, answers }) {
    const script = answers.flatMap((index) => pick(ANSWERS, index) ?? []);
    pick(history.hooks, hook)?.receiver.answer(...script);
  },
  fault(history, { kind, hook, times }) {
    const one = hook === null ? undefined : pick(history.living(), hook);
    history.addFault(kind, one?.id, times);
  },
  unfault(history, { fault }) {
    if (fault === null) history.clearFaults();
    else history.removeFault(fault);
  },
  release(history, { hook, count }) {
    const one = hook === null ? undefined : pick(history.living(), hook);
    history.mailbox.release({ webhookId: one?.id, count });
  },
  advance: ({ mailbox }, { ms, tenant }) => mailbox.clock.advance(ms, { tenant: tenantOf(tenant) }),
  async freeze({ mailbox }, { ms, tenant }) {
    // What is on its way has the time at which it was signed.
    await settle(mailbox);
    const options = { tenant: tenantOf(tenant) };
    mailbox.clock.freeze(new Date(mailbox.clock.now(options).getTime() + ms), options);
  },
  async create(history, { scope, kinds }) {
    const { tenant, workspaceId } = pick(SCOPES, scope) ?? SCOPES[0];
    const { mailbox, setting, hooks } = history;
    const receiver = createReceiver({ now: () => mailbox.clock.now({ tenant: IDS[tenant].tenant }) });
    const url = await setting.urlOf(receiver, hooks.length);
    const json = { url, events: kinds, ...(workspaceId && { workspaceId }) };
    const created = await history.send('POST', '/v1/webhooks', { key: mailbox.keys[tenant].tenant, json });
    expect(created.status).toBe(201);
    receiver.secret = created.json.secret;
    hooks.push({ id: created.json.id, url, receiver });
  },
  async patch(history, { hook, change }) {
    const one = pick(history.living(), hook);
    if (!one) return;
    const changes = {
      on: { isActive: true },
      off: { isActive: false },
      refused: { url: history.setting.refusedUrl },
      back: { url: one.url },
    };
    const json = change in changes ? changes[change as keyof typeof changes] : { events: [change] };
    const { status } = await history.send('PATCH', `/v1/webhooks/${one.id}`, { key: history.tenantKey(one.id), json });
    expect(status).toBe(200);
  },
  async delete(history, { hook }) {
    const one = pick(history.living(), hook);
    if (one) await history.send('DELETE', `/v1/webhooks/${one.id}`, { key: history.tenantKey(one.id) });
  },
  async rotate(history, { inbox }) {
    const name = pick(INBOX_NAMES, inbox) ?? 'info';
    const { acme, globex } = history.mailbox.keys;
    const key = name === 'info' ? globex.inboxes.info : acme.inboxes[name];
    const owner = name === 'info' ? globex.tenant : acme.tenant;
    const id = name === 'info' ? IDS.globex.inboxes.info : IDS.acme.inboxes[name];
    const rotated = await history.send('POST', `/v1/inboxes/${id}/keys`, { key: owner });
    expect(rotated.status).toBeLessThan(300);
    history.keys[key] = rotated.json.apiKey ?? rotated.json.key;
  },
  redeliver({ mailbox }, { delivery }) {
    const one = pick(mailbox.deliveries(), delivery);
    try {
      if (one) mailbox.redeliver(one.id);
    } catch (error) {
      expect(error).toMatchObject({ code: 'CONFLICT' });
    }
  },
  settle: ({ mailbox }) => settle(mailbox),
};

const settle = (mailbox: Mailbox) => mailbox.settled({ timeout: '1m' });

function messagesOf(mailbox: Mailbox) {
  return mailbox.snapshot().tenants.flatMap(({ messages }) => messages);
}

async function play(history: History, sequence: readonly Step[]): Promise<void> {
  for (const each of sequence) await DO[each.do](history, each as never);
  const { mailbox } = history;
  await settle(mailbox);
  // Ten days are enough for every retry, and the rest makes up for moves back.
  mailbox.release();
  await mailbox.clock.advance('40d');
}

const nameOf = (webhookId: string, kind: string, messageId: string) => `${kind} of ${messageId} at ${webhookId}`;

/** Every expected delivery was received, or the log has the reason, and nothing else was received. */
function expectAllToHaveCome({ mailbox, hooks, owed }: History): void {
  const log = mailbox.deliveries();
  const owedNames = owed.map(({ webhookId, kind, messageId }) => nameOf(webhookId, kind, messageId));
  expect(log.map(nameOfDelivery).toSorted()).toEqual(owedNames.toSorted());
  for (const delivery of log) {
    const hook = hooks.find(({ id }) => id === delivery.webhookId);
    const fault = owed[owedNames.indexOf(nameOfDelivery(delivery))]?.fault;
    if (hook) expectToHaveCome(delivery, hook, fault);
  }
  for (const { id, receiver } of hooks) {
    const eventIds = log.filter(({ webhookId }) => webhookId === id).map(({ eventId }) => eventId);
    for (const { headers } of receiver.requests) expect(eventIds).toContain(headers['webhook-id']);
  }
}

const nameOfDelivery = ({ webhookId, event, payload }: Delivery) => nameOf(webhookId, event, payload.messageId);

/** A delivery is over, the receiver has seen its attempts, and only what a fault spoiled did not verify. */
function expectToHaveCome(delivery: Delivery, { url, receiver }: Hook, fault: string | undefined): void {
  const { state, attempts, eventId } = delivery;
  const title = `${nameOfDelivery(delivery)}, ${state}, under ${fault}`;
  const came = receiver.requests.filter(({ headers }) => headers['webhook-id'] === eventId);
  const seen = came.map(signatureOfRequest);
  expect(['delivered', 'exhausted', 'dropped', 'refused'], title).toContain(state);
  const isAnswered = came.some(({ answer }) => isSuccess(answer));
  if (state === 'delivered') expect(isAnswered, title).toBe(true);
  // A receiver that is too slow may not have seen an attempt, but it has seen nothing else.
  const sent = attempts.filter((attempt) => attempt.url === url);
  expect(sent.map(signatureOf), title).toEqual(expect.arrayContaining(seen));
  expect(sent.filter(({ status }) => status !== null).length, title).toBeLessThanOrEqual(seen.length);

  const unverified = came.filter(({ verified }) => !verified).map(signatureOfRequest);
  const spoiled = UNVERIFIED.includes(fault ?? '') ? attempts.slice(0, 1).map(signatureOf) : [];
  expect(spoiled, title).toEqual(expect.arrayContaining(unverified));
  expect(unverified.length, title).toBeLessThanOrEqual(1);
}

/** What identifies an attempt. */
function signatureOf({ requestHeaders, requestBody }: Pick<Attempt, 'requestHeaders' | 'requestBody'>): string {
  const signature = `${requestHeaders['webhook-timestamp']} ${requestHeaders['webhook-signature']}`;
  return `${signature} ${requestBody.length}`;
}

const signatureOfRequest = ({ headers, body }: ReceivedRequest) =>
  signatureOf({ requestHeaders: headers, requestBody: body });

function isSuccess(answer: ReceiverAnswer): boolean {
  const status = typeof answer === 'object' ? answer.status : answer;
  return typeof status === 'number' && status >= 200 && status < 300;
}

/** Two attempts at different times of the mailbox then have different signatures. */
const BY_CLOCK = { 'deliveries.timestamp': 'clock' } as const;

/** A mailbox whose receivers are called without a network. */
function openQuick(): Setting {
  const receivers = new Map<string, Receiver>();
  const refusedUrl = 'https://refused.example/in';
  async function fetch(url: string, init: RequestInit): Promise<Response> {
    const receiver = receivers.get(url);
    if (!receiver) throw new RefusedError('It may not be called.');
    return receiver.fetch(new Request(url, init));
  }
  return {
    mailbox: createMailbox({ behaviours: { ...BY_CLOCK, 'deliveries.timeout': '100ms' }, environment: { fetch } }),
    refusedUrl,
    async urlOf(receiver, index) {
      const url = `https://hooks.example/${index}`;
      receivers.set(url, receiver);
      return url;
    },
  };
}

test('every event reaches each matching webhook, or the log gives the reason, under any failures', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const setting = openQuick();
      setting.mailbox.clock.freeze(START);
      const history = new History(setting);
      await play(history, sequence);
      expectAllToHaveCome(history);
    }),
    { numRuns: 30 },
  );
});

test('every event reaches each matching webhook, or the log gives the reason, over HTTP too', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      await using server = await startServer({ port: 0, behaviours: { ...BY_CLOCK, 'deliveries.timeout': '1s' } });
      const { mailbox } = server;
      mailbox.clock.freeze(START);
      const urlOf = async (receiver: Receiver, index: number) => `${await receiver.listen()}/${index}`;
      const history = new History({ mailbox, urlOf, refusedUrl: 'http://203.0.113.1/in' });
      try {
        await play(history, sequence);
        expectAllToHaveCome(history);
      } finally {
        for (const { receiver } of history.hooks) await receiver.close();
      }
    }),
    { numRuns: 4 },
  );
});
