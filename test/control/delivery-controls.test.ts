import { type BehaviourOptions, createMailbox } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { sendControl } from '../support/control.ts';
import { everywhere, interceptRequests } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { createWebhook, START } from '../support/webhooks.ts';

interceptRequests();

const WEBHOOK = { url: 'http://127.0.0.1/', events: ['message.received'] };

/** A mailbox whose receivers answer when the test releases them. */
function openHanging() {
  const answers: ((response: Response) => void)[] = [];
  const fetch = () => new Promise<Response>((resolve) => answers.push(resolve));
  const mailbox = createMailbox({
    environment: { fetch, now: () => new Date(START) },
    // Other tests in this process may keep the answers waiting.
    behaviours: { 'deliveries.timeout': '30s' },
  });
  async function send(method: string, path: string, key: string, json?: object) {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const init = { method, headers, ...(json && { body: JSON.stringify(json) }) };
    return (await mailbox.fetch(new Request(mailbox.baseUrl + path, init))).json();
  }
  const answerAll = () => {
    for (const answer of answers) answer(new Response());
  };
  return { mailbox, send, answerAll };
}

test('a list of deliveries can be asked for by each of its filters over HTTP', async () => {
  await using server = await startServer({ port: 0 });
  const { tenant, webhooks } = server.mailbox.ids.acme;
  const [state, event] = ['pending', 'message.received'];
  for (const filter of [{ state }, { event }, { tenant }, { webhookId: webhooks.everything }, { state, tenant }]) {
    const { status, json } = await sendControl(`${server.control}/deliveries?${new URLSearchParams(filter)}`, 'GET');
    expect([filter, status]).toEqual([filter, 200]);
    expect(json.losses).toEqual({ dropped: 0, forgotten: 0 });
  }
});

test('a tenant that is deleted during an advance does not delay the other tenants', async () => {
  const { mailbox, send, answerAll } = openHanging();
  await send('POST', '/v1/webhooks', mailbox.keys.globex.tenant, WEBHOOK);
  mailbox.trigger('message.received', { tenant: IDS.globex.tenant });
  const moved = mailbox.clock.advance('1h');
  await send('DELETE', `/v1/tenants/${IDS.globex.tenant}`, mailbox.keys.operator);
  answerAll();
  await moved;
  const times = [mailbox.clock.now(), mailbox.clock.now({ tenant: IDS.acme.tenant })];
  expect(times.map((time) => time.toISOString())).toEqual(Array(2).fill('2026-03-01T10:00:00.000Z'));
});

test.each([
  ['a tenant of the start', ({ mailbox }: ReturnType<typeof openHanging>) => mailbox.keys.acme.tenant],
  [
    'a tenant that was made later',
    async ({ mailbox, send }: ReturnType<typeof openHanging>) =>
      (await send('POST', '/v1/tenants', mailbox.keys.operator, { name: 'Initech' })).apiKey as string,
  ],
])('a reset while time waits for %s ends the move', async (_, findKey) => {
  const service = openHanging();
  const { mailbox, send } = service;
  const key = await findKey(service);
  await send('POST', '/v1/webhooks', key, WEBHOOK);
  mailbox.trigger('message.received');
  const moved = mailbox.clock.advance('1h');
  mailbox.reset();
  await moved;
  expect(mailbox.clock.now().toISOString()).toBe(START);
});

test('a stream that cannot be closed does not prevent a reset, and is reported', () => {
  const reported: unknown[] = [];
  const mailbox = createMailbox({ environment: { report: (error) => void reported.push(error) } });
  const gone = new Error('Gone.');
  const before = mailbox.snapshot();
  const url = `${mailbox.baseUrl}/v1/ws?api_key=${mailbox.keys.acme.tenant}`;
  mailbox.stream({ url, headers: new Headers() })({
    send() {},
    close() {
      throw gone;
    },
    bufferedBytes: 0,
  });
  mailbox.reset();
  expect(mailbox.snapshot()).toEqual(before);
  expect(reported).toEqual([gone]);
});

test('a mailbox without tenants fires no event and has no deliveries', () => {
  const mailbox = createMailbox({ fixtures: { tenants: {} } });
  expect([mailbox.trigger('message.received'), mailbox.release(), mailbox.deliveries()]).toEqual([[], [], []]);
  expect(mailbox.addFault({ on: 'delivery', kind: 'drop' })).toMatchObject({ tenantId: null, webhookId: null });
});

everywhere('no event can be fired in an inbox that is deleted', async (service) => {
  const { mailbox, send } = service;
  const { helpdesk } = IDS.acme.inboxes;
  await send('DELETE', `/v1/inboxes/${helpdesk}`, { key: mailbox.keys.acme.tenant });
  const fire = () => mailbox.trigger('message.received', { inboxId: helpdesk });
  expect(fire).toThrow('There is no inbox with this id.');
});

everywhere('a fault for a deleted webhook is no longer listed', async (service) => {
  const { mailbox, send } = service;
  const { id } = await createWebhook(service, 'http://127.0.0.1/');
  mailbox.addFault({ on: 'delivery', kind: 'drop', webhookId: id });
  await send('DELETE', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant });
  expect(mailbox.faults()).toEqual([]);
});

/** A mailbox with one active webhook, whose receiver answers as the test decides. */
function openAudited(answer: () => Promise<Response>, behaviours: BehaviourOptions = {}) {
  return createMailbox({ fixtures: FIXTURE, behaviours, environment: { fetch: answer } });
}

test('every event is delivered even if there are more than the log holds', async () => {
  let calls = 0;
  const response = new Response();
  const mailbox = openAudited(async () => {
    calls += 1;
    return response;
  });
  for (let event = 0; event < 12_000; event += 1) mailbox.trigger('message.received');
  await mailbox.settled({ timeout: '30s' });
  expect([calls, mailbox.deliveries().length]).toEqual([12_000, 10_000]);
});

test('the delivery that has waited longest is dropped with a reason when the log is full of waiting ones', async () => {
  const response = new Response(null, { status: 500 });
  const mailbox = openAudited(async () => response);
  const [first] = mailbox.trigger('message.received');
  for (let event = 1; event < 10_000; event += 1) mailbox.trigger('message.received');
  await mailbox.settled({ timeout: '30s' });
  expect(mailbox.deliveries({ state: 'pending' })).toHaveLength(10_000);
  const [last] = mailbox.trigger('message.received');
  await mailbox.settled({ timeout: '30s' });
  const kept = mailbox.deliveries();
  expect(kept).toHaveLength(10_000);
  expect(kept.some(({ id }) => id === first?.id)).toBe(false);
  expect(mailbox.delivery(last?.id ?? '').attempts).toHaveLength(1);
});

test('the headers of responses count towards the size of the log', async () => {
  const response = new Response(null, { headers: { 'x-long': 'x'.repeat(1024 * 1024) } });
  const mailbox = openAudited(async () => response);
  for (let event = 0; event < 100; event += 1) mailbox.trigger('message.received');
  await mailbox.settled({ timeout: '30s' });
  expect(mailbox.deliveries().length).toBeLessThan(65);
});

test('a duplicate that is sent at the same time as its first copy leaves both attempts in the log', async () => {
  const mailbox = openAudited(async () => new Response(), { 'deliveries.order': 'parallel' });
  mailbox.addFault({ on: 'delivery', kind: 'duplicate' });
  mailbox.trigger('message.received');
  await mailbox.settled();
  expect(mailbox.deliveries()).toMatchObject([{ state: 'delivered', attempts: [{ status: 200 }, { status: 200 }] }]);
});

test('an event that is nested too deep is refused', async () => {
  const mailbox = openAudited(async () => new Response());
  const nest = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  expect(mailbox.trigger('message.received', { deep: nest(99) })).toHaveLength(1);
  for (const depth of [101, 3000, 100_000]) {
    const fire = () => mailbox.trigger('message.received', { deep: nest(depth) });
    expect(fire).toThrow('The event is nested more than 100 levels deep.');
  }
  await mailbox.settled();
  expect(mailbox.deliveries()).toMatchObject([{ state: 'delivered' }]);
});

test('the error of settled counts the deliveries that wait behind another', async () => {
  const { mailbox, send, answerAll } = openHanging();
  await send('POST', '/v1/webhooks', mailbox.keys.acme.tenant, WEBHOOK);
  for (let event = 0; event < 3; event += 1) mailbox.trigger('message.received');
  await expect(mailbox.settled({ timeout: 20 })).rejects.toThrow(/delivery \S+ of .*; 2 more wait for their turn\.$/);
  answerAll();
});

test('an event fired by hand without an HTML body has none in a stream either', () => {
  const mailbox = createMailbox();
  const frames: string[] = [];
  const url = `${mailbox.baseUrl}/v1/ws?api_key=${mailbox.keys.acme.tenant}`;
  const connection = { send: (text: string) => void frames.push(text), close() {}, bufferedBytes: 0 };
  mailbox.stream({ url, headers: new Headers() })(connection).receive('{"type":"subscribe"}');
  const options = { tenant: IDS.acme.tenant, htmlBody: null, plainBody: 'By hand.' };
  mailbox.trigger('message.received', options);
  expect(JSON.parse(frames.at(-1) ?? '').message).toMatchObject({ html_body: null, plain_body: 'By hand.' });
});

test('a control call refuses an unknown query parameter', async () => {
  await using server = await startServer({ port: 0 });
  const reply = await fetch(`${server.control}/deliveries?stat=pending`);
  const error = 'The query has the unknown parameter "stat"; it takes tenant, webhookId, event, state, sandbox.';
  expect([reply.status, await reply.json()]).toEqual([400, { error, code: 'VALIDATION_ERROR' }]);
});

test('a page may deliver to a receiver, which answers the preflight and does not record it', async () => {
  await using receiver = createReceiver({ answers: [202] });
  const url = await receiver.listen();
  const headers = { origin: 'http://localhost', 'access-control-request-method': 'POST' };
  const preflight = await fetch(url, { method: 'OPTIONS', headers });
  expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, '*']);
  const reply = await fetch(url, { method: 'POST', body: '{}' });
  expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([202, '*']);
  expect(receiver.requests).toMatchObject([{ method: 'POST', answer: 202 }]);
});

test('a message is found by its id in upper case', () => {
  const mailbox = createMailbox({ fixtures: FIXTURE });
  const [delivery] = mailbox.trigger('message.received', { messageId: MESSAGE.toUpperCase() });
  expect(delivery?.payload).toMatchObject({ subject: 'Opening hours', from: 'kim@visitor.test' });
  mailbox.reset();
});

const MESSAGE = '0f0f0f0f-0006-4000-8000-00000000000a';

const FIXTURE = {
  tenants: {
    initech: {
      workspaces: {
        main: {
          inboxes: {
            orders: { messages: [{ id: MESSAGE, from: 'kim@visitor.test', subject: 'Opening hours' }] },
          },
        },
      },
      webhooks: { audit: { url: 'http://127.0.0.1:9/audit' } },
    },
  },
};
