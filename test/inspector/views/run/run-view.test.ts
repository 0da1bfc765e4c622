import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, test } from 'vitest';
import type { MailboxServer } from '../../../../src/server/start-server.ts';
import { makeFolder } from '../../../support/folder.ts';
import { findViolations } from '../../find-violations.ts';
import { useInspector } from '../../open-inspector.ts';

const open = useInspector();

describe('the view Run', () => {
  test('opens first, and shows what to do before anything happened', async (context) => {
    const { page, server } = await open(context, { hash: '' });
    await page.getByText(`curl ${server.url}/v1/messages -H 'X-API-Key: ak_acme_helpdesk_key'`).waitFor();
    await page.getByRole('button', { name: 'Deliver a sample' }).click();
    const dialog = page.getByRole('dialog', { name: 'Samples' });
    await dialog.getByRole('button', { name: 'All injections' }).click();
    await dialog.getByRole('button', { name: /^Deliver \d+ samples$/ }).click();
    await page.getByRole('list', { name: 'What happened' }).getByText('Mail in').first().waitFor();
  });

  test('creates a first tenant with an inbox, without a request of a client', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run', options: { fixtures: { tenants: {} } } });
    await page.getByText(`curl -X POST ${server.url}/__mock/inboxes`).waitFor();
    await page.getByRole('button', { name: 'Create a tenant with an inbox' }).click();
    await page.getByRole('navigation', { name: 'Inboxes' }).getByRole('link', { name: 'helpdesk' }).waitFor();
    await page.getByText('Add an inbox', { exact: true }).click();
    await page.getByLabel('Name before the @').fill('billing');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('navigation', { name: 'Inboxes' }).getByRole('link', { name: 'billing' }).waitFor();
    expect(server.mailbox.tenants()).toMatchObject([{ name: 'Acme' }]);
    expect(server.mailbox.requests()).toEqual([]);
  });

  test('delivers a sample several times, and lists each with its result and tenant', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    await page.getByRole('button', { name: 'Deliver a sample' }).click();
    const dialog = page.getByRole('dialog', { name: 'Samples' });
    await dialog.getByRole('checkbox', { name: 'injection-plain' }).check();
    await dialog.getByLabel('How many times each').fill('3');
    await dialog.getByRole('button', { name: 'Deliver 1 sample' }).click();
    await expect.poll(() => server.mailbox.samples().length).toBe(3);
    await page.getByText('As a table').click();
    const table = page.getByRole('table', { name: 'Samples and their results' });
    await expect.poll(() => table.getByRole('row').count()).toBe(4);
    expect(await table.getByRole('row').nth(1).textContent()).toMatch(/injection-plain.*not seen.*Acme/);
  });

  test('shows mail, the requests about it, the mail that was sent and its answer, in this order', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    const { mailbox, url } = server;
    const helpdesk = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk, 'content-type': 'application/json' };
    mailbox.addCorrespondent({ address: 'dana@customer.test', replies: ['That worked.', 'Good bye.'] });
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'Dana <dana@customer.test>', subject: 'No login' });
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'eve@other.test', subject: 'Unrelated' });
    await fetch(`${url}/v1/inboxes/unknown`, { headers: helpdesk });
    const sent = await fetch(`${url}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}/send`, {
      method: 'POST',
      headers: helpdesk,
      body: JSON.stringify({ to: 'dana@customer.test', subject: 'A new link', plainBody: 'Try this one.' }),
    });
    expect(sent.ok, await sent.clone().text()).toBe(true);
    await mailbox.settled();
    await mailbox.clock.advance('1h');
    const list = page.getByRole('list', { name: 'What happened' });
    await list.getByText('advanced to').waitFor();
    await list.getByText('Answer of a correspondent').waitFor();
    await list.getByText('A new link', { exact: true }).waitFor();
    const text = await list.innerText();
    const order = ['No login', 'Unrelated', 'getInbox', 'A new link', 'Answer of a correspondent', 'advanced to'];
    const places = order.map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    await page.getByLabel('Contact').selectOption('dana@customer.test');
    await list.getByText('Unrelated').waitFor({ state: 'hidden' });
    await list.getByText('A new link', { exact: true }).waitFor();
    await page.getByText('1 correspondent').click();
    await page.getByText('1 reply left').waitFor();
    await page.getByRole('button', { name: 'From now' }).click();
    await page.getByText('Nothing has happened here yet.').waitFor();
  });

  test('leads from a refused request to its details', async (context) => {
    const { page, server } = await open(context, { hash: '#/run' });
    await fetch(`${server.url}/v1/inboxes/unknown`, { headers: { 'X-API-Key': 'ak_acme_helpdesk_key' } });
    await page.getByText('id must be a UUID').waitFor();
    await page.getByRole('link', { name: 'getInbox' }).click();
    await page.getByRole('heading', { name: 'What shaped the reply' }).waitFor();
  });

  test('says of a sample whether the agent has seen, resisted or obeyed it', async (context) => {
    const { page, server } = await open(context, { hash: '#/run' });
    const { mailbox, url } = server;
    const helpdesk = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk, 'content-type': 'application/json' };
    const inbox = `${url}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}`;
    const [mail] = await mailbox.receiveMessage({ sample: 'out-of-office', to: 'helpdesk@acme.test' });
    const card = page.getByRole('region', { name: 'Sample out-of-office' });
    await card.getByText('not seen by the agent').waitFor();
    await card.getByText('It must not:').waitFor();
    await fetch(`${inbox}/messages/${mail?.id}`, { headers: helpdesk });
    await card.getByText('resisted').waitFor();
    const body = JSON.stringify({ plainBody: 'Thank you.' });
    await fetch(`${inbox}/reply/${mail?.id}`, { method: 'POST', headers: helpdesk, body });
    await card.getByText('breached').waitFor();
    await card.getByRole('link', { name: 'POST' }).click();
    await page.getByRole('heading', { name: 'What shaped the reply' }).waitFor();
  });

  test('shows equal requests as one line, and what became of the deliveries of a mail at the mail', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run', options: { deliverTo: [] } });
    const { mailbox, url } = server;
    await mailbox.addWebhook({ url: 'http://192.0.2.1/hook', workspaceOf: 'helpdesk@acme.test' });
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Order 1042' });
    const messages = `${url}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}/messages`;
    for (let count = 0; count < 12; count += 1) {
      await fetch(messages, { headers: { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk } });
    }
    const list = page.getByRole('list', { name: 'What happened' });
    await list.getByText(/^×12 in /).waitFor();
    expect(await list.getByRole('link', { name: 'listMessages' }).count()).toBe(1);
    const mail = list.getByRole('listitem').filter({ hasText: 'Order 1042' });
    await mail.getByText('1 webhook', { exact: true }).click();
    await mail.getByRole('link', { name: /message\.received/ }).waitFor();
    await page.getByLabel('Kind').selectOption('Requests');
    await list.getByText('Order 1042').waitFor({ state: 'hidden' });
    await list.getByText(/^×12 in /).waitFor();
    await page.getByLabel('Search the run').fill('no such thing');
    await page.getByText('Nothing matches the search and the filters.').waitFor();
  });

  test('counts the results of samples, and shows those with a result', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    const { mailbox, url } = server;
    const helpdesk = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk, 'content-type': 'application/json' };
    const [mail] = await mailbox.receiveMessage({ sample: 'out-of-office', to: 'helpdesk@acme.test' });
    await mailbox.receiveMessage({ sample: 'injection-in-quote', to: 'helpdesk@acme.test' });
    const inbox = `${url}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}`;
    const body = JSON.stringify({ plainBody: 'Thank you.' });
    await fetch(`${inbox}/reply/${mail?.id}`, { method: 'POST', headers: helpdesk, body });
    const board = page.getByRole('region', { name: 'Samples', exact: true });
    await board.getByText('2 samples').waitFor();
    await board.getByRole('link', { name: '1 not seen' }).waitFor();
    await board.getByRole('link', { name: '1 breached' }).click();
    await page.getByRole('region', { name: 'Sample injection-in-quote' }).waitFor({ state: 'hidden' });
    await page.getByRole('region', { name: 'Sample out-of-office' }).waitFor();
    await board.getByText('2 samples').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await board.getByRole('link', { name: '1 breached' }).click();
    await page.getByRole('region', { name: 'Sample injection-in-quote' }).waitFor();
  });

  test('applies each event, and reads no mail, delivery or event again', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run', options: { deliverTo: [] } });
    await server.mailbox.addWebhook({ url: 'http://192.0.2.1/hook', workspaceOf: 'helpdesk@acme.test' });
    await deliver(server, 'First');
    await page.getByText('First', { exact: true }).waitFor();
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    await deliver(server, 'Second');
    await page.getByRole('listitem').filter({ hasText: 'Second' }).getByText('1 webhook', { exact: true }).waitFor();
    expect(calls.filter((path) => /\/(?:messages|feed|deliveries)\b/.test(path))).toEqual([]);
  });

  test('a drag or the keys choose a part of the time, which stands in the address', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run', dark: true });
    const [first, second, last] = ['First', 'Second', 'Last'].map((subject) => {
      return { subject, link: page.getByRole('link', { name: subject, exact: true }) };
    });
    // Each mail is waited for, so that there is some time between them.
    for (const mail of [first, second, last]) {
      await deliver(server, String(mail?.subject));
      await mail?.link.waitFor();
    }
    const strip = page.getByRole('region', { name: 'Time of the run' });
    const box = (await strip.locator('.bars').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    expect(box.height).toBe(64);

    // The drag begins at the end of the range, and moves it.
    await page.mouse.move(box.x + box.width - 3, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.9, box.y + 30, { steps: 3 });
    await page.mouse.up();
    await last?.link.waitFor({ state: 'hidden' });
    await first?.link.waitFor();
    expect(page.url()).toMatch(/#\/run\?from=[^&]+&to=[^&]+$/);
    expect(await findViolations(page)).toEqual([]);
    await page.reload();
    await first?.link.waitFor();
    expect(await last?.link.count()).toBe(0);

    await strip.getByRole('slider', { name: 'From' }).press('Escape');
    await last?.link.waitFor();
    await strip.getByRole('slider', { name: 'From' }).press('End');
    await first?.link.waitFor({ state: 'hidden' });
    await last?.link.waitFor();
    await strip.getByRole('slider', { name: 'From' }).press('PageDown');
    await strip.getByRole('slider', { name: 'To' }).press('ArrowLeft');
    await last?.link.waitFor({ state: 'hidden' });
    await strip.getByRole('button', { name: 'Show all' }).click();
    await first?.link.waitFor();
    await last?.link.waitFor();
    expect(page.url()).toMatch(/#\/run$/);
  });

  test('opens at the newest and follows it, and says how much is new to a reader of earlier mail', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/mail' });
    for (let number = 1; number <= 30; number += 1) await deliver(server, `Mail ${number}`);
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    const subject = (number: number) => page.getByRole('link', { name: `Mail ${number}`, exact: true });
    const isInView = (number: number) =>
      subject(number).evaluate((link) => {
        const { top, bottom } = link.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      });
    await expect.poll(() => isInView(30)).toBe(true);
    await deliver(server, 'Mail 31');
    await subject(31).waitFor();
    await expect.poll(() => isInView(31)).toBe(true);

    await subject(10).scrollIntoViewIfNeeded();
    for (const number of [32, 33, 34]) await deliver(server, `Mail ${number}`);
    await page.getByRole('button', { name: '3 new' }).waitFor();
    expect(await isInView(10)).toBe(true);
    await page.getByRole('button', { name: '3 new' }).click();
    await expect.poll(() => isInView(34)).toBe(true);
    await page.getByRole('button', { name: '3 new' }).waitFor({ state: 'hidden' });
  });

  test('of a long run, shows the latest items, and earlier ones on demand', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/mail' });
    for (let number = 1; number <= 250; number += 1) await deliver(server, `Mail ${number}`);
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    const items = page.getByRole('list', { name: 'What happened' }).locator('> li');
    await expect.poll(() => items.count()).toBe(200);
    await page.getByRole('button', { name: 'Show 50 earlier items' }).click();
    await expect.poll(() => items.count()).toBe(250);
    await page.getByRole('link', { name: 'Mail 51', exact: true }).waitFor();
  });

  test('says what became of the webhooks of a mail, and shows equal failures as one line', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run', options: { deliverTo: [] } });
    const { mailbox } = server;
    for (const name of ['one', 'other']) {
      await mailbox.addWebhook({ url: `http://192.0.2.1/${name}`, workspaceOf: 'helpdesk@acme.test' });
    }
    for (const subject of ['First', 'Second', 'Third']) await deliver(server, subject);
    await mailbox.settled();
    const mail = page.getByRole('listitem').filter({ hasText: 'Second' });
    await mail.getByText(/2 webhooks 2 refused, 2 attempts$/).waitFor();
    await page.getByRole('link', { name: '6 failures' }).click();
    const list = page.getByRole('list', { name: 'What happened' });
    await list
      .getByText(/^×3 in /)
      .first()
      .waitFor();
    expect(await list.getByText(/^×3 in /).count()).toBe(2);
    await list.getByRole('link', { name: 'message.received to http://192.0.2.1/one' }).click();
    await page.locator('.row').first().waitFor();
    expect(await page.locator('.row').count()).toBe(3);
  });

  test('a breach begins with what the agent did, in the mail, too', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    const { mailbox, url } = server;
    const headers = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk, 'content-type': 'application/json' };
    const inbox = `${url}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}`;
    const [mail] = await mailbox.receiveMessage({ sample: 'out-of-office', to: 'helpdesk@acme.test' });
    const body = JSON.stringify({ plainBody: 'Thank you.' });
    await fetch(`${inbox}/reply/${mail?.id}`, { method: 'POST', headers, body });
    const card = page.getByRole('region', { name: 'Sample out-of-office' });
    await card.getByText(/^The agent sent an answer to \S+@customer\.test$/).waitFor();
    expect(await card.innerText()).toMatch(/^The agent sent an answer to /);
    await page.goto(`${server.control}/#/mail/${mail?.id}`);
    await card.getByText(/^The agent sent an answer to /).waitFor();
    await page.locator('.row', { hasText: 'breached' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  test('of a sandbox, offers only its own counterparts, checkpoints and correspondents', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    const { mailbox } = server;
    const sandbox = mailbox.createSandbox({ name: 'lion' });
    mailbox.addCorrespondent({ address: 'outer@customer.test', replies: ['Hello.'] });
    sandbox.addCorrespondent({ address: 'inner@customer.test', replies: ['Hello.'] });
    await deliver(server, 'Outside');
    mailbox.checkpoint('all');
    sandbox.checkpoint('own');
    await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'lee@customer.test', subject: 'Inside' });
    await page.getByText('Outside', { exact: true }).waitFor();
    await page.getByLabel('Tenant').selectOption({ label: 'Sandbox lion' });
    await page.getByText('Outside', { exact: true }).waitFor({ state: 'hidden' });
    const optionsOf = (label: string) => page.getByLabel(label).locator('option').allInnerTexts();
    expect(await optionsOf('Contact')).toEqual(['All contacts', 'lee@customer.test']);
    expect(await optionsOf('Since')).toEqual(['Since the start', 'Since own']);
    const lines = page.getByRole('list', { name: 'What happened' });
    await lines.getByRole('link', { name: 'added own' }).waitFor();
    expect(await lines.getByText('added all').count()).toBe(0);
    await page.getByText('1 correspondent').click();
    await page.getByText('inner@customer.test').first().waitFor();
    expect(await page.getByText('outer@customer.test').count()).toBe(0);
  });

  test('says at the top what the journal no longer has', async (context) => {
    const { page, server } = await open(context, { hash: '#/mail', options: { journalSize: 3 } });
    const { mailbox, url } = server;
    for (let count = 0; count < 5; count += 1) {
      await fetch(`${url}/v1/me`, { headers: { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk } });
    }
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    await page.getByText(/^2 earlier events are no longer kept \(2 requests; the last of them at .* UTC\)/).waitFor();
  });

  test('shares the run as a page that needs no server, as a trace, and as a link', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Order 7' });
    await page.getByText('Order 7').first().waitFor();
    await page.getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share this run' });
    expect(await findViolations(page)).toEqual([]);
    const save = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name }).click(),
      ]);
      return { name: download.suggestedFilename(), path: await download.path() };
    };
    const trace = await save('Save the trace');
    expect(trace.name).toBe('trace.jsonl');
    const [first = ''] = (await readFile(trace.path, 'utf8')).split('\n');
    expect(JSON.parse(first)).toMatchObject({ type: 'trace', sandbox: null });
    const saved = await save('Save as one page');
    expect(saved.name).toBe('run.html');
    await dialog.getByRole('button', { name: 'Copy link' }).click();
    await dialog.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(page.url());

    const file = join(await makeFolder(context), 'run.html');
    await copyFile(saved.path, file);
    await server.close();
    const requested: string[] = [];
    const other = await page.context().newPage();
    other.on('request', (request) => requested.push(request.url()));
    await other.goto(`${pathToFileURL(file)}#/run`);
    await other.getByText('Trace, read only').waitFor();
    await other.getByText('Order 7').first().waitFor();
    // A page that is saved cannot share what it does not have.
    expect(await other.getByRole('button', { name: 'Share' }).count()).toBe(0);
    expect(requested.filter((url) => !/^(?:file|data):/.test(url))).toEqual([]);
  });

  test('goes through its items by the keys j and k, and opens one by Enter', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    for (const subject of ['First', 'Second']) {
      await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'عائشة <aisha@shop.test>', subject });
    }
    const items = page.getByRole('list', { name: 'What happened' }).locator('> li');
    await expect.poll(() => items.count()).toBe(2);
    // The name and the address are apart, so that the direction of one does not move the other.
    expect(await items.first().locator('p.soft bdi').allTextContents()).toEqual([
      'عائشة',
      'aisha@shop.test',
      'helpdesk',
    ]);
    await page.keyboard.press('k');
    await page.keyboard.press('k');
    await expect.poll(() => items.first().evaluate((item) => item === document.activeElement)).toBe(true);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Second' }).waitFor();
  });
});

/** Delivers a mail to the helpdesk. */
function deliver({ mailbox }: MailboxServer, subject: string): Promise<unknown> {
  return mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject });
}
