import { once } from 'node:events';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { NEVER, runHere } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';

/** Starts a server with two sandboxes, and returns what runs a command in the first. */
async function startWithSandbox({ mailbox, url }: MailboxServer) {
  const [sandbox, other] = [mailbox.createSandbox(), mailbox.createSandbox()];
  const env = { AGENT_MAILBOX_URL: url, AGENT_MAILBOX_SANDBOX: sandbox.id };
  const runInside = (...args: string[]) => runHere(args, env, { interrupted: NEVER });
  return { sandbox, other, runInside };
}

test('receive delivers into the sandbox only', async () => {
  await using server = await startServer({ port: 0 });
  const { sandbox, other, runInside } = await startWithSandbox(server);
  const mail = ['--from', 'dana@customer.test', '--json'];
  const { out } = await runInside('receive', '--to', `helpdesk@${sandbox.domain}`, ...mail);
  expect(JSON.parse(out[0] ?? '').messages).toMatchObject([{ inboxId: sandbox.ids.inboxes.helpdesk }]);
  expect(await runInside('receive', '--to', `helpdesk@${other.domain}`, ...mail)).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no inbox with the address'),
  });
});

test('trigger and logs apply to the sandbox only', async () => {
  await using server = await startServer({ port: 0 });
  const { sandbox, other, runInside } = await startWithSandbox(server);
  const webhook = sandbox.ids.webhooks.everything;
  const refused = await runInside('trigger', 'message.received', '--webhook', other.ids.webhooks.everything);
  expect(refused.err).toBe('agent-mailbox-mock: There is no webhook with this id.');
  other.trigger('message.received', { webhookId: other.ids.webhooks.everything });
  const { out } = await runInside('trigger', 'message.received', '--webhook', webhook, '--json');
  const [delivery] = JSON.parse(out[0] ?? '').deliveries;
  expect(sandbox.deliveries().map(({ id }) => id)).toEqual([delivery.id]);
  expect(server.mailbox.deliveries()).toHaveLength(2);

  const logs = await runInside('logs', '--json');
  expect(logs.out.map((line) => JSON.parse(line))).toMatchObject([
    { kind: 'delivery-created', data: { deliveryId: delivery.id } },
    { kind: 'attempt', data: { deliveryId: delivery.id } },
  ]);
});

test('listen prints the deliveries of the sandbox only', async () => {
  await using server = await startServer({ port: 0 });
  const [sandbox, other] = [server.mailbox.createSandbox(), server.mailbox.createSandbox()];
  const out: string[] = [];
  const interruption = new AbortController();
  const interrupted = once(interruption.signal, 'abort').then(() => undefined);
  const listening = run({
    args: ['listen', '--url', server.url, '--sandbox', sandbox.id, '--json'],
    env: {},
    colour: false,
    out: (line) => out.push(line),
    err: () => {},
    input: async () => '',
    interrupted,
  });
  const untilLines = (count: number) => eventually(() => expect(out).toHaveLength(count));
  await untilLines(1);
  for (const each of [other, sandbox]) each.trigger('message.received', { webhookId: each.ids.webhooks.everything });
  await untilLines(2);
  expect(JSON.parse(out[1] ?? '').delivery.tenantId).toBe(sandbox.id);
  interruption.abort();
  expect(await listening).toBe(0);
});

test.for([
  ['nobody', 'The query is not valid: sandbox must be the id of a sandbox.'],
  ['ac3e0000-0001-4000-8000-000000000001', 'There is no sandbox with this id.'],
])('refuses --sandbox %s', async ([id = '', said]) => {
  await using server = await startServer({ port: 0 });
  const outcome = await runHere(['logs', '--url', server.url, '--sandbox', id], {}, { interrupted: NEVER });
  expect(outcome).toEqual({ code: 1, out: [], err: `agent-mailbox-mock: ${said}` });
});
