import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';
import { shortenIdsToFit } from '../../../src/cli/layout.ts';
import { run } from '../../../src/cli/run.ts';
import { NEVER, runHere } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { IDS } from '../../support/ids.ts';
import { withoutTimeOfDay } from '../../support/log.ts';
import { senderTo } from '../../support/send.ts';
import { serve } from '../../support/serve.ts';

const logsOf = (url: string, ...flags: string[]) =>
  runHere(['logs', '--url', url, ...flags], {}, { interrupted: NEVER });

/** Makes the emulator do a bit of everything. */
async function act({ mailbox }: MailboxServer): Promise<void> {
  await senderTo(mailbox)('DELETE', `/v1/webhooks/${IDS.acme.webhooks.support}`, { key: 'wk_acme_sales_key' });
  await mailbox.receiveMessage({ from: 'dana@customer.test', to: 'helpdesk@acme.test', subject: '\u001b[2J Hi' });
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  mailbox.clearFaults();
  mailbox.reset();
}

test('shows what happened in an emulator, with the reason of a refusal', async ({ expect }) => {
  await using server = await startServer({ port: 0 });
  await act(server);
  const { code, out, err } = await logsOf(server.url);
  expect([code, err]).toEqual([0, '']);
  const times = /^\d\d:\d\d:\d\d | \d+\.\d ms /g;
  expect(out.map((line) => line.replace(times, ' ').replace(/ +/g, ' ').trim())).toEqual([
    `deleteWebhook 404 DELETE /v1/webhooks/${IDS.acme.webhooks.support} NOT_FOUND wk_acme_… (Workspace key of Sales; the webhook with this id belongs to Support (section 5; choice errors.foreign-resource).)`,
    'mail ← to helpdesk@acme.test from dana@customer.test: ?[2J Hi',
    'clock freeze, all tenants: 2026-03-01T09:00:00.000Z',
    'fault all removed',
    'reset all data',
  ]);
});

test('shortens ids in the middle where a line is wider than the terminal, but not in a link', async ({ expect }) => {
  await using server = await startServer({ port: 0 });
  await act(server);
  const [wide, narrow] = await Promise.all(
    [300, 80].map((columns) => runHere(['logs', '--url', server.url], {}, { interrupted: NEVER, columns })),
  );
  const id = IDS.acme.webhooks.support;
  const short = `${id.slice(0, 4)}…${id.slice(-4)}`;
  expect(wide?.out[0]).toContain(`/v1/webhooks/${id} NOT_FOUND`);
  expect(narrow?.out[0]).toContain(`/v1/webhooks/${short} NOT_FOUND`);
  expect(shortenIdsToFit(`webhook ${short} refused http://127.0.0.1/__mock/#/webhooks/${id}`, 80)).toContain(
    `#/webhooks/${id}`,
  );
});

test('tells the reset of a sandbox from that of the whole emulator', async ({ expect }) => {
  await using server = await startServer({ port: 0 });
  const sandbox = server.mailbox.createSandbox();
  sandbox.reset();
  server.mailbox.reset();
  const { out } = await logsOf(server.url);
  expect(out.map(withoutTimeOfDay)).toEqual([
    `sandbox added, ${sandbox.id}`,
    `reset sandbox ${sandbox.id}`,
    'reset all data',
  ]);
});

test('shows each event as a line of JSON', async ({ expect }) => {
  await using server = await startServer({ port: 0 });
  await act(server);
  const { out } = await logsOf(server.url, '--json');
  const events = out.map((line) => JSON.parse(line));
  expect(events.map(({ kind }) => kind)).toEqual(['request', 'mail-received', 'clock', 'fault', 'reset']);
  expect(events[0].data).toMatchObject({ operation: 'deleteWebhook', status: 404 });
});

/** Runs `logs --follow` in this process until it is interrupted. */
function follow(url: string, ...flags: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  let interrupt = () => {};
  const interrupted = new Promise<NodeJS.Signals>((resolve) => {
    interrupt = () => resolve('SIGINT');
  });
  const ended = run({
    args: ['logs', '--follow', '--url', url, ...flags],
    env: {},
    colour: true,
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    input: async () => '',
    interrupted,
  });
  return { out, err, ended, interrupt };
}

test('follows an emulator until it is interrupted, also over a restart', async ({ expect }) => {
  const server = await startServer({ port: 0 });
  await act(server);
  const { out, err, ended, interrupt } = follow(server.url);
  await eventually(() => expect(out).toHaveLength(5));
  await senderTo(server.mailbox)('GET', '/health');
  await eventually(() => expect(out[5]).toMatch(/getHealth +200 GET \/health /));
  await server.close();
  await eventually(() => expect(err).toHaveLength(1));
  await using next = await startServer({ port: server.port });
  await senderTo(next.mailbox)('GET', '/v1/openapi.json');
  await eventually(() => expect(out[7]).toContain('GET /v1/openapi.json'));
  expect(out[6]).toContain('an unknown number of events are missing here');
  expect(err).toEqual([`agent-mailbox-mock: The connection to ${server.url} was lost; trying again.`]);
  interrupt();
  expect(await ended).toBe(0);
});

test('says why there are no logs', async ({ expect }) => {
  await using other = await serve((_, response) => response.end('<p>Hello</p>'));
  const { origin } = new URL(other.url);
  expect(await logsOf(origin)).toMatchObject({
    code: 1,
    err: `agent-mailbox-mock: ${origin} is not an agent-mailbox-mock server.`,
  });
  await using cut = await serve((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(':\n\n');
    setImmediate(() => response.destroy());
  });
  const cutOrigin = new URL(cut.url).origin;
  expect(await logsOf(cutOrigin)).toMatchObject({
    code: 1,
    err: `agent-mailbox-mock: The connection to ${cutOrigin} was lost.`,
  });
});

test('continues behind the last event after a lost connection', async ({ expect }) => {
  const starts: (string | null)[] = [];
  await using server = await serve((request, response) => {
    const start = new URL(request.url ?? '', 'http://a.test').searchParams.get('lastEventId');
    starts.push(start);
    const event = { id: `run-${starts.length}`, realTime: '2026-03-01T09:00:00.000Z', kind: 'gap', missed: 1 };
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(`data: ${JSON.stringify(event)}\n\n`, () => {
      if (start === 'run-2') response.end();
      else if (start !== 'run-3') response.destroy();
    });
  });
  const { origin } = new URL(server.url);
  const { out, err, ended, interrupt } = follow(origin, '--json');
  await eventually(() => expect(out).toHaveLength(4));
  interrupt();
  expect(await ended).toBe(0);
  expect(err).toEqual([`agent-mailbox-mock: The connection to ${origin} was lost; trying again.`]);
  expect(out.map((line) => JSON.parse(line).id)).toEqual(['run-1', 'run-2', 'run-3', 'run-4']);
  expect(starts).toEqual(['0', 'run-1', 'run-2', 'run-3']);
});

test('continues after a connection that was lost before any event', async ({ expect }) => {
  let isBack = false;
  await using server = await serve((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(':\n\n', () => {
      if (isBack) response.write('data: {"id":"run-1","realTime":"2026-03-01T09:00:00.000Z","kind":"gap"}\n\n');
      else response.destroy();
      isBack = true;
    });
  });
  const { out, ended, interrupt } = follow(new URL(server.url).origin, '--json');
  await eventually(() => expect(out).toHaveLength(1));
  interrupt();
  expect(await ended).toBe(0);
});
