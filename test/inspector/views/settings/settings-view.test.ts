import { describe, test } from 'vitest';
import { answerNext, useInspector } from '../../open-inspector.ts';

const open = useInspector();

describe('faults and behaviours on the page', () => {
  test('a preset adds a fault, which clients meet, and which a person removes', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/time' });
    const { mailbox, url } = server;
    const presets = ['server-error', 'slow', 'rate-limit', 'receiver-down', 'duplicate-delivery'];
    const faults = page.getByRole('region', { name: 'Faults' });
    for (const [index, name] of presets.entries()) {
      await page.getByRole('button', { name, exact: true }).click();
      await expect.poll(() => faults.getByRole('listitem').count()).toBe(index + 1);
    }
    expect(mailbox.faults()).toMatchObject([
      { on: 'request', status: 500, times: 1 },
      { on: 'request', latency: { ms: 2_000 }, times: 1_000_000 },
      { on: 'request', rateLimit: { limit: 5 } },
      { on: 'delivery', kind: 'unreachable', times: 1 },
      { on: 'delivery', kind: 'duplicate', times: 1 },
    ]);
    await page.getByText('The next request gets 500.', { exact: true }).waitFor();
    const line = (text: string) => faults.getByRole('listitem').filter({ hasText: text });
    await line('2 s later').getByRole('button', { name: 'Remove' }).click();
    await answerNext(page, true);
    await expect.poll(() => mailbox.faults().length).toBe(4);

    const send = () =>
      fetch(`${url}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}/send`, {
        method: 'POST',
        headers: { 'X-API-Key': mailbox.keys.acme.tenant, 'content-type': 'application/json' },
        body: JSON.stringify({ to: 'dana@customer.test', subject: 'Again', plainBody: 'Hello' }),
      });
    expect([(await send()).status, (await send()).status]).toEqual([500, 200]);
    await line('gets 500').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Remove all' }).click();
    expect(await answerNext(page, true)).toMatch(/^Remove \d faults\? /);
    await page.getByText('No fault is set.').waitFor();
    expect(mailbox.faults()).toEqual([]);
  });

  test('a preset holds for the chosen tenant, and only its faults are removed', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/time' });
    const { mailbox } = server;
    const sandbox = mailbox.createSandbox({ name: 'lion' });
    const other = mailbox.addFault({ on: 'request', status: 500, tenant: mailbox.ids.acme.tenant });
    await page.getByLabel('Tenant', { exact: true }).selectOption({ label: 'Sandbox lion' });
    await page.getByText('No fault is set.').waitFor();
    await page.getByRole('button', { name: 'server-error' }).click();
    await page.getByText('The next request gets 500.').waitFor();
    await page.getByRole('button', { name: 'duplicate-delivery' }).click();
    await page.getByRole('button', { name: 'Remove all' }).waitFor();
    expect(mailbox.faults().slice(1)).toMatchObject([{ tenantId: sandbox.id }, { tenantId: sandbox.id }]);
    await page.getByRole('button', { name: 'Remove all' }).click();
    expect(await answerNext(page, true)).toMatch(/^Remove \d faults\? /);
    await page.getByText('No fault is set.').waitFor();
    expect(mailbox.faults()).toEqual([other]);
  });

  test('a behaviour is changed at once, and set back to the value of the start', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/choices/auth.wrong-tier' });
    const { mailbox, url } = server;
    const statusOf = async () => {
      const headers = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk };
      return (await fetch(`${url}/v1/webhooks`, { headers })).status;
    };
    expect(await statusOf()).toBe(403);
    const value = (name: string) => page.getByRole('radio', { name: new RegExp(`^${name} `) });
    await value('not-found').click();
    await page.getByText('changed here', { exact: true }).waitFor();
    expect(await value('not-found').isChecked()).toBe(true);
    expect(await statusOf()).toBe(404);
    await page.getByRole('button', { name: 'Back to the value at the start' }).click();
    await page.getByText('changed here', { exact: true }).waitFor({ state: 'hidden' });
    expect(await statusOf()).toBe(403);
    expect(await page.getByRole('button', { name: 'Back to the value at the start' }).count()).toBe(0);
  });
});
