import { EVENT_KINDS } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { type MailboxServer, type ServerOptions, startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { OPERATION_IDS } from '../../src/contract/operations.ts';
import { fire } from '../support/deliveries.ts';
import { eventually } from '../support/eventually.ts';
import { ADDRESS } from '../support/inbox-clients.ts';
import { withoutTimes } from '../support/log.ts';
import { send, senderTo } from '../support/send.ts';
import { createWebhook, START } from '../support/webhooks.ts';

/** Starts a server with a frozen clock that collects its log. */
async function startLogged(options: ServerOptions = {}) {
  const lines: string[] = [];
  const server = await startServer({ ...options, port: 0, log: (line) => lines.push(line) });
  server.mailbox.clock.freeze(START);
  return {
    server,
    lines,
    /** Creates a webhook of Acme without a log line. */
    hook: async (url: string) => {
      const { id } = await createWebhook({ mailbox: server.mailbox, send: senderTo(server.mailbox) }, url);
      const shown = url.replace('dana:secret@', '').replace('?key=secret', '');
      return {
        id,
        line: (sign: string | number, text: string) =>
          `message.received ${sign} webhook ${id.slice(0, 4)}… ${shown} ${text}`,
      };
    },
    [Symbol.asyncDispose]: server.close,
  };
}

const rest = ({ lines }: { lines: string[] }) => lines.splice(0).map(withoutTimes);

test('the log has a line for each attempt, with its result and the time until the next one', async () => {
  await using logged = await startLogged();
  const { mailbox } = logged.server;
  await using receiver = createReceiver({
    answers: [503, { status: 503, headers: { 'Retry-After': '7200' } }, 200, 410],
  });
  const { id, line } = await logged.hook(await receiver.listen());
  await fire({ mailbox }, id);
  await mailbox.clock.advance('5s');
  await mailbox.clock.advance('2h');
  await fire({ mailbox }, id);
  expect(rest(logged)).toEqual([
    line(503, 'in _ ms, again in 5s (link)'),
    line(503, 'in _ ms, again in 2h (link)'),
    line(200, 'in _ ms'),
    line(410, 'in _ ms, exhausted: The receiver answered 410, so its webhook is not active any more. (link)'),
  ]);
});

test('the log has the reason why a delivery was refused, failed or dropped', async () => {
  await using logged = await startLogged({ behaviours: { 'deliveries.retry': 'never' } });
  const { mailbox } = logged.server;
  const refused = await logged.hook('http://203.0.113.1/in');
  await fire({ mailbox }, refused.id);
  const unreachable = await logged.hook('http://dana:secret@127.0.0.1:1/in?key=secret');
  await fire({ mailbox }, unreachable.id);
  mailbox.addFault({ on: 'delivery', kind: 'drop', webhookId: refused.id });
  await fire({ mailbox }, refused.id);
  const said = '203.0.113.1 is not a loopback address; start with --deliver-to 203.0.113.1 to allow it.';
  expect(rest(logged)).toEqual([
    `createWebhook ! the webhook will get no deliveries: ${said}`,
    refused.line('!', `refused: ${said} (link)`),
    unreachable.line(
      '!',
      'no answer (The call failed: connect ECONNREFUSED 127.0.0.1:1) in _ ms, exhausted: Its last attempt failed. (link)',
    ),
    refused.line('!', 'dropped: A delivery fault dropped it. (link)'),
  ]);
});

test('the log says at once that a delivery is held', async () => {
  await using logged = await startLogged();
  const { mailbox } = logged.server;
  const { id, line } = await logged.hook('http://127.0.0.1:1/in');
  mailbox.addFault({ on: 'delivery', kind: 'hold' });
  await fire({ mailbox }, id);
  expect(rest(logged)).toEqual([line('!', 'held: It is held until it is released. (link)')]);
});

test('the log has a line for each incoming mail, without secrets or control characters', async () => {
  await using logged = await startLogged();
  const { mailbox } = logged.server;
  await mailbox.receiveMessage({ from: 'Dana Reyes <dana@customer.test>', to: ADDRESS.helpdesk, subject: 'Größe 😀' });
  const secrets = 'tk_acme_tenant_key whsec_MDEyMzQ1Njc4OWFiY2RlZg==';
  await mailbox.receiveMessage({
    from: ADDRESS.dana,
    to: ADDRESS.helpdesk,
    subject: `${secrets} \u001b[2J\u2028\u202e`,
  });
  await mailbox.receiveMessage({ from: ADDRESS.dana, to: ADDRESS.helpdesk, subject: 'x'.repeat(900) });
  for (const kind of EVENT_KINDS) mailbox.trigger(kind, { tenant: mailbox.snapshot().tenants[0]?.id });
  const [first, second, third, ...others] = rest(logged);
  const start = 'mail ← to helpdesk@acme.test from';
  expect(first).toBe(`${start} Dana Reyes <dana@customer.test>: Größe 😀`);
  expect(second).toBe(`${start} dana@customer.test: tk_acme_… whsec_… ?[2J??`);
  expect(third).toMatch(/^.{250,300}$/u);
  expect(others).toEqual([]);
});

test('the names, the signs and the rest of the lines stand in columns', async () => {
  await using logged = await startLogged();
  const { server, lines } = logged;
  const key = server.mailbox.keys.acme.tenant;
  await send(`${server.url}/v1/workspaces/none/keys`, 'POST', { key, json: { name: 'x' } });
  await eventually(() => expect(lines).toHaveLength(1));
  await server.mailbox.receiveMessage({ from: ADDRESS.dana, to: ADDRESS.helpdesk, subject: 'Hi' });
  const starts = lines.map((line) => /^(\S+ )(\S+ +)(\S+ +)(\S+ )/.exec(line)?.slice(2));
  expect(starts).toEqual([
    ['createWorkspaceKey ', '404 ', 'POST '],
    ['mail               ', '←   ', 'to '],
  ]);
  const longest = Math.max(...OPERATION_IDS.map((id) => id.length));
  expect(longest).toBe('createWorkspaceKey'.length);
});

test('the log says that a fault cut the connection', async () => {
  await using logged = await startLogged({});
  const { server, lines } = logged;
  server.mailbox.addFault({ on: 'request', cut: true });
  await expect(send(`${server.url}/health`, 'GET', {})).rejects.toThrow(TypeError);
  await eventually(() => expect(lines).toHaveLength(1));
  expect(lines[0]).toMatch(/ getHealth {10}! {3}GET \/health cut by a fault [\d.]+ ms$/);
});

test('the log has no line for a control call that only reads, unless it is verbose', async () => {
  for (const verbose of [false, true]) {
    await using logged = await startLogged({ verbose });
    const { server, lines } = logged;
    const reads = ['/__mock', '/__mock/', '/__mock/feed?follow=false', '/__mock/inspector/none', '/favicon.ico'];
    for (const path of reads) await send(server.url + path, 'GET', {});
    await send(`${server.control}/faults`, 'POST', { json: { on: 'request', status: 503, operation: 'listInboxes' } });
    await send(`${server.control}/checkpoints`, 'POST', { json: { name: 'paid' } });
    await send(`${server.url}/__mockery`, 'GET', {});
    await eventually(() => expect(lines).toHaveLength(3 + (verbose ? reads.length : 0)));
    expect(rest(logged).slice(-3)).toEqual([
      expect.stringMatching(/^addFault 200 POST \/__mock\/faults _ ms$/),
      expect.stringMatching(/^addCheckpoint 200 POST \/__mock\/checkpoints _ ms$/),
      expect.stringMatching(/^- 404 GET \/__mockery NOT_FOUND _ ms/),
    ]);
  }
});

test('the log has the reason of each refusal, by the emulator and by its guards', async () => {
  await using logged = await startLogged({ controlToken: 'a-token-of-sixteen' });
  const { server, lines } = logged;
  const { helpdesk } = server.mailbox.keys.acme.inboxes;
  const requests: [method: string, path: string, headers: Record<string, string>][] = [
    ['GET', '/v1/webhooks', {}],
    ['POST', '/v1/workspaces', { 'X-API-Key': helpdesk }],
    ['POST', '/__mock/reset', {}],
    ['POST', '/__mock/reset', { 'webhook-id': 'msg_1' }],
  ];
  for (const [method, path, headers] of requests) await send(server.url + path, method, { headers });
  await eventually(() => expect(lines).toHaveLength(4));
  expect(rest(logged)).toEqual([
    expect.stringMatching(/^listWebhooks 401 GET \/v1\/webhooks UNAUTHORIZED _ ms \(The request has no API key; .+\)$/),
    expect.stringMatching(
      /^createWorkspace 403 POST \/v1\/workspaces FORBIDDEN _ ms ak_acme_… \(This ak_ key may not call .+\)$/,
    ),
    expect.stringMatching(/^- 401 POST \/__mock\/reset UNAUTHORIZED _ ms \(The control plane needs the token .+\)$/),
    expect.stringMatching(/^- 403 POST \/__mock\/reset DELIVERY_REFUSED _ ms \(A delivery to a webhook .+\)$/),
  ]);
});

const ESCAPE = '\u001b';

test('the log has colours by status only if they are enabled', async () => {
  for (const colour of [true, false]) {
    await using logged = await startLogged({ colour, verbose: true });
    const { server, lines } = logged;
    for (const path of ['/health', '/v1/webhooks', '/__mock/health']) await send(server.url + path, 'GET', {});
    await eventually(() => expect(lines).toHaveLength(3));
    const codes = lines.map((line) =>
      line
        .split(ESCAPE)
        .slice(3, 4)
        .map((part) => part.slice(0, 4))
        .join(),
    );
    expect(codes).toEqual(colour ? ['[32m', '[33m', '[32m'] : ['', '', '']);
    expect(lines.join('').includes(ESCAPE)).toBe(colour);
  }
});

test('an error that a log throws is reported, and has no other effect', async () => {
  const reported: unknown[] = [];
  const full = new Error('The disk is full.');
  const log = () => {
    throw full;
  };
  const environment = { report: (error: unknown) => void reported.push(error) };
  await using server: MailboxServer = await startServer({ port: 0, environment, log });
  await server.mailbox.receiveMessage({ from: ADDRESS.dana, to: ADDRESS.helpdesk });
  expect(reported).toEqual([full]);
  expect((await send(`${server.url}/health`, 'GET', {})).status).toBe(200);
  await eventually(() => expect(reported).toEqual([full, full]));
});
