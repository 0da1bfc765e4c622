import { createMailbox, type FeedEvent, type Mailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test, vi } from 'vitest';
import { lineOfEvent } from '../../../src/control/journal/shown-kinds.ts';
import { createControl } from '../../../src/control/table/control.ts';
import { createFetch } from '../../../src/mailbox/fetch.ts';
import { sendReply } from '../../../src/server/http/node-adapter.ts';
import { streamReply } from '../../../src/service/pipeline/reply.ts';
import { eventually } from '../../support/eventually.ts';
import { IDS } from '../../support/ids.ts';
import { senderTo } from '../../support/send.ts';
import { serve } from '../../support/serve.ts';
import { openSocket } from '../../support/stream-client.ts';

const TENANT = 'tk_acme_tenant_key';

/** The events that are kept, oldest first. */
async function pastEvents(mailbox: Mailbox): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for await (const event of mailbox.feed({ follow: false })) events.push(event);
  return events;
}

const kindsOf = (events: readonly FeedEvent[]) => events.map(({ kind }) => kind);

/** Reads server-sent events, one at a time. */
function readEvents(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  return {
    /** Resolves with the next event, or with `undefined` at the end. */
    async next(): Promise<FeedEvent | undefined> {
      for (;;) {
        const [block, ...more] = rest.split('\n\n');
        if (more.length > 0) {
          rest = more.join('\n\n');
          const [, id, data = ''] = /^id: (.*)\ndata: (.*)$/.exec(block ?? '') ?? [];
          const event = JSON.parse(data) as FeedEvent;
          expect(event.id).toBe(id);
          return event;
        }
        const { done, value } = (await reader?.read()) ?? {};
        if (done) return undefined;
        rest += value;
      }
    },
    cancel: () => reader?.cancel(),
  };
}

test('the feed has requests, mail, deliveries, faults, changes of the time and resets', async () => {
  const environment = { fetch: async () => new Response() };
  const mailbox = createMailbox({ environment });
  const send = senderTo(mailbox);
  const hook = { url: 'http://127.0.0.1:9/in', events: ['message.received'] };
  await send('POST', '/v1/webhooks', { key: TENANT, json: hook });
  await mailbox.receiveMessage({ from: 'dana@customer.test', to: 'helpdesk@acme.test', subject: 'Hi' });
  await mailbox.settled();
  mailbox.clock.freeze('2026-03-01T09:00:00Z', { tenant: IDS.acme.tenant });
  await mailbox.clock.advance('1m');
  mailbox.clock.resume();
  const { id } = mailbox.addFault({ on: 'delivery', kind: 'drop' });
  mailbox.removeFault(id);
  mailbox.clearFaults();
  mailbox.reset();
  const [first, ...rest] = await pastEvents(mailbox);
  expect(first).toMatchObject({ kind: 'request', data: { id: 'req_1', operation: 'createWebhook', status: 201 } });
  expect(rest).toMatchObject([
    { kind: 'mail-received', data: { inbox: 'helpdesk@acme.test', mail: { subject: 'Hi' } } },
    { kind: 'delivery-created', data: { event: 'message.received', state: 'pending', reason: null } },
    { kind: 'attempt', data: { attempt: 1, event: 'message.received', state: 'delivered', status: 200 } },
    { kind: 'clock', data: { action: 'freeze', tenantId: IDS.acme.tenant, now: '2026-03-01T09:00:00.000Z' } },
    { kind: 'clock', data: { action: 'advance', tenantId: null } },
    { kind: 'clock', data: { action: 'resume', tenantId: null } },
    { kind: 'fault', data: { action: 'added', fault: { id } } },
    { kind: 'fault', data: { action: 'removed', fault: { id } } },
    { kind: 'fault', data: { action: 'cleared', fault: null } },
    { kind: 'reset' },
  ]);
});

test('the feed has each use of a fault, and what a test changes in the lists of the mailbox', async () => {
  const mailbox = createMailbox();
  const send = senderTo(mailbox);
  const { id } = mailbox.addFault({ on: 'request', status: 503, times: 2 });
  for (const status of [503, 503, 200]) {
    expect((await send('GET', '/v1/webhooks', { key: TENANT })).status).toBe(status);
  }
  mailbox.checkpoint('paid');
  mailbox.removeCheckpoint('paid');
  mailbox.clearRequests();
  mailbox.restoreRequests();
  mailbox.rotateKey(String(mailbox.exposure(TENANT).id));
  const sandbox = mailbox.createSandbox({ name: 'lion' });
  sandbox.checkpoint('sent');
  sandbox.clearRequests();
  sandbox.close();
  sandbox.close();
  const events = await pastEvents(mailbox);
  const whole = { tenantId: null, name: null };
  expect(events.filter(({ kind }) => kind !== 'request').slice(1)).toMatchObject([
    { kind: 'fault', data: { action: 'used', fault: { id, times: 1 } } },
    { kind: 'fault', data: { action: 'used', fault: { id, times: 0 } } },
    { kind: 'checkpoint', data: { action: 'added', tenantId: null, name: 'paid' } },
    { kind: 'checkpoint', data: { action: 'removed', tenantId: null, name: 'paid' } },
    { kind: 'journal', data: { action: 'cleared', ...whole } },
    { kind: 'journal', data: { action: 'restored', ...whole } },
    { kind: 'key', data: { action: 'replaced', ...whole } },
    { kind: 'sandbox', data: { action: 'added', tenantId: sandbox.id, name: 'lion' } },
    { kind: 'checkpoint', data: { action: 'added', tenantId: sandbox.id, name: 'sent' } },
    { kind: 'journal', data: { action: 'cleared', tenantId: sandbox.id, name: null } },
    { kind: 'sandbox', data: { action: 'removed', tenantId: sandbox.id, name: 'lion' } },
  ]);
});

test('the feed has enough of each mail and each delivery to show it', async () => {
  const environment = { fetch: async () => new Response() };
  const mailbox = createMailbox({ environment });
  const send = senderTo(mailbox);
  const hook = { url: 'http://127.0.0.1:9/in', events: ['message.received'] };
  await send('POST', '/v1/webhooks', { key: TENANT, json: hook });
  mailbox.addCorrespondent({ address: 'dana@customer.test', replies: ['It works. '.repeat(100)] });
  const { id: faultId } = mailbox.addFault({ on: 'delivery', kind: 'stale-timestamp', times: 1 });
  const mail = {
    to: 'Dana <dana@customer.test>',
    subject: 'A link',
    plainBody: '\n Try tk_acme_tenant_key.',
    verified: true,
  };
  const { json } = await send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/send`, { key: TENANT, json: mail });
  await mailbox.settled();
  const events = await pastEvents(mailbox);
  const [answer] = mailbox.messages({ direction: 'inbound' });
  const common = { tenantId: IDS.acme.tenant, threadId: answer?.threadId };
  expect(events.find(({ kind }) => kind === 'mail-sent')).toMatchObject({
    tenantId: IDS.acme.tenant,
    data: {
      inbox: 'helpdesk@acme.test',
      source: 'request',
      mail: {
        ...common,
        id: json.id,
        to: ['Dana <dana@customer.test>'],
        subject: 'A link',
        plainBody: 'Try tk_acme_….',
      },
    },
  });
  expect(events.find(({ kind }) => kind === 'mail-received')).toMatchObject({
    data: {
      inbox: 'helpdesk@acme.test',
      source: 'correspondent',
      mail: { ...common, id: answer?.id, plainBody: 'It works. '.repeat(24) },
    },
  });
  expect(events.filter((event) => 'data' in event && 'deliveryId' in event.data)).toMatchObject([
    { kind: 'delivery-created', data: { messageId: answer?.id } },
    { kind: 'attempt', data: { messageId: answer?.id, status: 200, faultId } },
  ]);
});

test('an event of the feed is an entry of the journal, without what may be long', async () => {
  const mailbox = createMailbox({ environment: { fetch: async () => new Response('Thank you.') } });
  const send = senderTo(mailbox);
  const hook = { url: 'http://127.0.0.1:9/in', events: ['message.received'] };
  await send('POST', '/v1/webhooks', { key: TENANT, json: hook });
  const [mail] = await mailbox.receiveMessage({
    from: 'dana@customer.test',
    to: 'helpdesk@acme.test',
    plainBody: 'Long. '.repeat(100),
    htmlBody: '<p>Long.</p>',
    attachments: [{ filename: 'a.txt', content: 'bG9uZw==' }],
  });
  await mailbox.settled();
  const reply = { plainBody: 'An answer.', verified: true };
  const path = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/reply/${mail?.id}`;
  expect((await send('POST', path, { key: TENANT, json: reply })).status).toBe(200);
  mailbox.removeMail(String(mail?.id));
  mailbox.clock.freeze();
  const events = await pastEvents(mailbox);
  const entries = mailbox.journal();
  for (const event of events) {
    if (event.kind === 'gap') throw new Error('The feed has a gap.');
    const { id: _, data, ...fields } = event;
    const entry = entries.find(({ tenantId, number }) => tenantId === event.tenantId && number === event.number);
    expect(entry).toMatchObject(fields);
    const expected = 'mail' in data ? { ...data, mail: { ...data.mail, plainBody: expect.any(String) } } : data;
    expect(entry?.data).toMatchObject(expected);
  }
  const [received] = mailbox.journal({ kinds: ['mail-received'] });
  const cause = { tenantId: IDS.acme.tenant, number: received?.number };
  expect(events.find(({ kind }) => kind === 'mail-sent')).toMatchObject({ cause });
  expect(JSON.stringify(events)).not.toMatch(/(?:Long\. ){41}|<p>|bG9uZw==|Thank you/);
});

test('the feed has the cause of an entry as soon as the request that led to it has ended', async () => {
  const mailbox = createMailbox();
  mailbox.addFault({ on: 'request', operation: 'sendMessage', latency: { ms: 60_000 } });
  const inbox = IDS.acme.inboxes.helpdesk;
  const reading = mailbox.feed()[Symbol.asyncIterator]();
  const sending = mailbox
    .client(TENANT)
    .sendMessage(inbox, { to: 'dana@customer.test', subject: 'Hello', verified: true });
  let event = await reading.next();
  while (event.value?.kind !== 'mail-sent') event = await reading.next();
  expect(event.value.cause).toBe(null);
  mailbox.clearFaults();
  await sending;
  const [request] = mailbox.journal({ kinds: ['request'] });
  const sent = (await pastEvents(mailbox)).find(({ kind }) => kind === 'mail-sent');
  expect(sent).toMatchObject({ cause: { tenantId: IDS.acme.tenant, number: request?.number } });
});

test('a failure says whether the emulator or the code of a correspondent failed', async () => {
  const mailbox = createMailbox({ environment: { report: () => {} } });
  mailbox.addCorrespondent({
    address: 'dana@customer.test',
    replies() {
      throw new Error('No words.');
    },
  });
  const client = mailbox.client(TENANT);
  await client.sendMessage(IDS.acme.inboxes.helpdesk, { to: 'dana@customer.test', subject: 'Hello', verified: true });
  const failure = await eventually(async () => {
    const found = (await pastEvents(mailbox)).find(({ kind }) => kind === 'failure');
    if (found) return found;
    throw new Error('The feed has no failure yet.');
  });
  expect(failure).toMatchObject({ data: { failed: 'correspondent', error: expect.stringContaining('No words') } });
  expect(lineOfEvent(failure)).toMatchObject({ name: 'correspondent', sign: '!' });
});

test('the feed says at once that a delivery is held', async () => {
  const mailbox = createMailbox();
  mailbox.addFault({ on: 'delivery', kind: 'hold' });
  const [held] = mailbox.trigger('message.received', { webhookId: mailbox.ids.acme.webhooks.support });
  const events = await pastEvents(mailbox);
  expect(events.filter(({ kind }) => kind !== 'fault')).toMatchObject([
    {
      kind: 'delivery-created',
      data: { deliveryId: held?.id, state: 'held', reason: 'It is held until it is released.' },
    },
  ]);
});

test('the feed says at once that a delivery is released, before its receiver answers', async ({ onTestFinished }) => {
  let resolve = (_response: Response) => {};
  const answer = new Promise<Response>((settle) => {
    resolve = settle;
  });
  onTestFinished(() => resolve(new Response()));
  const mailbox = createMailbox({ environment: { fetch: () => answer } });
  await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', workspaceOf: 'helpdesk@acme.test' });
  mailbox.addFault({ on: 'delivery', kind: 'hold' });
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test' });
  const [released] = mailbox.release();
  const events = await pastEvents(mailbox);
  expect(events.at(-1)).toMatchObject({
    kind: 'delivery-released',
    data: { deliveryId: released?.id, state: 'pending', reason: null },
  });
  expect(mailbox.journal({ kinds: ['delivery-released', 'attempt'] })).toHaveLength(1);
});

test('the feed has failures of the emulator, with the message only', async () => {
  const mailbox = createMailbox({
    environment: {
      report: () => {},
      now: () => new Date(),
      randomBytes() {
        throw new Error('No tk_acme_tenant_key here.');
      },
    },
  });
  await senderTo(mailbox)('POST', '/v1/webhooks', {
    key: TENANT,
    json: { url: 'http://127.0.0.1:9', events: ['message.received'] },
  });
  expect(await pastEvents(mailbox)).toMatchObject([
    { kind: 'failure', data: { failed: 'emulator', error: 'No tk_acme_… here' } },
    { kind: 'request', data: { status: 500, code: 'INTERNAL_ERROR' } },
  ]);
});

test('a change that is refused is not in the feed', async () => {
  const mailbox = createMailbox();
  expect(() => mailbox.clock.freeze('soon')).toThrow();
  await expect(mailbox.clock.advance('1y2')).rejects.toThrow();
  expect(() => mailbox.removeFault('unknown')).toThrow();
  expect(await pastEvents(mailbox)).toEqual([]);
});

test('a reader gets only what happens after its call', async () => {
  const mailbox = createMailbox();
  mailbox.reset();
  const feed = mailbox.feed();
  mailbox.clock.freeze();
  for await (const event of feed) {
    expect(event.kind).toBe('clock');
    break;
  }
});

test('a reader continues behind the last event that it has', async () => {
  const mailbox = createMailbox();
  for (const time of ['09:00', '10:00', '11:00']) mailbox.clock.freeze(`2026-03-01T${time}:00Z`);
  const [first, second, third] = await pastEvents(mailbox);
  const after: FeedEvent[] = [];
  for await (const event of mailbox.feed({ lastEventId: first?.id, follow: false })) after.push(event);
  expect(after).toEqual([second, third]);
});

test.for(['unknown', 'zzz-1', '', '-1', 'x-99999999999999999999'])(
  'after the unknown id %j, a reader gets a gap and everything that is kept',
  async (lastEventId, { expect }) => {
    const mailbox = createMailbox();
    mailbox.reset();
    const events: FeedEvent[] = [];
    for await (const event of mailbox.feed({ lastEventId, follow: false })) events.push(event);
    expect(events).toMatchObject([{ kind: 'gap', missed: null }, { kind: 'reset' }]);
  },
);

test('a reader that does not read gets a gap instead of the events that are not kept any more', async () => {
  const mailbox = createMailbox({ journalSize: 100 });
  const send = senderTo(mailbox);
  const reader = mailbox.feed()[Symbol.asyncIterator]();
  await send('GET', '/v1/webhooks', { key: TENANT });
  expect((await reader.next()).value?.kind).toBe('request');
  for (let count = 0; count < 117; count += 1) await send('GET', '/v1/webhooks', { key: TENANT });
  mailbox.clock.freeze();
  for (let count = 0; count < 117; count += 1) await send('GET', '/v1/webhooks', { key: TENANT });
  const first = await reader.next();
  expect(first.value).toMatchObject({ kind: 'gap', missed: 117 });
  expect((await reader.next()).value).toMatchObject({ kind: 'clock' });
  const second = await reader.next();
  expect(second.value).toMatchObject({ kind: 'gap', missed: 17 });
  let count = 0;
  for await (const { kind } of mailbox.feed({ lastEventId: second.value?.id, follow: false })) {
    expect(kind).toBe('request');
    count += 1;
  }
  expect(count).toBe(100);
});

test('a reader that stops while it waits is removed', async () => {
  const mailbox = createMailbox();
  const reader = mailbox.feed()[Symbol.asyncIterator]();
  const pending = reader.next();
  await reader.return?.();
  expect(await pending).toEqual({ done: true, value: undefined });
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});

test('GET /__mock/feed streams events, and continues behind Last-Event-ID', async () => {
  await using server = await startServer({ port: 0 });
  const open = (headers = {}) => fetch(`${server.control}/feed`, { headers });
  const response = await open();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const events = readEvents(response);
  await senderTo(server.mailbox)('GET', '/v1/webhooks', { key: TENANT });
  const first = await events.next();
  expect(first).toMatchObject({ kind: 'request', data: { operation: 'listWebhooks', key: 'tk_acme_…' } });
  await events.cancel();
  server.mailbox.reset();
  const resumed = readEvents(await open({ 'Last-Event-ID': first?.id }));
  expect(await resumed.next()).toMatchObject({ kind: 'reset' });
});

test('the feed has streams, with the key masked', async () => {
  await using server = await startServer({ port: 0 });
  const events = readEvents(await fetch(`${server.control}/feed`));
  await using client = await openSocket(`${server.url}/v1/ws?api_key=${TENANT}`);
  expect(await events.next()).toMatchObject({ kind: 'request', data: { path: '/v1/ws', status: 101 } });
  expect(await events.next()).toMatchObject({ kind: 'stream-opened', data: { tier: 'tenant', key: 'tk_acme_…' } });
  client.close();
  expect(await events.next()).toMatchObject({ kind: 'stream-closed', data: { key: 'tk_acme_…' } });
});

test('the feed ends when the server closes', async () => {
  const server = await startServer({ port: 0 });
  const events = readEvents(await fetch(`${server.control}/feed`));
  server.mailbox.reset();
  await server.close();
  expect((await events.next())?.kind).toBe('reset');
  expect(await events.next()).toBeUndefined();
});

test('a feed that is not followed ends after the events that are kept', async () => {
  await using server = await startServer({ port: 0 });
  server.mailbox.reset();
  const response = await fetch(`${server.control}/feed?follow=false`);
  expect((await response.text()).match(/^data: /gm)).toHaveLength(1);
  const head = await fetch(`${server.control}/feed`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('the feed works as a Response in process, and stops when its body is cancelled', async () => {
  const mailbox = createMailbox();
  const fetchControl = createFetch(createControl(mailbox, () => {}));
  const response = await fetchControl(new Request('http://localhost/__mock/feed?lastEventId=0'));
  const events = readEvents(response);
  mailbox.reset();
  expect(kindsOf([await events.next()].flatMap((event) => event ?? []))).toEqual(['reset']);
  const pending = events.next();
  await events.cancel();
  expect(await pending).toBeUndefined();
});

test('a client that leaves ends its reader', async () => {
  const returned = vi.fn(async () => ({ done: true as const, value: undefined }));
  const next = () => new Promise<never>(() => {});
  const silent = { [Symbol.asyncIterator]: () => ({ next, return: returned }) };
  await using server = await serve((_, response) => sendReply(response, streamReply(200, silent, 'text/event-stream')));
  const response = await fetch(server.url);
  await response.body?.cancel();
  await eventually(() => expect(returned).toHaveBeenCalledOnce());
});

test('an event stream without events has comments, so that nobody closes the connection', async () => {
  const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
  const reply = () => streamReply(200, silent, 'text/event-stream');
  await using server = await serve((_, response) => sendReply(response, reply(), { commentMs: 5 }));
  const response = await fetch(server.url);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toMatch(/^(:\n\n)+$/);
  await reader?.cancel();
});
