import { describe, test } from 'vitest';
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
});
