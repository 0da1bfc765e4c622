import type { Page } from 'playwright-core';
import { describe, test } from 'vitest';
import { findViolations } from './find-violations.ts';
import { useInspector } from './open-inspector.ts';

const open = useInspector();

const combobox = (page: Page) => page.getByRole('combobox', { name: 'Go to, or do something' });

const options = (page: Page) => page.getByRole('listbox', { name: 'Matches' }).getByRole('option');

/** Waits until the palette has loaded what it can find, and returns its options. */
async function readOptions(page: Page): Promise<string[]> {
  await page
    .getByRole('dialog')
    .getByText(/^(?:\d+ match|Nothing)/)
    .waitFor();
  return options(page).allTextContents();
}

describe('the command palette', () => {
  test('goes to a mail by the keyboard, also if Enter comes before the mail is found', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    const { mailbox } = server;
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'lee@x.test', subject: 'About order 7' });
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'lee@x.test', plainBody: 'a zebra' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('7 order');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'About order 7' }).waitFor();
    await combobox(page).waitFor({ state: 'detached' });
    expect(page.url()).toMatch(/#\/mail\/[\da-f-]+$/);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN');

    await page.keyboard.press('Control+k');
    await page.keyboard.type('zebra');
    expect(await readOptions(page)).toEqual([expect.stringMatching(/^\(no subject\).*lee@x\.test · a zebra.*Mail$/)]);
  });

  test('offers only views before something is typed, so that Enter changes nothing', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    server.mailbox.clock.freeze();
    const before = server.mailbox.clock.now();
    await page.keyboard.press('Control+k');
    await options(page).first().waitFor();
    const texts = await options(page).allTextContents();
    expect(texts.filter((text) => !text.endsWith('View'))).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toMatch(/#\/run$/);
    expect(server.mailbox.clock.now()).toEqual(before);
  });

  test('advances the clock by an hour, freezes it and lets it run', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    const { clock } = server.mailbox;
    const choose = async (text: string) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
      await combobox(page).waitFor({ state: 'detached' });
    };
    clock.freeze('2026-03-01T09:00:00Z');
    await page.getByRole('banner').getByText('Frozen').waitFor();
    await choose('hour advance');
    expect(clock.now().toISOString()).toBe('2026-03-01T10:00:00.000Z');
    await choose('clock run');
    await page.getByRole('banner').getByText('Frozen').waitFor({ state: 'hidden' });
    await choose('freeze');
    await page.getByRole('banner').getByText('Frozen').waitFor();
  });

  test('follows the keys of a combobox, and gives the focus back', async (context) => {
    const { expect } = context;
    const { page } = await open(context);
    const search = page.getByRole('searchbox');
    await search.focus();
    await page.keyboard.press('Control+k');
    const active = async () => {
      const id = String(await combobox(page).getAttribute('aria-activedescendant'));
      expect(await page.locator('[role=option][aria-selected=true]').getAttribute('id')).toBe(id);
      return page.locator(`[id="${id}"]`).textContent();
    };
    expect(await combobox(page).getAttribute('aria-expanded')).toBe('true');
    expect(await active()).toMatch(/^Run/);
    await page.keyboard.press('ArrowUp');
    expect(await active()).toMatch(/^State/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await active()).toMatch(/^Mail/);
    await page.keyboard.type('zebra');
    expect(await readOptions(page)).toEqual([]);
    expect(await combobox(page).getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await combobox(page).waitFor({ state: 'detached' });
    expect(await search.evaluate((field) => field === document.activeElement)).toBe(true);
  });

  test('finds requests, inboxes, sandboxes, views and samples, the best first', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const { mailbox } = server;
    const sandbox = mailbox.createSandbox({ name: 'lion' });
    await fetch(`${server.url}/v1/webhooks`, { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
    await page.getByRole('button', { name: 'Go to… Ctrl K' }).click();
    await combobox(page).fill('webhooks');
    expect(await readOptions(page)).toEqual([
      expect.stringMatching(/^WebhooksView$/),
      expect.stringMatching(/^listWebhooks 200.*req_1 · GET \/v1\/webhooks.*Request$/),
    ]);
    await options(page).last().click();
    await expect.poll(() => page.url()).toMatch(/#\/requests\/req_1$/);
    await combobox(page).waitFor({ state: 'hidden' });

    await page.keyboard.press('Control+k');
    await page.keyboard.type('outreach acme');
    expect((await readOptions(page))[0]).toBe('outreach@acme.testInbox');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`inbox=${mailbox.ids.acme.inboxes.outreach}`);
    await combobox(page).waitFor({ state: 'hidden' });

    await page.keyboard.press('Control+k');
    await page.keyboard.type('lion');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`#/run?tenant=${sandbox.id}`);
    await combobox(page).waitFor({ state: 'hidden' });

    await page.keyboard.press('Control+k');
    await page.keyboard.type('css hidden sample');
    expect(await readOptions(page)).toEqual([expect.stringMatching(/^Deliver the sample injection-hidden-by-css/)]);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Samples' }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => sandbox.samples().map(({ sample }) => sample.name)).toEqual(['injection-hidden-by-css']);
  });

  test('resets a chosen sandbox alone, after a question, and the reset can be undone', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const { mailbox } = server;
    const sandbox = mailbox.createSandbox({ name: 'lion' });
    const inbox = sandbox.snapshot().tenants[0]?.inboxes[0];
    await sandbox.receiveMessage({ to: `${inbox?.username}@${inbox?.domain}`, from: 'dana@customer.test' });
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test' });
    const [before, beforeAll] = [sandbox.searchMail().total, mailbox.searchMail().total];
    await page.goto(`${server.control}/#/mail?tenant=${sandbox.id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('reset');
    await page.getByRole('option', { name: 'Reset the sandbox lion' }).waitFor();
    await page.keyboard.press('Enter');
    const question = page.getByRole('alertdialog', { name: 'Reset the sandbox lion?' });
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect(sandbox.searchMail().total).toBe(before);
    await page.keyboard.press('Enter');
    await question.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => sandbox.searchMail().total).toBe(before - 1);
    expect(mailbox.searchMail().total).toBe(beforeAll - 1);
    await combobox(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => sandbox.searchMail().total).toBe(before);
  });

  test('says why something could not be done, and stays open', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/run' });
    for (let number = 1; number <= 100; number += 1) server.mailbox.checkpoint(`Number ${number}`);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('reset');
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Reset all data' }).click();
    await page.getByRole('dialog').getByText('keeps at most 100 checkpoints; remove one first.').waitFor();
    expect(await combobox(page).inputValue()).toBe('reset');
  });

  for (const dark of [false, true]) {
    test(`has no problem that axe finds, and fits, ${dark ? 'dark' : 'light'}`, async (context) => {
      const { expect } = context;
      const { page } = await open(context, { dark, width: 400 });
      await page.keyboard.press('Control+k');
      for (const text of ['', 'mail', 'zebra']) {
        await combobox(page).fill(text);
        if (text) await readOptions(page);
        expect(await findViolations(page), text).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      }
    });
  }

  test('is named in the header and in the keys', async (context) => {
    const { page } = await open(context);
    await page.getByRole('banner').getByText('Ctrl K').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Ctrl K').waitFor();
  });
});
