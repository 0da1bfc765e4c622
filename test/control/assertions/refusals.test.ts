import 'agent-mailbox-mock/matchers';
import { startServer } from 'agent-mailbox-mock/server';
import { createTransport } from 'nodemailer';
import { expect, type TestContext, test } from 'vitest';
import { talkTo } from '../../support/imap-talk.ts';

async function start({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const server = await startServer({ port: 0, smtpPort: 0, imapPort: 0 });
  onTestFinished(() => server.close());
  const { mailbox, url } = server;
  const sandbox = mailbox.createSandbox();
  const call = (path: string, init: RequestInit = {}, key = sandbox.keys.tenant) =>
    fetch(url + path, { ...init, headers: { 'X-API-Key': key, 'Content-Type': 'application/json' } });
  return { server, mailbox, sandbox, call };
}

const UNKNOWN = 'ak_of_nobody_1234567890';

type Running = Awaited<ReturnType<typeof start>>;

/** Ways to be refused that show, without a valid key of the sandbox, that the sandbox is meant. */
const NAMING: readonly (readonly [string, (running: Running) => Promise<unknown>])[] = [
  ['an id in the path', ({ call, sandbox }) => call(`/v1/inboxes/${sandbox.ids.inboxes.helpdesk}/drafts`, {}, UNKNOWN)],
  [
    'an id in the query',
    ({ call, sandbox }) => call(`/v1/messages?inboxId=${sandbox.ids.inboxes.helpdesk}`, {}, UNKNOWN),
  ],
  [
    'an id in the body',
    ({ call, sandbox }) =>
      call(
        '/v1/webhooks',
        { method: 'POST', body: JSON.stringify({ inboxId: sandbox.ids.inboxes.helpdesk }) },
        UNKNOWN,
      ),
  ],
  [
    'an address in the body',
    ({ call, sandbox }) =>
      call('/v1/webhooks', { method: 'POST', body: JSON.stringify({ to: `nobody@${sandbox.domain}` }) }, UNKNOWN),
  ],
  [
    'a key of it that was rotated',
    async ({ call, sandbox }) => {
      const old = sandbox.keys.inboxes.helpdesk;
      await call(`/v1/inboxes/${sandbox.ids.inboxes.helpdesk}/keys`, { method: 'POST' });
      await call('/v1/me', {}, old);
    },
  ],
  [
    'a login with an address of its domain that no inbox has',
    async ({ server, sandbox }) => {
      using talk = await talkTo(server.imap?.port ?? 0);
      await talk.command(`LOGIN nobody@${sandbox.domain} wrong`);
    },
  ],
  [
    'a recipient of its domain that no inbox has',
    async ({ server, sandbox }) => {
      const transport = createTransport({ host: '127.0.0.1', port: server.smtp?.port, ignoreTLS: true });
      await transport.sendMail({ from: 'a@b.test', to: `nobody@${sandbox.domain}`, text: 'x' }).catch(() => undefined);
    },
  ],
  ['a path that does not exist, with its key', ({ call }) => call('/v1/nothing')],
  ['a method that does not exist, with its key', ({ call }) => call('/v1/me', { method: 'PATCH' })],
  ['a body that is no JSON, with its key', ({ call }) => call('/v1/webhooks', { method: 'POST', body: '{' })],
];

for (const [name, refuse] of NAMING) {
  test(`a sandbox fails for what is refused with ${name}`, async (context) => {
    const running = await start(context);
    await running.call('/v1/me');
    const other = running.mailbox.createSandbox();
    await refuse(running);
    expect(() => expect(running.sandbox).toHaveNoUnexpectedRefusals()).toThrow('Expected no refusal, but there was');
    expect(() => expect(other).toHaveNoUnexpectedRefusals()).toThrow('There was no request at all');
  });
}

/** Ways to be refused of which nothing shows whose they were. */
const NAMELESS: readonly (readonly [string, (running: Running) => Promise<unknown>])[] = [
  ['no key', ({ server }) => fetch(`${server.url}/v1/webhooks`)],
  ['an unknown key', ({ call }) => call('/v1/webhooks', {}, UNKNOWN)],
  ['a malformed key', ({ call }) => call('/v1/webhooks', {}, 'undefined')],
  ['an unknown path without a key', ({ server }) => fetch(`${server.url}/v1/nothing`)],
  ['an unknown key for a tool', ({ call }) => call('/mcp', { method: 'POST', body: '{}' }, UNKNOWN)],
  [
    'an unknown login',
    async ({ server }) => {
      using talk = await talkTo(server.imap?.port ?? 0);
      await talk.command('LOGIN nobody wrong');
    },
  ],
  [
    'an unknown command of SMTP',
    async ({ server }) => {
      const transport = createTransport({ host: '127.0.0.1', port: server.smtp?.port, ignoreTLS: true });
      await transport.sendMail({ from: 'a@b.test', to: 'nobody@elsewhere.test', text: 'x' }).catch(() => undefined);
    },
  ],
];

for (const [name, refuse] of NAMELESS) {
  test(`whether a sandbox was refused something cannot be told after ${name}`, async (context) => {
    const running = await start(context);
    await running.call('/v1/me');
    await refuse(running);
    expect(() => expect(running.sandbox).toHaveNoUnexpectedRefusals()).toThrow(/refused, and nothing shows whose/);
    expect(() => expect(running.mailbox).toHaveNoUnexpectedRefusals()).toThrow('but there was 1 in 2 requests');
    // What came before a sandbox cannot be of its agent.
    const later = running.mailbox.createSandbox();
    await running.call('/v1/me', {}, later.keys.tenant);
    expect(later).toHaveNoUnexpectedRefusals();
    await running.call('/v1/nothing');
    expect(() => expect(running.sandbox).toHaveNoUnexpectedRefusals()).toThrow('but there was 1 in 2 requests');
  });
}

test('a refusal with the key of a sandbox that was closed concerns no other sandbox', async (context) => {
  const { mailbox, sandbox, call } = await start(context);
  const closed = mailbox.createSandbox();
  const key = closed.keys.tenant;
  closed.close();
  await call('/v1/me');
  await call('/v1/me', {}, key);
  expect(sandbox).toHaveNoUnexpectedRefusals();
  expect(sandbox.journal({ kinds: ['refusal'] })).toEqual([]);
});
