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
    await page.getByText('2026-03-04 09:00:00 UTC').waitFor();
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

  test('add a fault by a form, and remove it', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/time' });
    await page.getByText('More: any fault').click();
    const form = page.getByRole('form', { name: 'New fault' });
    await form.getByLabel('operation').selectOption('sendMessage');
    await form.getByLabel('status').fill('503');
    await form.getByLabel('latency, in ms', { exact: true }).fill('5');
    await form.getByRole('button').click();
    await page.getByText(/^reply · operation sendMessage · status 503 · latency .+ · 1 more time$/).waitFor();
    expect(server.mailbox.faults()).toMatchObject([{ operation: 'sendMessage', status: 503, latency: { ms: 5 } }]);

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
    for (const shown of [/ 2 more times$/, / 1 more time$/]) {
      await ask();
      await page.getByText(shown).waitFor();
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
    await page.getByRole('region', { name: 'added' }).getByText('"subject": "New"').waitFor();

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
