import { createReceiver } from 'agent-mailbox-mock/receiver';
import { startServer } from 'agent-mailbox-mock/server';
import { type TestContext, test, vi } from 'vitest';
import { linesOf, NEVER, runHere } from '../../support/command.ts';
import { fire } from '../../support/deliveries.ts';
import { type Running, runCommand } from '../../support/processes.ts';
import { senderTo } from '../../support/send.ts';
import { serve } from '../../support/serve.ts';
import { createWebhook } from '../../support/webhooks.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

/** A port on which nothing listens. */
const DOWN = 'http://127.0.0.1:1/';

/** Starts a server and a webhook, and listens to its deliveries in another process. */
async function startListening(test: TestContext, webhookUrl: string, args: readonly string[]) {
  const server = await startServer({ port: 0 });
  test.onTestFinished(() => server.close());
  // Without retries, each delivery has one attempt.
  server.mailbox.clock.freeze();
  const webhook = await createWebhook({ ...server, send: senderTo(server.mailbox) }, webhookUrl);
  await fire(server, webhook.id);
  const running = runCommand(test, ['listen', '--url', server.url, ...args]);
  await running.untilStdout(/listening.+\n/i);
  return { ...server, webhook, running };
}

async function interrupt({ child, ended }: Running) {
  child.kill('SIGINT');
  return ended;
}

test('listen prints each delivery from now on, and sends it on as it was sent, but not its login', async (test) => {
  await using original = createReceiver();
  await using copy = createReceiver();
  const webhookUrl = (await original.listen()).replace('//', '//dana:secret@');
  const target = `${await copy.listen()}/hooks?a=1`;
  const { mailbox, url, webhook, running } = await startListening(test, webhookUrl, ['--forward-to', target]);
  copy.secret = webhook.secret;
  const { id } = await fire({ mailbox }, webhook.id, { subject: 'Größe 😀' });
  await running.untilStdout(/Sent on to .+\n/);

  const [, sent] = original.requests;
  const { host: _, authorization: login, ...headers } = { ...sent?.headers };
  test.expect(login).toMatch(/^Basic /);
  test.expect(copy.requests).toHaveLength(1);
  test.expect(copy.requests[0]).toMatchObject({ path: '/hooks?a=1', verified: true, body: sent?.body, headers });
  test.expect(copy.requests[0]?.headers).not.toHaveProperty('authorization');
  test.expect(await interrupt(running)).toEqual({ code: 0, signal: null });
  test
    .expect(linesOf(running.stdout).map((line) => line.replace(/\d+ ms/, '_ ms')))
    .toEqual([
      `Listening for deliveries of ${url}.`,
      `Delivery ${id} of message.received to webhook ${webhook.id}: delivered, 200 in _ ms.`,
      `  Sent on to ${target}: 200 in _ ms.`,
    ]);
  test.expect(running.stderr).toBe('');
});

test('listen sends on what the emulator may not deliver itself, and says what the receiver answers', async (test) => {
  await using copy = createReceiver({ answers: [503] });
  const target = (await copy.listen()).replace('//', '//dana:secret@');
  const { mailbox, webhook, running } = await startListening(test, 'https://agent.example/hook', [
    ...['--forward-to', target, '--json'],
  ]);
  await fire({ mailbox }, webhook.id);
  const [, line = ''] = linesOf(await running.untilStdout(/\n.+\n/));
  const [expected] = mailbox.deliveries({ webhookId: webhook.id }).slice(1);
  const { attempts, ...delivery } = JSON.parse(JSON.stringify(expected));
  test.expect(JSON.parse(line)).toEqual({
    delivery,
    attempt: attempts[0],
    forwarded: {
      to: test.expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
      status: 503,
      error: null,
      isRefused: false,
      durationMs: test.expect.any(Number),
    },
  });
  test.expect(delivery.state).toBe('refused');
  test.expect(copy.requests[0]?.headers.authorization).toBe(`Basic ${btoa('dana:secret')}`);
  test.expect(running.stdout).not.toContain('secret');
});

test.for<[title: string, target: string, said: RegExp]>([
  [
    'a receiver that is down',
    DOWN,
    /^ {2}Sent on to \S+: no answer \(The call failed: connect ECONNREFUSED .+\) in _ ms\.$/,
  ],
  [
    'an address that is not allowed',
    'http://203.0.113.1/',
    /^ {2}Not sent on to \S+: 203\.0\.113\.1 is not a loopback address; start with --deliver-to 203\.0\.113\.1 to allow it\.$/,
  ],
  [
    'a metadata address',
    'http://169.254.169.254/',
    /^ {2}Not sent on to \S+: 169\.254\.169\.254 is a link-local or metadata address, which is never called\.$/,
  ],
])('listen goes on after a delivery to %s', async ([, target, said], test) => {
  const args = ['--forward-to', target, '--deliver-to', '198.51.100.0/24'];
  const { mailbox, webhook, running } = await startListening(test, DOWN, args);
  for (const count of [1, 2]) {
    await fire({ mailbox }, webhook.id);
    const lines = linesOf(await running.untilStdout(new RegExp(`(?:Delivery.+\\n.+\\n){${count}}`)));
    test.expect(lines.at(-1)?.replace(/\d+ ms/, '_ ms')).toMatch(said);
  }
  test.expect(await interrupt(running)).toEqual({ code: 0, signal: null });
});

test('listen only prints without --forward-to, and selects by webhook', async (test) => {
  const server = await startListening(test, DOWN, []);
  const other = runCommand(test, ['listen', '--url', server.url, '--webhook', server.webhook.id]);
  await other.untilStdout(/Listening.+\n/);
  await fire(server, server.mailbox.ids.globex.webhooks.everything);
  await fire(server, server.webhook.id);
  const lines = linesOf(await server.running.untilStdout(/(?:Delivery.+\n){2}/));
  test.expect(lines).toHaveLength(3);
  const [, selected = ''] = linesOf(await other.untilStdout(/Delivery.+\n/));
  test.expect(lines).toContain(selected);
  test.expect(selected).toContain(server.webhook.id);
  test.expect(selected).toMatch(/: no answer \(.+\) in \d+ ms, again in \d+\w+\.$/);
});

test('listen ends with a sentence when the emulator ends', async (test) => {
  const { close, url, running } = await startListening(test, DOWN, []);
  await close();
  test.expect(await running.ended).toEqual({ code: 1, signal: null });
  test
    .expect(running.stderr)
    .toBe(`agent-mailbox-mock: No emulator is running at ${url}; start one, or give its address with --url.\n`);
});

test('listen says which deliveries it could not print', async ({ expect }) => {
  const data = { deliveryId: 'd1', tenantId: 't1', webhookId: 'w1', attempt: 1 };
  const attempt = { kind: 'attempt', data };
  const events = [{ kind: 'gap', missed: 3 }, attempt].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  await using server = await serve(({ url = '' }, response) => {
    if (url.startsWith('/__mock/feed')) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(events.join(''));
      return;
    }
    const [status, reply] = url.includes('/d1') ? [404, { error: 'There is none.' }] : [200, { deliveries: [] }];
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply));
  });
  const { origin } = new URL(server.url);
  const { code, out, err } = await runHere(['listen', '--url', origin], {}, { interrupted: NEVER });
  expect({ code, out, err: err.split('\n') }).toEqual({
    code: 1,
    out: [`Listening for deliveries of ${origin}.`],
    err: [
      'agent-mailbox-mock: 3 events are missing here.',
      'agent-mailbox-mock: The delivery d1 is no longer in the log of the emulator.',
      `agent-mailbox-mock: No emulator is running at ${origin}; start one, or give its address with --url.`,
    ],
  });
});

test.for<[args: string[], code: number, said: string]>([
  [['--url', DOWN], 1, 'No emulator is running at http://127.0.0.1:1; start one, or give its address with --url.'],
  [['--forward-to', '3000'], 2, '--forward-to must be a URL such as http://127.0.0.1:3000/hooks, not "3000".'],
  [
    ['--forward-to', 'ftp://a.test'],
    2,
    '--forward-to must be a URL such as http://127.0.0.1:3000/hooks, not "ftp://a.test".',
  ],
  [['now'], 2, 'The command listen takes no argument, but got "now".'],
])('refuses to listen with %j', async ([args, code, said], { expect }) => {
  expect(await runHere(['listen', ...args], {}, { interrupted: NEVER })).toEqual({
    code,
    out: [],
    err: `agent-mailbox-mock: ${said}`,
  });
});

test.for([
  [['--deliver-to', 'http://a.test'], /^agent-mailbox-mock: --deliver-to must be a host name/],
  [['--tenant', 'acme'], /must be the UUID of a tenant/],
  [['--token', 'wrong'], /The control plane needs the token/],
] as const)('refuses to listen with %j to a server with a token', async ([args, said], { expect }) => {
  await using server = await startServer({ port: 0, controlToken: 'token-of-this-test' });
  const env = { AGENT_MAILBOX_URL: server.url, AGENT_MAILBOX_TOKEN: 'token-of-this-test' };
  const { out, err } = await runHere(['listen', ...args], env, { interrupted: NEVER });
  expect(out).toEqual([]);
  expect(err).toMatch(said);
});
