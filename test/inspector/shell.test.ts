import type { Page } from 'playwright-core';
import { describe, type ExpectStatic, test } from 'vitest';
import { findViolations } from './find-violations.ts';
import { startBuiltServer, useInspector } from './open-inspector.ts';

const open = useInspector();

const TOKEN = 'a-token-of-sixteen';

/** The pages that a person sees, each with a text that it has once it is loaded. */
const PAGES = [
  ['run', 'Deliver a sample'],
  ['mail', 'Invoice 1042'],
  ['mail?folder=drafts', 'Choose a draft'],
  ['mail?compose=true', 'Deliver'],
  ['mail/ac3e0000-0006-4000-8000-000000000001?tab=headers', 'Message-ID'],
  ['keys/operator', 'createTenant'],
  ['time', 'operation'],
  ['choices?search=wrong-tier', '1 behaviour'],
  ['state', 'No checkpoint'],
  ['webhooks', 'There is no delivery yet'],
  ['webhooks?open=signature', 'Secret'],
  ['requests', 'No request here'],
  ['nowhere', 'There is no view'],
] as const;

/** Fails if the page is wider than the window. */
async function expectToFit(page: Page, expect: ExpectStatic): Promise<void> {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
}

describe('the inspector', () => {
  for (const dark of [false, true]) {
    for (const width of [1280, 400]) {
      const title = `has no problem that axe finds, ${dark ? 'dark' : 'light'} and ${width} pixels wide`;
      test(title, async (context) => {
        const { page, server } = await open(context, { dark, width });
        for (const [path, text] of PAGES) {
          await page.goto(`${server.control}/#/${path}`);
          await page.getByText(text).first().waitFor({ state: 'attached' });
          context.expect(await findViolations(page), path).toEqual([]);
          await expectToFit(page, context.expect);
        }
      });
    }
  }

  test('is used by the keyboard alone', async (context) => {
    const { expect } = context;
    const { page } = await open(context);
    await page.locator('.row').nth(2).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Shall we talk?' }).waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Opening hours' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Choose a mail.').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('/');
    await page.locator('input[type=search]:focus').waitFor();
    await page.keyboard.type('jk');
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('jk');
    await page.keyboard.press('Escape');
    await page.keyboard.press('5');
    await page.getByRole('navigation', { name: 'Keys' }).waitFor();
    await page.getByRole('link', { name: 'Operator' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.locator('.branch:focus', { hasText: 'tk_acme_tenant_key' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'tk_acme_tenant_key' }).waitFor();
    await page.locator('.detail:focus').waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'sa_platform_operator_key' }).waitFor();
    expect(await page.locator('.tree [tabindex="0"]').count()).toBe(1);
  });

  test('leads by the keyboard alone from the start of the page to the story of a mail', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '' });
    await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'The story' });
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    await page.keyboard.press('Tab');
    await page.locator('.skip:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    await page.keyboard.press('2');
    const row = page.locator('.row', { hasText: 'The story' });
    await row.waitFor();
    await page.keyboard.press('j');
    await expect.poll(() => row.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The story' }).waitFor();
    const story = page.getByRole('list', { name: 'Webhooks of the tenant' });
    await story.getByText('it is not active').first().waitFor();
    await page.locator('.detail:focus').waitFor();
    const related = page.getByRole('link', { name: 'Requests that name it' });
    for (let count = 0; count < 20; count += 1) {
      if (await related.evaluate((element) => element === document.activeElement)) break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/requests?search=');
  });

  test('shows in every view that the clock is frozen, until a reset', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const frozen = page.getByRole('banner').getByRole('link').filter({ hasText: 'Frozen' });
    expect(await frozen.count()).toBe(0);
    server.mailbox.clock.freeze('2026-03-01T09:00:00Z');
    await expect.poll(() => frozen.textContent()).toMatch(/Frozen\s+2026-03-01 09:00:00 UTC$/);
    await server.mailbox.clock.advance('3d');
    await expect.poll(() => frozen.textContent()).toMatch(/Frozen\s+2026-03-04 09:00:00 UTC$/);
    await frozen.click();
    await page.getByRole('heading', { name: 'Time and faults' }).waitFor();
    server.mailbox.reset();
    await frozen.waitFor({ state: 'hidden' });
  });

  test('prints all that a view has, and not only what can be seen', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/requests' });
    const key = server.mailbox.keys.acme.tenant;
    for (let count = 0; count < 100; count += 1) {
      await fetch(`${server.url}/v1/inboxes?limit=${count}`, { headers: { 'X-API-Key': key } });
    }
    await page.getByLabel(/^Requests, 100/).waitFor();
    expect(await page.locator('.row').count()).toBeLessThan(100);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await expect.poll(() => page.locator('.row').count()).toBe(100);
    const isWhole = await page.evaluate(() => {
      const rows = [...document.querySelectorAll('.row')].map((row) => row.getBoundingClientRect().top);
      return (
        rows.every((top, index) => index === 0 || top > (rows[index - 1] ?? 0)) && document.body.scrollHeight > 2_000
      );
    });
    expect(isWhole).toBe(true);
    expect(await page.getByRole('navigation', { name: 'Views' }).isVisible()).toBe(false);
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await expect.poll(() => page.locator('.row').count()).toBeLessThan(100);
  });

  test('serves its icon where browsers look for one', async (context) => {
    const { expect } = context;
    await using server = await startBuiltServer();
    const reply = await fetch(`${server.url}/favicon.ico`);
    expect(reply.headers.get('content-type')).toBe('image/svg+xml');
    expect(server.mailbox.requests().map(({ path }) => path)).not.toContain('/favicon.ico');
  });

  test('does nothing on a key that is switched off', async (context) => {
    const { page } = await open(context);
    await page.keyboard.press('?');
    await page.getByLabel('Use these keys').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('3');
    context.expect(page.url()).toMatch(/#\/mail$/);
  });

  test('renders only the rows that are visible of 10,000 messages', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    for (let number = 1; number <= 10_000; number += 1) {
      await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'd@x.test', subject: `Mail ${number}` });
    }
    await page.goto(`${server.control}/#/mail`);
    const list = page.getByRole('region', { name: 'Mail, 10006 messages' });
    await list.getByText(/Mail 10000$/).waitFor();
    await list.evaluate((box) => box.scrollTo(0, box.scrollHeight / 2));
    await list.getByText(/Mail 5000$/).waitFor();
    expect(await list.locator('li').count()).toBeLessThan(60);
    await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await list.getByText('Cannot log in').last().waitFor();
  });

  test('asks once for the token, and keeps it for the tab', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { options: { controlToken: TOKEN }, isRefused: true });
    await page.getByLabel('Token').fill('another-token-of-it');
    await page.keyboard.press('Enter');
    await page.getByText('The token that you gave is not the token of this emulator.').waitFor();
    await page.getByLabel('Token').fill('тест→');
    await page.keyboard.press('Enter');
    await page.getByText('The token that you gave is not the token of this emulator.').waitFor();
    await page.getByLabel('Token').fill(`${TOKEN} `);
    await page.keyboard.press('Enter');
    await page.getByText('Invoice 1042').first().waitFor();
    await server.mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: 'dana@customer.test',
      subject: 'Framed',
      htmlBody: '<h2>In a frame</h2>',
    });
    await page.getByText('Framed').click();
    await page.frameLocator('iframe.mail-html').getByText('In a frame').waitFor();
    await page.reload();
    await page.getByText('Invoice 1042').first().waitFor();
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
  });

  test('asks for each thing once, and shows what happened while it connected', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url().replace(server.control, '')));
    for (const view of ['run', 'mail', 'webhooks', 'requests', 'keys', 'choices', 'state']) {
      await page.goto('about:blank');
      // The page before may ask for more until then.
      asked.length = 0;
      await page.goto(`${server.control}/#/${view}`);
      await page.getByText('Live', { exact: true }).waitFor();
      await page.waitForLoadState('load');
      await expect.poll(() => asked.length).toBeGreaterThan(4);
      expect(
        asked.filter((url, index) => asked.indexOf(url) < index),
        view,
      ).toEqual([]);
    }
  });

  test('asks for nothing but the feed while its token is wrong', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { options: { controlToken: TOKEN }, isRefused: true });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url().replace(server.control, '')));
    await page.reload();
    await page.getByLabel('Token').waitFor();
    // On a busy machine it may have asked for the feed again.
    expect([...new Set(asked.filter((path) => !path.startsWith('/inspector/')))]).toEqual(['/', '/feed']);
  });

  test('asks for the token again when the emulator was started with another one', async (context) => {
    const options = { controlToken: TOKEN };
    const { page, server } = await open(context, { options, isRefused: true });
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText('Live', { exact: true }).waitFor();
    await server.close();
    await page.getByText('Not connected').waitFor();
    const next = await startBuiltServer({ port: server.port, controlToken: 'another-token-of-it' });
    context.onTestFinished(() => next.close());
    await page.getByLabel('Token').waitFor();
  });

  test('shows what is wrong with a view, and the other views still work', async (context) => {
    const { page } = await open(context, { hash: '#/mail/unknown' });
    await page.getByText('There is no message with this id.').waitFor();
    await page.getByRole('link', { name: 'State' }).click();
    await page.getByRole('heading', { name: 'State' }).waitFor();
  });

  test('shows only what belongs to the chosen tenant, in every view', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    const { mailbox } = server;
    const names = ['lion', 'tiger'];
    for (const name of names) {
      const sandbox = mailbox.createSandbox({ name });
      const inbox = sandbox.snapshot().tenants[0]?.inboxes[0];
      const to = `${inbox?.username}@${inbox?.domain}`;
      await sandbox.receiveMessage({ to, from: 'dana@customer.test', subject: `Mail of ${name}` });
      await fetch(`${server.url}/v1/${name}`, { headers: { 'X-API-Key': sandbox.keys.tenant } });
      mailbox.addFault({ on: 'request', status: 503, operation: 'getMe', body: name, tenant: sandbox.id });
    }
    const main = page.getByRole('main');
    for (const [chosen, other] of [names, names.toReversed()]) {
      await page.getByLabel('Tenant', { exact: true }).selectOption({ label: `Sandbox ${chosen}` });
      for (const view of ['Run', 'Mail', 'Webhooks', 'Requests', 'Keys', 'Time and faults']) {
        await page.getByRole('link', { name: view, exact: true }).click();
        if (view !== 'Webhooks') await main.getByText(String(chosen)).first().waitFor();
        expect(await main.getByText(String(other)).count(), view).toBe(0);
        expect(page.url()).toContain('tenant=');
      }
      await page.getByRole('link', { name: 'Requests' }).click();
      await expect.poll(() => page.locator('.row').count()).toBe(1);
    }
    await page.getByLabel('Tenant', { exact: true }).selectOption('All tenants');
    await expect.poll(() => page.locator('.row').count()).toBe(2);
    expect(page.url()).not.toContain('tenant=');
  });

  test('says that the connection is lost, and shows without colours what may be out of date', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    await page.getByText('Invoice 1042').first().waitFor();
    const filter = () => page.getByRole('main').evaluate((main) => getComputedStyle(main).filter);
    expect(await filter()).toBe('none');
    await server.close();
    await page.getByRole('status').getByText('Not connected').waitFor();
    await expect.poll(filter).toBe('grayscale(1)');
    expect(await page.getByText('Invoice 1042').count()).toBeGreaterThan(0);
    const next = await startBuiltServer({ port: server.port });
    context.onTestFinished(() => next.close());
    await page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(filter).toBe('none');
  });

  test('says that a view is unknown', async (context) => {
    const { page } = await open(context, { hash: '#/nowhere' });
    await page.getByRole('heading', { name: 'There is no view “nowhere”' }).waitFor();
    await page.getByRole('link', { name: 'Open the run' }).click();
    await page.getByRole('heading', { name: 'Run', exact: true }).waitFor();
  });

  test('names in the title what is open', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const { mailbox } = server;
    const { helpdesk } = mailbox.keys.acme.inboxes;
    await fetch(`${server.url}/v1/me`, { headers: { 'X-API-Key': helpdesk } });
    mailbox.addFault({ on: 'delivery', kind: 'hold' });
    mailbox.trigger('message.received', { webhookId: mailbox.ids.acme.webhooks.everything });
    const [mail] = mailbox.searchMail({ search: 'Invoice 1042' }).messages;
    for (const [path, title] of [
      [`mail/${mail?.id}`, 'Invoice 1042 · Mail · Inspector'],
      ['mail', 'Mail · Inspector'],
      ['requests/req_1', 'getMe · Requests · Inspector'],
      [`webhooks/${mailbox.deliveries()[0]?.id}`, 'message.received, Held · Webhooks · Inspector'],
      [`keys/${mailbox.exposure(helpdesk).id}`, `${helpdesk} · Keys · Inspector`],
      ['keys', 'Keys · Inspector'],
    ] as const) {
      await page.goto(`${server.control}/#/${path}`);
      await expect.poll(() => page.title()).toBe(title);
    }
  });
});
