import type { Page } from 'playwright-core';
import { test } from 'vitest';
import type { MailboxServer } from '../../../../src/server/start-server.ts';
import { talkTo } from '../../../support/imap-talk.ts';
import { findViolations, openAll } from '../../find-violations.ts';
import { useInspector } from '../../open-inspector.ts';

const open = useInspector();

const WEBHOOK = JSON.stringify({ url: 'http://127.0.0.1:9/in', events: ['message.received'] });

/** Sends a request to the service. */
const send = ({ url }: MailboxServer, method: string, path: string, key: string, body?: string) =>
  fetch(url + path, {
    method,
    headers: { 'X-API-Key': key, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body }),
  });

/** Creates a webhook with a key that may not do so. */
const sendRefused = (server: MailboxServer) =>
  send(server, 'POST', '/v1/webhooks', server.mailbox.keys.acme.inboxes.helpdesk, WEBHOOK);

const rows = (page: Page) => page.locator('.list .row');
const detail = (page: Page) => page.getByRole('region', { name: 'Open request' });

test('a request appears at once, and the page says why it got 403', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/requests' });
  await expect
    .poll(() => page.getByText('No request here. Call the API with one of the keys in Keys.').count())
    .toBe(1);
  await sendRefused(server);
  await expect
    .poll(() => rows(page).first().textContent())
    .toMatch(/^POSTcreateWebhook This ak_ key may not call.*403.*helpdesk@acme\.test/);
  await rows(page).first().click();
  await expect
    .poll(() => detail(page).locator('.reason').textContent())
    .toBe('Why: This ak_ key may not call POST /v1/webhooks; use a tk_ or wk_ key.');
  await expect.poll(() => detail(page).locator('dd').allTextContents()).toContain('helpdesk@acme.test');
  expect(page.url()).toBe(`${server.control}/#/requests/req_1`);
});

test('a command of IMAP is shown without a curl command and a test, which could not repeat it', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { options: { imapPort: 0 } });
  using talk = await talkTo(server.imap?.port ?? 0);
  await talk.command('LOGIN nobody "wrong"');
  await page.goto(`${server.control}/#/requests/req_1`);
  await expect.poll(() => detail(page).locator('h1').textContent()).toContain('LOGIN');
  expect(await detail(page).locator('dl').textContent()).toContain('ProtocolIMAP');
  expect(await detail(page).getByRole('button').count()).toBe(0);
});

test('the private reason is shown beside what the reply says', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/requests/req_1' });
  const { keys, ids } = server.mailbox;
  await send(server, 'DELETE', `/v1/webhooks/${ids.acme.webhooks.support}`, keys.acme.workspaces.sales);
  await page.reload();
  const reason = detail(page).locator('.reason');
  await expect.poll(() => reason.textContent()).toContain('the webhook with this id belongs to Support');
  expect(await reason.textContent()).toContain('The reply says only “There is no webhook with this id.”');
});

test('each behaviour that shaped a reply says where it comes from and how to change it', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  await sendRefused(server);
  await page.goto(`${server.control}/#/requests/req_1`);
  const choice = detail(page).locator('li.block', { hasText: 'auth.wrong-tier' });
  await choice.locator('summary').click();
  await expect.poll(() => choice.textContent()).toContain('--behaviour auth.wrong-tier=not-found');
  expect(await choice.textContent()).toContain('the public reference says so (section 7)');
});

test('a request is copied as a curl command and as a test', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  await sendRefused(server);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  await page.goto(`${server.control}/#/requests/req_1`);
  const copied: string[] = [];
  for (const name of ['curl', 'Test']) {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    copied.push(await page.evaluate(() => navigator.clipboard.readText()));
    await page.getByRole('button', { name, exact: true }).waitFor();
  }
  expect(copied[0]).toContain(
    `curl -X POST \\\n  '${server.url}/v1/webhooks' \\\n  -H "X-API-Key: \${MAILBOX_INBOX_KEY:-ak_acme_helpdesk_key}"`,
  );
  expect(copied[1]).toContain("test('createWebhook is answered with 403 FORBIDDEN'");
});

test('a request is sent again with the same key, as it was and edited', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  const { keys } = server.mailbox;
  await send(server, 'POST', '/v1/webhooks', keys.acme.tenant, WEBHOOK);
  await page.goto(`${server.control}/#/requests/req_1`);
  await detail(page).getByRole('button', { name: 'Send again' }).click();
  await expect.poll(() => page.url()).toContain('/req_2');
  await detail(page).getByRole('button', { name: 'Edit' }).click();
  await detail(page).getByRole('textbox', { name: 'Body' }).fill(WEBHOOK.replace('/in', '/edited'));
  await detail(page).getByRole('button', { name: 'Send again' }).click();
  await expect.poll(() => page.url()).toContain('/req_3');
  const [first, again, edited] = server.mailbox.requests();
  expect([again?.status, again?.request.body, again?.keyId]).toEqual([201, first?.request.body, first?.keyId]);
  expect([edited?.status, edited?.request.body]).toEqual([201, WEBHOOK.replace('/in', '/edited')]);
  await detail(page).getByRole('button', { name: 'Edit' }).click();
  await detail(page).getByRole('textbox', { name: 'Path' }).fill('/v1/nothing');
  await detail(page).getByRole('button', { name: 'Send again' }).click();
  await expect.poll(() => page.url()).toContain('/req_4');
  await expect.poll(() => detail(page).locator('.head .chip').textContent()).toContain('404');
});

test('requests are found by a text and a status, and the journal is cleared', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/requests' });
  await sendRefused(server);
  await send(server, 'GET', '/v1/me', server.mailbox.keys.acme.tenant);
  await send(server, 'GET', '/v1/inboxes', server.mailbox.keys.acme.tenant);
  await expect.poll(() => rows(page).count()).toBe(3);
  await page.getByLabel('Status').selectOption('refused');
  await expect.poll(() => rows(page).count()).toBe(1);
  await page.getByLabel('Status').selectOption('Every status');
  await page.keyboard.press('/');
  await page.getByRole('searchbox').fill('listInboxes');
  await expect.poll(() => rows(page).count()).toBe(1);
  await page.getByRole('searchbox').fill('');
  await page.getByRole('button', { name: 'Clear the journal' }).click();
  await page.getByText('3 requests removed from the journal, those of sandboxes too.').waitFor();
  await expect.poll(() => rows(page).count()).toBe(0);
  expect(server.mailbox.requests()).toEqual([]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => rows(page).count()).toBe(3);
  expect(server.mailbox.requests()).toHaveLength(3);
});

test('after a reset, a link to a request that is gone says so', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  await sendRefused(server);
  await page.goto(`${server.control}/#/requests/req_1`);
  await detail(page).locator('.reason').waitFor();
  server.mailbox.reset();
  await expect.poll(() => detail(page).getByRole('alert').textContent()).toMatch(/There is no request with this id/);
});

test('texts of a request are shown as texts', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  const path = `/v1/${encodeURIComponent('<img src=x onerror=alert(1)>')}`;
  const body = '{"url":"<script>alert(1)</script>","events":[]}';
  await send(server, 'GET', path, server.mailbox.keys.acme.tenant);
  await send(server, 'POST', '/v1/webhooks', server.mailbox.keys.acme.tenant, body);
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => dialogs.push(dialog.message()));
  for (const id of ['req_1', 'req_2']) {
    await page.goto(`${server.control}/#/requests/${id}`);
    await detail(page).locator('.reason').waitFor();
    expect(await detail(page).locator('img, script').count()).toBe(0);
  }
  await expect.poll(() => detail(page).getByText('<script>alert(1)</script>').count()).toBeGreaterThan(0);
  expect(dialogs).toEqual([]);
});

const SCREENS = [
  { width: 1280, dark: false },
  { width: 400, dark: true },
];

test.for(SCREENS)('the view is accessible and fits at $width px, dark: $dark', async ({ width, dark }, context) => {
  const { expect } = context;
  const { page, server } = await open(context, { width, dark });
  await sendRefused(server);
  for (const hash of ['', '/req_1']) {
    await page.goto(`${server.control}/#/requests${hash}`);
    await page.locator('.row:visible, .reason:visible').first().waitFor();
    await openAll(page);
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }
});

test('a row says in which sandbox a request was, its path, and the subject of its mail', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/requests' });
  const sandbox = server.mailbox.createSandbox({ name: 'checkout' });
  const to = `helpdesk@${sandbox.domain}`;
  const [message] = await sandbox.receiveMessage({ to, from: 'dana@customer.test', subject: 'Where is my order?' });
  await send(server, 'GET', `/v1/inboxes/${message?.inboxId}/messages/${message?.id}`, sandbox.keys.inboxes.helpdesk);
  await send(server, 'GET', '/v1/webhooks', sandbox.keys.workspaces.support);
  await expect
    .poll(() => rows(page).nth(1).textContent())
    .toMatch(/getMessage Where is my order\? \/v1\/inboxes\/.*checkout \/ helpdesk/);
  expect(await rows(page).first().textContent()).toMatch(/listWebhooks \/v1\/webhooks.*checkout \/ Support/);
  await page.getByRole('searchbox').fill('checkout getMessage');
  await expect.poll(() => rows(page).count()).toBe(1);
});
