import { createMailbox, type Delivery, EVENT_KINDS } from 'agent-mailbox-mock';

import { startServer } from 'agent-mailbox-mock/server';
import { type TestContext, test, vi } from 'vitest';
import { NEVER, runHere } from '../support/command.ts';
import { IDS } from '../support/ids.ts';
import { createPatientReceiver } from '../support/patient-receiver.ts';
import { runCommand } from '../support/processes.ts';
import { senderTo } from '../support/send.ts';
import { createWebhook, hook, type WebhookFields } from '../support/webhooks.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

const { globex } = createMailbox().keys;
const { support } = IDS.acme.workspaces;
const { helpdesk, outreach } = IDS.acme.inboxes;

/** A server, a receiver that verifies, and a webhook of Acme that leads there. */
async function startWithReceiver(fields: WebhookFields = {}) {
  const server = await startServer({ port: 0 });
  const receiver = createPatientReceiver();
  const service = { mailbox: server.mailbox, send: senderTo(server.mailbox) };
  const { id, url } = await hook(service, receiver, fields);
  return {
    server,
    receiver,
    webhookId: id,
    /** Creates another webhook that leads there. */
    createWebhook: (key: string) => createWebhook(service, url, { key }),
    [Symbol.asyncDispose]: async () => void (await Promise.all([server.close(), receiver.close()])),
  };
}

/** Runs the command as a process of its own, to its end. */
async function trigger(test: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const running = runCommand(test, ['trigger', ...args], env);
  const { code } = await running.ended;
  return { code, out: running.stdout, err: running.stderr };
}

test.for(EVENT_KINDS)('fires %s, which is delivered with a signature', async (kind, test) => {
  await using setup = await startWithReceiver();
  const { code, out, err } = await trigger(test, [kind, '--url', `${setup.server.url}/`]);
  const [request] = await setup.receiver.received(1);
  const [delivery] = setup.server.mailbox.deliveries();
  test.expect([code, err]).toEqual([0, '']);
  test.expect(out).toContain(`Delivery ${delivery?.id} of ${kind} to webhook ${setup.webhookId}: `);
  test.expect(out).toMatch(/^Delivery \S+ of \S+ to webhook \S+: delivered, 200 in \d+ ms\.\n$/);
  test.expect(request).toMatchObject({ verified: true, json: { event: kind, inboxId: helpdesk } });
});

test('fires in one inbox, about one message', async (test) => {
  await using setup = await startWithReceiver({ workspaceId: support });
  const env = { AGENT_MAILBOX_URL: setup.server.url };
  const elsewhere = await trigger(test, ['message.received', '--inbox', outreach], env);
  test.expect(elsewhere).toEqual({
    code: 0,
    out: test.expect.stringMatching(
      /^No active webhook matches message\.received, so nothing is delivered\.\n(?:Webhook|$)/,
    ),
    err: '',
  });
  const { messages } = IDS.acme;
  await trigger(test, ['message.received', '--inbox', helpdesk, '--message', messages.cannotLogIn], env);
  const [request] = await setup.receiver.received(1);
  test.expect(request?.json).toMatchObject({ messageId: messages.cannotLogIn, threadId: IDS.acme.threads.login });
});

test('names the inactive webhooks that list the event, if no active one does', async (test) => {
  await using server = await startServer({ port: 0 });
  const { webhooks } = IDS.globex;
  const args = ['message.received', '--tenant', IDS.globex.tenant, '--url', server.url];
  const { url } = server.mailbox.webhooks().find(({ tenantId }) => tenantId === IDS.globex.tenant) ?? {};
  test.expect(await trigger(test, args)).toEqual({
    code: 0,
    out: `No active webhook matches message.received, so nothing is delivered.
Webhook ${Object.values(webhooks)[0]} to ${url} lists message.received, but is inactive; --webhook ${Object.values(webhooks)[0]} delivers to it all the same.
`,
    err: '',
  });
});

test('fires for one tenant, or for one webhook even if it is inactive', async (test) => {
  await using setup = await startWithReceiver();
  const env = { AGENT_MAILBOX_URL: setup.server.url };
  const other = await setup.createWebhook(globex.tenant);
  const webhooksOf = async (...args: string[]) => {
    const { out } = await trigger(test, ['message.sent', '--json', ...args], env);
    return JSON.parse(out).deliveries.map(({ webhookId }: Delivery) => webhookId);
  };
  const inactive = IDS.acme.webhooks.support;
  test.expect(await webhooksOf()).toEqual([setup.webhookId, other.id]);
  test.expect(await webhooksOf('--tenant', IDS.globex.tenant)).toEqual([other.id]);
  test.expect(await webhooksOf('--webhook', inactive)).toEqual([inactive]);
});

test('writes into the payload what --data and --set say, and --set wins', async (test) => {
  await using setup = await startWithReceiver();
  const data = { subject: 'Order 1041', plainBody: null, order: { items: [1, 2] }, event: 'message.sent' };
  const args = ['--data', JSON.stringify(data), '--set', 'subject=1 + 1 = 2', '--set', 'note='];
  const { code } = await trigger(test, ['message.received', '--url', setup.server.url, ...args]);
  const [request] = await setup.receiver.received(1);
  test.expect(code).toBe(0);
  test.expect(request?.json).toMatchObject({ ...data, subject: '1 + 1 = 2', note: '', event: 'message.received' });
});

test('waits for the first attempt of each delivery, and prints its outcome', async (test) => {
  await using setup = await startWithReceiver();
  const { mailbox, url } = setup.server;
  // So that no retry takes the answer that is meant for the next event.
  const now = new Date();
  mailbox.clock.freeze(now);
  const outcomeOf = async (...args: string[]) => {
    const { code, out } = await trigger(test, ['message.sent', '--url', url, ...args]);
    test.expect([code, out.trimEnd().split('\n').length]).toEqual([0, 1]);
    return out
      .trim()
      .replace(/^Delivery \S+ of message\.sent to webhook \S+: /, '')
      .replace(/\d+ ms/, 'N ms');
  };
  test.expect(await outcomeOf()).toBe('delivered, 200 in N ms.');
  setup.receiver.answer(503);
  test.expect(await outcomeOf()).toBe('503 in N ms, again in 5s.');
  setup.receiver.answer(410);
  const gone = 'exhausted: The receiver answered 410, so its webhook is not active any more.';
  test.expect(await outcomeOf()).toBe(`410 in N ms, ${gone}`);
  mailbox.addFault({ on: 'delivery', kind: 'hold' });
  test.expect(await outcomeOf('--webhook', setup.webhookId)).toBe('held: It is held until it is released.');
  mailbox.addFault({ on: 'delivery', kind: 'delay', delay: '1h', webhookId: setup.webhookId });
  test
    .expect(await outcomeOf('--webhook', setup.webhookId))
    .toBe(`its first attempt is due at ${new Date(now.getTime() + 3_600_000).toISOString()}.`);

  const service = { mailbox, send: senderTo(mailbox) };
  const forbidden = await createWebhook(service, 'http://203.0.113.1/in');
  const refused = '203.0.113.1 is not a loopback address; start with --deliver-to 203.0.113.1 to allow it.';
  test.expect(await outcomeOf('--webhook', forbidden.id)).toBe(`refused: ${refused}`);
  const unreachable = await createWebhook(service, 'http://127.0.0.1:1/in');
  const failed = 'no answer (The call failed: connect ECONNREFUSED 127.0.0.1:1) in N ms, again in 5s.';
  test.expect(await outcomeOf('--webhook', unreachable.id)).toBe(failed);
});

test('prints the deliveries in one line of JSON', async (test) => {
  await using setup = await startWithReceiver();
  const { code, out, err } = await trigger(test, ['message.bounced', '--json', '--url', setup.server.url]);
  await setup.server.mailbox.settled();
  const [delivery] = setup.server.mailbox.deliveries();
  test.expect([code, err]).toEqual([0, '']);
  test.expect(out).toMatch(/^[^\n]+\n$/);
  test.expect(JSON.parse(out)).toMatchObject({
    deliveries: [
      { id: delivery?.id, webhookId: setup.webhookId, payload: delivery?.payload, attempts: delivery?.attempts },
    ],
  });
});

test('prints why no event was fired', async (test) => {
  await using setup = await startWithReceiver();
  const cases: [args: string[], code: number, said: string][] = [
    [[], 2, 'The command trigger needs <event>; see --help.'],
    [[''], 2, 'The event of trigger must not be empty.'],
    [['message.sent', 'now'], 2, 'The command trigger takes one event, but got "now" too.'],
    [
      ['message.read'],
      2,
      'The event must be one of message.received, message.sent, message.bounced, not "message.read".',
    ],
    [['message.sent', '--set', 'subject'], 2, '--set must be <field>=<text>, not "subject".'],
    ...['{', '[]', 'null', '5', ''].map((data): [string[], number, string] => [
      ['message.sent', '--data', data],
      2,
      `--data must be a JSON object such as {"subject":"Hello"}, not ${JSON.stringify(data)}.`,
    ]),
    [['message.sent', '--to', 'x'], 2, 'The command trigger does not take --to; see --help.'],
    [['message.sent', '--inbox', IDS.nobody], 1, 'There is no inbox with this id.'],
    [['message.sent', '--webhook', IDS.nobody], 1, 'There is no webhook with this id.'],
    [['message.sent', '--tenant', IDS.nobody], 1, 'There is no tenant with this id.'],
    [
      ['message.sent', '--data', '{"webhookId":5}'],
      1,
      'The event is not valid: webhookId must be the id of a webhook.',
    ],
    [
      ['message.sent', '--url', 'http://127.0.0.1:1'],
      1,
      'No emulator is running at http://127.0.0.1:1; start one, or give its address with --url.',
    ],
    [['message.sent', '--url', `${setup.server.url}/v1`], 1, 'There is no route /v1/__mock/events.'],
    [
      ['message.sent', '--url', await setup.receiver.listen()],
      1,
      `${await setup.receiver.listen()} is not an agent-mailbox-mock server.`,
    ],
  ];
  for (const [args, code, said] of cases) {
    const env = { AGENT_MAILBOX_URL: setup.server.url };
    const failed = await runHere(['trigger', ...args], env, { interrupted: NEVER });
    test.expect(failed).toEqual({ code, out: [], err: `agent-mailbox-mock: ${said}` });
  }
  test.expect(setup.server.mailbox.deliveries()).toEqual([]);
});

test('sends the token if the server requires one', async (test) => {
  await using server = await startServer({ port: 0, host: '0.0.0.0' });
  // A token that begins with a hyphen would be taken for a flag.
  test.expect(server.controlToken).toMatch(/^[0-9a-f]{36}$/);
  const env = { AGENT_MAILBOX_URL: `http://127.0.0.1:${server.port}` };
  const args = ['message.received', '--webhook', IDS.acme.webhooks.support];
  for (const wrong of [[], ['--token', 'x']]) {
    const refused = await trigger(test, [...args, ...wrong], env);
    test.expect([refused.code, refused.out]).toEqual([1, '']);
    test.expect(refused.err).toMatch(/^agent-mailbox-mock: .*X-Mock-Token.*\.\n$/);
  }
  const { code, err } = await trigger(test, [...args, '--token', String(server.controlToken)], env);
  test.expect([code, err]).toEqual([0, '']);
  test.expect(server.mailbox.deliveries()).toHaveLength(1);
});
