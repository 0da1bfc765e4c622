import type { Page } from 'playwright-core';
import { describe, test } from 'vitest';
import type { MailboxServer } from '../../src/server/start-server.ts';
import { findViolations } from './find-violations.ts';
import { useInspector } from './open-inspector.ts';

const open = useInspector();

const receive = ({ mailbox }: MailboxServer, subject: string) =>
  mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject });

const getMe = ({ url, mailbox }: MailboxServer) =>
  fetch(`${url}/v1/me`, { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });

const rows = (page: Page) => page.locator('.list .row');

/** Scrolls the list, and returns the first row that is wholly visible, with its place in the window. */
async function scrollTo(page: Page, top: number): Promise<{ text: string; y: number }> {
  await page.locator('.list').evaluate((list, top) => list.scrollTo(0, top), top);
  return page.locator('.list').evaluate(async (list) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { top } = list.getBoundingClientRect();
    const row = [...list.querySelectorAll('.row')].find((each) => each.getBoundingClientRect().top >= top);
    return { text: row?.querySelector('.what')?.textContent ?? '', y: row?.getBoundingClientRect().top ?? 0 };
  });
}

describe('a list of the inspector', () => {
  test('marks the hits of a search, and shows a character that changes the direction of a text', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    await receive(server, 'Photo \u202egpj.exe');
    await page.getByLabel('Search mail').fill('subject:photo');
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(await rows(page).locator('mark').allTextContents()).toEqual(['Photo']);
    expect(await rows(page).locator('.control').allTextContents()).toEqual(['U+202E']);
    await rows(page).click();
    const heading = page.getByRole('heading', { level: 1 });
    await expect.poll(() => heading.locator('.control').allTextContents()).toEqual(['U+202E']);

    await getMe(server);
    await page.goto(`${server.control}/#/requests?search=getme`);
    await expect.poll(() => rows(page).locator('mark').allTextContents()).toEqual(['getMe']);
    server.mailbox.clock.freeze();
    server.mailbox.trigger('message.received', { webhookId: server.mailbox.ids.acme.webhooks.everything });
    await page.goto(`${server.control}/#/webhooks?search=received`);
    await expect.poll(() => rows(page).locator('mark').allTextContents()).toContain('received');
  });

  test('does not move when mail comes above what is read', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    for (let number = 1; number <= 100; number += 1) await receive(server, `Mail ${number}.`);
    await page.goto(`${server.control}/#/mail`);
    await rows(page).first().waitFor();
    const before = await scrollTo(page, 2_000);
    expect(before.text).toMatch(/^(?:Unread: )?Mail \d+\.$/);
    for (let number = 101; number <= 105; number += 1) await receive(server, `Mail ${number}.`);
    await page.getByRole('region', { name: 'Mail, 111 messages' }).waitFor();
    const row = rows(page).filter({ has: page.locator('.what', { hasText: before.text }) });
    await expect.poll(async () => Math.round((await row.boundingBox())?.y ?? 0)).toBe(Math.round(before.y));
  });

  test('does not move when requests come above what is read', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    const ask = async (from: number, to: number) => {
      for (let number = from; number <= to; number += 1) await fetch(`${server.url}/v1/none-${number}-`);
    };
    await ask(1, 100);
    await page.goto(`${server.control}/#/requests`);
    await rows(page).first().waitFor();
    const before = await scrollTo(page, 2_000);
    await ask(101, 105);
    await page.getByRole('region', { name: 'Requests, 105 of 105' }).waitFor();
    const [row] = await page
      .locator('.list')
      .evaluate(
        (list, text) =>
          [...list.querySelectorAll('.row')]
            .filter((each) => each.querySelector('.what')?.textContent === text)
            .map((each) => each.getBoundingClientRect().top),
        before.text,
      );
    expect(Math.round(row ?? 0)).toBe(Math.round(before.y));
  });

  test('opens with 10,000 requests, of which only the visible ones are rendered', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state', options: { journalSize: 10_000 } });
    const headers = { 'X-API-Key': server.mailbox.keys.acme.tenant };
    for (let count = 0; count < 10_000; count += 1)
      await server.mailbox.fetch('https://mailbox.test/v1/me', { headers });
    await page.goto(`${server.control}/#/requests`);
    const list = page.getByRole('region', { name: 'Requests, 10000 of 10000' });
    await list.getByText('getMe').first().waitFor();
    await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await list.locator('li[aria-posinset="10000"]').click();
    await page.getByRole('heading', { level: 1, name: 'getMe' }).waitFor();
    expect(page.url()).toContain('/req_1');
    expect(await list.locator('li').count()).toBeLessThan(60);
  });

  test('shows a request in one line of 40 pixels, or in three lines, which is kept', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/requests', width: 1440 });
    await fetch(`${server.url}/v1/webhooks`, {
      method: 'POST',
      headers: { 'X-API-Key': server.mailbox.keys.acme.inboxes.helpdesk },
    });
    const cell = (name: string) => rows(page).locator(`.${name}`).innerText();
    await expect.poll(() => cell('kind')).toBe('POST');
    expect(await cell('what')).toContain('createWebhook');
    expect(await cell('state')).toContain('403');
    expect(await cell('duration')).toMatch(/^[\d.,]+ ms$/);
    expect(await cell('owner')).toBe('helpdesk@acme.test');
    expect(await cell('when')).toMatch(/^\d\d:\d\d:\d\d\s+\d+ s ago$/);
    await page.getByLabel('Search requests').fill('helpdesk');
    await expect.poll(() => rows(page).locator('.owner mark').innerText()).toBe('helpdesk');
    await page.getByLabel('Search requests').fill('');
    const heightOf = async () => (await rows(page).boundingBox())?.height;
    await expect.poll(heightOf).toBe(40);
    await page.getByRole('button', { name: 'Comfortable rows' }).click();
    await expect.poll(heightOf).toBeGreaterThan(60);
    await page.reload();
    await expect.poll(heightOf).toBeGreaterThan(60);
    expect(await rows(page).innerText()).toContain('helpdesk@acme.test');
    await page.getByRole('button', { name: 'Comfortable rows', pressed: true }).click();
    await expect.poll(heightOf).toBe(40);
  });

  test('is one Tab stop, from which the arrows go on', async (context) => {
    const { expect } = context;
    const { page } = await open(context);
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    await rows(page).nth(2).waitFor();
    // The last tool before the list.
    await page.getByLabel('Threads').focus();
    await page.keyboard.press('Tab');
    expect(await focused()).toBe(await rows(page).first().textContent());
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe(await rows(page).nth(1).textContent());
    await page.keyboard.press('End');
    await expect.poll(focused).toBe(await rows(page).last().textContent());
    expect(await rows(page).evaluateAll((all) => all.filter((row) => (row as HTMLElement).tabIndex === 0).length)).toBe(
      1,
    );
    await page.keyboard.press('Tab');
    expect(await page.locator('.list:has(:focus)').count()).toBe(0);
    await page.keyboard.press('Shift+Tab');
    expect(await focused()).toBe(await rows(page).last().textContent());
  });

  for (const width of [1280, 400]) {
    test(`opens with Enter what j chose, ${width} pixels wide, and returns to it`, async (context) => {
      const { expect } = context;
      const { page } = await open(context, { width });
      await rows(page).nth(2).waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      const chosen = page.locator('.row:focus');
      await expect.poll(() => chosen.textContent()).toContain('Shall we talk?');
      expect(page.url()).toMatch(/#\/mail$/);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Shall we talk?' }).waitFor();
      await expect.poll(() => page.locator('.detail:focus').count()).toBe(1);
      await page.keyboard.press('k');
      await page.getByRole('heading', { name: 'Opening hours' }).waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => chosen.textContent()).toContain('Opening hours');
    });
  }

  test('keeps the row with the focus while it is scrolled out of view', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    for (let number = 1; number <= 100; number += 1) await receive(server, `Mail ${number}.`);
    await page.goto(`${server.control}/#/mail`);
    await rows(page).first().waitFor();
    await page.keyboard.press('j');
    await page.locator('.row:focus', { hasText: 'Mail 100.' }).waitFor();
    await scrollTo(page, 4_000);
    await page.keyboard.press('ArrowDown');
    await page.locator('.row:focus', { hasText: 'Mail 99.' }).waitFor();
    expect(await page.locator('.row:focus').boundingBox()).toMatchObject({ y: expect.closeTo(250, -3) });
  });

  test('marks a row that has just come, without motion if the person wants none', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    await rows(page).first().waitFor();
    const styleOf = (subject: string) =>
      page.locator('.row.arrived', { hasText: subject }).evaluate((row) => {
        const { animationName, backgroundColor } = getComputedStyle(row);
        return { animationName, isColoured: backgroundColor !== 'rgba(0, 0, 0, 0)' };
      });
    await receive(server, 'With motion');
    expect(await styleOf('With motion')).toEqual({ animationName: 'arrived', isColoured: true });
    await expect.poll(() => page.locator('.row.arrived').count()).toBe(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await receive(server, 'Without motion');
    expect(await styleOf('Without motion')).toEqual({ animationName: 'none', isColoured: true });
    await expect.poll(() => page.locator('.row.arrived').count()).toBe(0);
    // Another list has no new rows.
    await page.getByLabel('Search mail').fill('motion');
    await expect.poll(() => rows(page).count()).toBe(2);
    expect(await page.locator('.row.arrived').count()).toBe(0);
  });

  test('keeps what is open, and the former list, until the next is loaded', async (context) => {
    const { expect } = context;
    const { page } = await open(context);
    let release = () => {};
    const hold = async (pattern: RegExp) => {
      const isReleased = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(pattern, async (route) => {
        await isReleased;
        await route.continue();
      });
    };
    await rows(page).filter({ hasText: 'Opening hours' }).click();
    await page.getByRole('heading', { name: 'Opening hours' }).waitFor();
    await hold(/\/__mock\/messages\/[\da-f-]+$/);
    await rows(page).filter({ hasText: 'Invoice 1042' }).click();
    await page.locator('.row[aria-current]', { hasText: 'Invoice 1042' }).waitFor();
    expect(await page.getByRole('heading', { level: 1, name: 'Opening hours' }).count()).toBe(1);
    await page.locator('article[aria-busy=true]').waitFor();
    release();
    await page.getByRole('heading', { level: 1, name: 'Invoice 1042' }).waitFor();
    await page.locator('article[aria-busy=false]').waitFor();

    await hold(/\/messages\/search/);
    const asked = page.waitForRequest(/search=opening/);
    await page.getByLabel('Search mail').fill('opening');
    await asked;
    expect(await rows(page).count()).toBeGreaterThan(2);
    expect(await page.getByText('Loading…').count()).toBe(0);
    release();
    await expect.poll(() => rows(page).count()).toBe(1);
  });

  test('has two columns at 1024 pixels, and nothing is cut', async (context) => {
    const { expect } = context;
    const { page } = await open(context, { width: 1024 });
    await rows(page).filter({ hasText: 'Opening hours' }).click();
    await page.getByRole('heading', { name: 'Opening hours' }).waitFor();
    const boxOf = async (selector: string) => {
      const box = await page.locator(selector).boundingBox();
      return { left: box?.x ?? 0, right: (box?.x ?? 0) + (box?.width ?? 0), width: box?.width ?? 0 };
    };
    const [tree, list, detail] = [await boxOf('.tree'), await boxOf('.column'), await boxOf('.detail')];
    expect([tree.left, tree.right]).toEqual([list.left, list.right]);
    expect(list.right).toBe(detail.left);
    expect(detail.right).toBe(1024);
    expect(list.width).toBeGreaterThan(300);
    expect(detail.width).toBeGreaterThan(500);
    await page.getByText('Inboxes', { exact: true }).click();
    await page.getByRole('link', { name: /^billing/ }).click();
    await page.getByText('Invoice 1042').first().waitFor();
  });

  for (const dark of [false, true]) {
    test(`has enough contrast in every state of a row, ${dark ? 'dark' : 'light'}`, async (context) => {
      const { expect } = context;
      const { page, server } = await open(context, { dark });
      const statuses = async () => {
        await getMe(server);
        await fetch(`${server.url}/v1/me`);
        server.mailbox.addFault({ on: 'request', operation: 'getMe', status: 503, times: 1 });
        await getMe(server);
      };
      await statuses();
      await page.goto(`${server.control}/#/requests`);
      for (const status of ['503', '401', '200']) {
        const row = rows(page).filter({ hasText: status });
        await row.hover();
        expect(await findViolations(page), `${status} with the pointer on it`).toEqual([]);
        await row.focus();
        expect(await findViolations(page), `${status} with the focus`).toEqual([]);
        await row.click();
        await page.locator('.row[aria-current]', { hasText: status }).waitFor();
        await page.locator('article[aria-busy=false]').waitFor();
        expect(await findViolations(page), `${status}, open, with both`).toEqual([]);
        await page.mouse.move(0, 0);
        expect(await findViolations(page), `${status}, open`).toEqual([]);
        await page.keyboard.press('Escape');
      }
    });
  }
});
