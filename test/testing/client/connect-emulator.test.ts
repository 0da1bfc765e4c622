import { connectEmulator } from 'agent-mailbox-mock/client';
import { startServer } from 'agent-mailbox-mock/server';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllEnvs());

test('one client of a running emulator has its controls, its sandboxes and the operations of each key', async () => {
  await using server = await startServer({ port: 0, controlToken: 'a-token-of-the-tests' });
  const emulator = connectEmulator({ url: `${server.url}/`, token: server.controlToken });
  const [mail] = await emulator.receiveMessage({
    to: 'helpdesk@acme.test',
    from: 'kim@visitor.test',
    subject: 'Hello',
  });
  const { keys, ids } = server.mailbox;
  const helpdesk = emulator.client(keys.acme.inboxes.helpdesk);
  const { messages } = await helpdesk.listMessages(ids.acme.inboxes.helpdesk, { query: { limit: 1 } });
  expect(messages).toMatchObject([{ id: mail?.id, subject: 'Hello' }]);

  const sandbox = await emulator.createSandbox({ name: 'of a test' });
  await sandbox.clock.advance('2h');
  await expect(sandbox.client().getMe()).resolves.toMatchObject({ tier: 'tenant' });
  await expect(sandbox.client(sandbox.keys.inboxes.helpdesk).getMe()).resolves.toMatchObject({ tier: 'inbox' });
  expect(await sandbox.messages()).toEqual([]);
  await sandbox.close();
  expect(server.mailbox.sandboxes()).toEqual([]);
  await expect(connectEmulator({ url: server.url }).messages()).rejects.toThrow('needs the token');
});

test('without a url, the variables of exec say where the emulator is', async () => {
  await using server = await startServer({ port: 0, controlToken: 'a-token-of-the-tests' });
  vi.stubEnv('AGENT_MAILBOX_URL', server.url);
  vi.stubEnv('AGENT_MAILBOX_TOKEN', server.controlToken);
  expect(await connectEmulator().messages()).toEqual([]);
});

test('what is no address of an emulator is refused at once, and an emulator that is not there by the first call', async () => {
  vi.stubEnv('AGENT_MAILBOX_URL', '');
  vi.stubEnv('MAILBOX_URLS', '');
  expect(() => connectEmulator()).toThrow(
    'The function connectEmulator needs url, or the variable AGENT_MAILBOX_URL, which npx agent-mailbox-mock exec sets.',
  );
  expect(() => connectEmulator({ url: 'mailbox:4025' })).toThrow(
    'The url of connectEmulator must be an http or https URL, not "mailbox:4025".',
  );
  await expect(connectEmulator({ url: 'http://127.0.0.1:9' }).reset()).rejects.toThrow(
    'There is no emulator at http://127.0.0.1:9/__mock',
  );
});
