import { describe, test } from 'vitest';
import { answerNext, useInspector } from '../../open-inspector.ts';

const open = useInspector();

describe('the views of time, state and choices', () => {
  test('freeze and advance the clock', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/time' });
    await page.getByLabel('Freeze at').fill('2026-03-01T09:00:00Z');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Clock' }).getByText('Frozen', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Advance 3d' }).click();
    await page.getByRole('region', { name: 'Clock' }).getByText('2026-03-04 09:00:00 UTC').waitFor();
    expect(server.mailbox.clock.now().toISOString()).toBe('2026-03-04T09:00:00.000Z');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Running').waitFor();
  });

  test('show the delivery that is due next', async (context) => {
    const { page, server } = await open(context, { hash: '#/time' });
    server.mailbox.clock.freeze();
    server.mailbox.trigger('message.received', { webhookId: server.mailbox.ids.acme.webhooks.everything });
    await page.getByRole('region', { name: 'Due next' }).getByRole('link', { name: 'message.received' }).waitFor();
  });

  test('join what is due for the same reason, and show all of it on demand', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/time' });
    server.mailbox.clock.freeze();
    for (let count = 0; count < 12; count += 1) {
      const { id } = await server.mailbox.addWebhook({
        url: `http://127.0.0.1:9/${count}`,
        tenant: server.mailbox.ids.acme.tenant,
      });
      server.mailbox.trigger('message.received', { webhookId: id });
      server.mailbox.trigger('message.received', { webhookId: id });
    }
    await server.mailbox.settled({ timeout: '20s' });
    const due = page.getByRole('region', { name: 'Due next' });
    await due.getByText('2 times').nth(9).waitFor();
    await due
      .getByText(/^attempt 2; attempt 1 failed: .*ECONNREFUSED/)
      .first()
      .waitFor();
    expect(await due.getByRole('listitem').count()).toBe(10);
    await due.getByRole('button', { name: 'Show 2 more' }).click();
    await expect.poll(() => due.getByRole('listitem').count()).toBe(12);
    await due.getByRole('link', { name: 'message.received' }).first().click();
    await expect.poll(() => page.locator('.list .row').count()).toBe(2);
  });

  test('add a fault by a form, and remove it', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/time' });
    await page.getByText('More: any fault').click();
    const form = page.getByRole('form', { name: 'New fault' });
    await form.getByLabel('only this operation').selectOption('sendMessage');
    await form.getByLabel('status').fill('503');
    await form.getByLabel('Delay, in ms', { exact: true }).fill('2000');
    await form.getByText('The next request of sendMessage gets 503 after 2 s.').waitFor();
    await form.getByLabel('how many times').fill('3');
    const sentence = 'The next 3 requests of sendMessage get 503 after 2 s.';
    await form.getByText(sentence).waitFor();
    await form.getByRole('button').click();
    await page.getByRole('listitem').getByText(sentence).waitFor();
    expect(server.mailbox.faults()).toMatchObject([{ operation: 'sendMessage', status: 503, latency: { ms: 2000 } }]);

    await page.getByRole('button', { name: 'Remove' }).click();
    expect(await answerNext(page, true)).toMatch(/^Remove the fault\? .* lost for good/);
    await page.getByText('No fault is set.').waitFor();
    expect(server.mailbox.faults()).toEqual([]);
  });

  test('say what is wrong with a fault', async (context) => {
    const { expect } = context;
    const { page } = await open(context, { hash: '#/time' });
    await page.getByText('More: any fault').click();
    const form = page.getByRole('form', { name: 'New fault' });
    await form.getByLabel('headers').fill('soon');
    await form.getByRole('button').click();
    expect(await page.getByRole('alert').textContent()).toBe(
      'The field headers must be JSON, such as {"Retry-After":"2"}.',
    );
    await form.getByLabel('headers').fill('');
    await form.getByLabel('body').fill('hello');
    await form.getByRole('button').click();
    await page.getByText('The field body must be JSON, such as {"error":"Down"} or "hello".').waitFor();
  });

  test('show what was changed elsewhere', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/time' });
    const { mailbox } = server;
    const ask = (path = '') =>
      fetch(`${server.url}/v1/webhooks${path}`, { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
    mailbox.addFault({ on: 'request', status: 503, after: 1, times: 2 });
    for (const shown of ['The next 2 requests get 503.', 'The next request gets 503.']) {
      await ask();
      await page.getByRole('listitem').getByText(shown).waitFor();
    }
    await ask();
    await page.getByText('No fault is set.').waitFor();

    await page.goto(`${server.control}/#/requests`);
    await expect.poll(() => page.locator('.row').count()).toBe(3);
    mailbox.clearRequests();
    await expect.poll(() => page.locator('.row').count()).toBe(0);

    await page.goto(`${server.control}/#/state`);
    mailbox.checkpoint('elsewhere');
    await page.getByText('elsewhere').waitFor();
    mailbox.removeCheckpoint('elsewhere');
    await page.getByText('No checkpoint has been saved yet.').waitFor();

    await page.goto(`${server.control}/#/keys`);
    const sandbox = mailbox.createSandbox({ name: 'lion' });
    const tree = page.getByRole('navigation', { name: 'Keys' });
    await tree.getByText('lion').first().waitFor();
    sandbox.close();
    await tree.getByText('lion').first().waitFor({ state: 'hidden' });
  });

  test('of a sandbox show only what is its own', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/time' });
    const { mailbox } = server;
    const sandbox = mailbox.createSandbox({ name: 'lion' });
    mailbox.clock.freeze('2026-03-01T09:00:00Z');
    sandbox.clock.freeze('2030-01-01T00:00:00Z');
    mailbox.trigger('message.received', { webhookId: mailbox.ids.acme.webhooks.everything });
    mailbox.addFault({ on: 'request', status: 503 });
    mailbox.addFault({ on: 'request', status: 418, tenant: mailbox.ids.acme.tenant });
    mailbox.checkpoint('of all');
    sandbox.checkpoint('own');
    await page.getByLabel('Tenant', { exact: true }).selectOption({ label: 'Sandbox lion' });
    await page.getByRole('region', { name: 'Clock' }).getByText('2030-01-01 00:00:00 UTC').waitFor();
    await page.getByRole('banner').getByText('2030-01-01 00:00:00').waitFor();
    await page.getByText('No delivery waits for an attempt.').waitFor();
    await page.getByText('The next request gets 503. It applies to every tenant.').waitFor();
    expect(await page.getByText(/418|2026-03-01/).count()).toBe(0);

    await page.getByRole('link', { name: 'State' }).click();
    await page.getByText('This is the state of the chosen sandbox alone.').waitFor();
    await page.getByText('own', { exact: true }).waitFor();
    expect(await page.getByText('of all').count()).toBe(0);
    await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'lee@customer.test', subject: 'Inside' });
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('list', { name: 'added' }).getByText('mail “Inside”').waitFor();
    await page.getByLabel('Name').fill('later');
    await page.keyboard.press('Enter');
    await expect.poll(() => sandbox.checkpoints().map(({ name }) => name)).toEqual(['own', 'later']);
    expect(mailbox.checkpoints().map(({ name }) => name)).toEqual(['of all']);

    await page.getByRole('link', { name: 'Behaviours' }).click();
    await page.getByText('A sandbox has no behaviours of its own').waitFor();
    await page.getByRole('link', { name: 'Show them for all tenants' }).click();
    await page.getByRole('searchbox').waitFor();
  });

  test('find a choice, and show its value now', async (context) => {
    const { page } = await open(context, {
      hash: '#/choices',
      options: { behaviours: { 'auth.wrong-tier': 'not-found' } },
    });
    await page.getByRole('searchbox').fill('wrong-tier');
    await page.getByText('1 behaviour', { exact: true }).waitFor();
    await page.getByRole('radio', { name: /404, as for a route that does not exist Now/, checked: true }).waitFor();
    await page.getByText('set at the start', { exact: true }).waitFor();
  });

  test('find the choices that have every word of a search', async (context) => {
    const { page } = await open(context, { hash: '#/choices' });
    await page.getByRole('searchbox').fill('tier wrong 404');
    await page.getByRole('heading', { name: 'auth.wrong-tier' }).waitFor();
    await page.getByRole('searchbox').fill('delete  message');
    await page.getByText(/^[1-9]\d* behaviours?$/).waitFor();
    await page.getByRole('searchbox').fill('wrong tier zebra');
    await page.getByText('No behaviour has all of these words.').waitFor();
  });

  test('save a checkpoint, show what differs from it, and reset', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    await page.getByLabel('Name').fill('before');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByText('Nothing differs.').waitFor();
    await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'New' });
    const added = page.getByRole('list', { name: 'added' });
    await added.getByText('mail “New”').click();
    await added.getByText('“dana@customer.test”').first().waitFor();
    await fetch(`${server.url}/v1/inboxes/${server.mailbox.ids.acme.inboxes.helpdesk}`, {
      method: 'PATCH',
      headers: { 'X-API-Key': server.mailbox.keys.acme.tenant, 'Content-Type': 'application/json' },
      body: JSON.stringify({ displayName: 'Our helpdesk' }),
    });
    const changed = page.getByRole('list', { name: 'changed' });
    await changed.getByText('inbox helpdesk@acme.test').waitFor();
    await changed.getByText(/^displayName: .* → “Our helpdesk”$/).waitFor();

    await page.getByRole('region', { name: 'Difference' }).getByRole('combobox').selectOption('before');
    await page.getByText('Nothing differs.').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    expect((await download).suggestedFilename()).toBe('mailbox.json');
  });

  test('say what a reset or a restore removes, and undo it in any view', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    const subjects = () => server.mailbox.searchMail({ search: 'Mail number' }).messages.map(({ subject }) => subject);
    const deliver = (subject: string) =>
      server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject });
    await deliver('Mail number 1');
    server.mailbox.checkpoint('with one');
    await deliver('Mail number 2');
    const button = (name: string) => page.getByRole('button', { name });

    const refused = answerNext(page, false);
    await button('Reset all data').click();
    expect(await refused).toMatch(/of the start\. All deliveries, requests, .+ are lost for good\. Undo brings back/);
    expect(server.mailbox.checkpoints()).toHaveLength(1);
    void answerNext(page, true);
    await button('Reset all data').click();
    await expect.poll(subjects).toEqual([]);
    await page.getByRole('link', { name: 'Mail', exact: true }).click();
    await button('Undo').click();
    await page.locator('.row', { hasText: 'Mail number 2' }).waitFor();
    await button('Undo').waitFor({ state: 'hidden' });

    await page.getByRole('link', { name: 'State' }).click();
    const line = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
    const warning = answerNext(page, true);
    await line('with one').getByRole('button', { name: 'Restore' }).click();
    expect(await warning).toContain('those of “with one”. All deliveries');
    await expect.poll(subjects).toEqual(['Mail number 1']);
    void answerNext(page, true);
    await line('Before restoring with one').getByRole('button', { name: 'Restore' }).click();
    await expect.poll(subjects).toHaveLength(2);
    await page.getByText('“Before restoring Before restoring with one”').waitFor();
    await button('Undo').click();
    await expect.poll(subjects).toEqual(['Mail number 1']);
  });

  test('ask before a checkpoint is removed', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    server.mailbox.checkpoint('paid');
    const remove = page.getByRole('button', { name: 'Remove' });
    await remove.click();
    expect(await answerNext(page, false)).toBe('Remove the checkpoint “paid”? What it keeps is lost for good.');
    expect(server.mailbox.checkpoints()).toHaveLength(1);
    await remove.click();
    await answerNext(page, true);
    await page.getByText('No checkpoint has been saved yet.').waitFor();
    expect(server.mailbox.checkpoints()).toEqual([]);
  });

  test('say why nothing was removed if it could not be undone', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    for (let number = 1; number <= 100; number += 1) server.mailbox.checkpoint(`Number ${number}`);
    await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test' });
    void answerNext(page, true);
    await page.getByRole('button', { name: 'Reset all data' }).click();
    await page.getByText('keeps at most 100 checkpoints; remove one first.').waitFor();
    expect(server.mailbox.messages()).toHaveLength(1);
  });
});
