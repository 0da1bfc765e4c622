import { startServer } from 'agent-mailbox-mock/server';
import { sandboxTest } from 'agent-mailbox-mock/vitest';
import { beforeAll, expect } from 'vitest';

const servers = await Promise.all([startServer({ port: 0 }), startServer({ port: 0 })]);

beforeAll(() => {
  const before = { ...process.env };
  Object.assign(process.env, { MAILBOX_URLS: servers.map(({ url }) => url).join(), VITEST_POOL_ID: '1' });
  return async () => {
    process.env = before;
    const left = servers.flatMap(({ mailbox }) => mailbox.sandboxes());
    await Promise.all(servers.map((server) => server.close()));
    expect(left).toEqual([]);
  };
});

sandboxTest('a test has a sandbox of the emulator of its worker', async ({ sandbox }) => {
  expect(sandbox.baseUrl).toBe(servers[1]?.url);
  await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test', subject: 'Hello' });
  expect(await sandbox.waitForMessage({ to: `helpdesk@${sandbox.domain}` })).toMatchObject({ subject: 'Hello' });
  expect(servers.map(({ mailbox }) => mailbox.sandboxes().length)).toEqual([0, 1]);
});
