import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@playwright/test';
import { test } from 'agent-mailbox-mock/playwright';

test.describe.configure({ mode: 'parallel' });

for (const name of ['one', 'other']) {
  test(`the page of the ${name} test reaches its own sandbox`, async ({ page, mailbox, sandbox }) => {
    const app = createServer((_, response) =>
      response.setHeader('Content-Type', 'text/html').end('<title>App</title>'),
    );
    await once(app.listen(0, '127.0.0.1'), 'listening');
    await page.goto(`http://127.0.0.1:${(app.address() as AddressInfo).port}/`);
    const mail = { to: 'dana@customer.test', subject: name, plainBody: 'Hi', verified: true };
    const url = `${mailbox.baseUrl}/v1/inboxes/${sandbox.ids.inboxes.helpdesk}/send`;
    const status = await page.evaluate(
      async ([url, key, body]) => {
        const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
        return (await fetch(url, { method: 'POST', headers, body })).status;
      },
      [url, sandbox.keys.inboxes.helpdesk, JSON.stringify(mail)] as const,
    );
    const refused = await page.evaluate(
      async (url) => (await fetch(url, { headers: { 'X-API-Key': 'tk_wrong' } })).status,
      `${mailbox.baseUrl}/v1/me`,
    );
    app.close();
    expect([status, refused]).toEqual([200, 401]);
    // Nothing shows whose a request with an unknown key was, so each open sandbox has it.
    expect(await sandbox.trace()).toContain('"kind":"refusal"');
    expect(await sandbox.waitForMessage({ to: 'dana@customer.test' })).toMatchObject({ subject: name });
    expect(await sandbox.messages()).toHaveLength(1);
    expect(await sandbox.requests({ operation: 'sendMessage' })).toHaveLength(1);
    await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test' });
    expect(await sandbox.messages({ direction: 'inbound' })).toHaveLength(1);
    await sandbox.reset();
    expect(await sandbox.messages()).toEqual([]);
    await expect(sandbox.waitForMessage({ to: 'dana@customer.test', timeout: 1 })).rejects.toThrow(/No mail to dana/);
  });
}

test('controls time, correspondents, events and the state of its sandbox', async ({ sandbox }) => {
  await sandbox.clock.freeze('2026-03-01T09:00:00Z');
  expect(await sandbox.clock.isFrozen()).toBe(true);
  await sandbox.addCorrespondent({
    kind: 'person',
    address: 'dana@customer.test',
    after: '1h',
    replies: ['On my way.'],
  });
  await sandbox.checkpoint('before');
  await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test' });
  // The webhooks of the default fixture are inactive.
  expect(await sandbox.trigger('message.received')).toEqual([]);
  await expect(sandbox.trigger('message.received', { webhookId: 'x' })).rejects.toThrow('webhook');
  await sandbox.clock.advance('2h');
  expect(await sandbox.clock.now()).toEqual(new Date('2026-03-01T11:00:00Z'));
  await sandbox.restore('before');
  expect(await sandbox.clock.now()).toEqual(new Date('2026-03-01T09:00:00Z'));
  expect(await sandbox.messages()).toEqual([]);
  await sandbox.clock.resume();
  expect(await sandbox.clock.isFrozen()).toBe(false);
  expect(Object.keys((await sandbox.export()).tenants ?? {})).toHaveLength(1);
});

if (process.env.FAILING) {
  test('fails', async ({ sandbox }) => {
    await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test', subject: 'Hello' });
    await sandbox.waitForMessage({ to: 'dana@customer.test', timeout: 1 });
  });
}
