import type { Page } from 'playwright-core';
import { describe, test } from 'vitest';
import type { MailboxServer } from '../../src/server/start-server.ts';
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
});
