import { describe, test } from 'vitest';
import { findViolations } from '../../find-violations.ts';
import { useInspector } from '../../open-inspector.ts';

const open = useInspector();

describe('the view Run', () => {
  test('opens first, and shows what to do before anything happened', async (context) => {
    const { page, server } = await open(context, { hash: '' });
    await page.getByText(`curl ${server.url}/v1/messages -H 'X-API-Key: ak_acme_helpdesk_key'`).waitFor();
    await page.getByRole('button', { name: 'Deliver a sample' }).click();
    await page.getByRole('list', { name: 'What happened' }).getByText('Mail in').waitFor();
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
    await page.getByLabel('Counterpart').selectOption('dana@customer.test');
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
    await mailbox.addWebhook({ url: 'http://192.0.2.1/hook', inbox: 'helpdesk@acme.test' });
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

  test('of a change, loads only what has changed', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'First' });
    await page.getByText('First', { exact: true }).waitFor();
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    const second = { to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Second' };
    const [mail] = await server.mailbox.receiveMessage(second);
    await page.getByText('Second', { exact: true }).waitFor();
    expect(calls).toContain(`/__mock/messages/${mail?.id}`);
    expect(calls.filter((path) => /\/(?:messages|feed|deliveries)$/.test(path))).toEqual([]);
  });
});
