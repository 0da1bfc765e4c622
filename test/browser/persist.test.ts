import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type PageServer, useBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { serveFrontEnd } from './serve-front-end.ts';

const openProfile = useBrowser();
let frontEnd: PageServer;

beforeAll(async () => {
  frontEnd = await serveFrontEnd();
  return () => frontEnd[Symbol.asyncDispose]();
});

const CREATED = 'https://agent.example/hook';

async function openPage(profile: BrowserContext): Promise<{ page: Page; warnings: string[] }> {
  const page = await profile.newPage();
  const warnings: string[] = [];
  page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
  await page.goto(`http://127.0.0.1:${frontEnd.port}/`);
  return { page, warnings };
}

/** Creates a mailbox in a page and returns the URLs of the webhooks of its first tenant. */
function openMailbox(page: Page, persist: 'session' | 'local'): Promise<string[]> {
  return page.evaluate((kind) => {
    const mailbox = app.createMailbox({ persist: kind });
    Object.assign(globalThis, { mailbox });
    return mailbox.snapshot().tenants[0]?.webhooks.map(({ url }) => url) ?? [];
  }, persist);
}

/** Creates a webhook in the mailbox of a page. */
async function createWebhook(page: Page): Promise<void> {
  await page.evaluate(async (url) => {
    const { mailbox } = globalThis as unknown as { mailbox: Mailbox };
    const body = JSON.stringify({ url, events: ['message.received'] });
    const headers = { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
    await mailbox.fetch(new Request(`${mailbox.baseUrl}/v1/webhooks`, { method: 'POST', headers, body }));
  }, CREATED);
}

test.for(['session', 'local'] as const)(
  'a page keeps its state over a reload in its %s storage',
  async (kind, context) => {
    const { page } = await openPage(await openProfile(context));
    expect(await openMailbox(page, kind)).not.toContain(CREATED);
    await createWebhook(page);
    await page.reload();
    expect(await openMailbox(page, kind)).toContain(CREATED);
    await page.evaluate(() => (globalThis as unknown as { mailbox: { reset(): void } }).mailbox.reset());
    await page.reload();
    expect(await openMailbox(page, kind)).not.toContain(CREATED);
  },
);

test('two tabs share a state in their local storage, and not in that of the session', async (context) => {
  const profile = await openProfile(context);
  const [{ page: writer }, { page: reader }] = [await openPage(profile), await openPage(profile)];
  for (const page of [writer, reader]) await openMailbox(page, 'local');
  await createWebhook(writer);
  await reader.waitForFunction((url) => {
    const { mailbox } = globalThis as unknown as { mailbox: Mailbox };
    return mailbox.snapshot().tenants[0]?.webhooks.some((webhook) => webhook.url === url);
  }, CREATED);
  expect(await openMailbox(reader, 'session')).not.toContain(CREATED);
});

test('two tabs that change at the same moment end with the state that their storage has', async (context) => {
  const profile = await openProfile(context);
  const pages = [(await openPage(profile)).page, (await openPage(profile)).page];
  for (const page of pages) await openMailbox(page, 'local');
  const readState = (page: Page) =>
    page.evaluate(() => {
      const { mailbox } = globalThis as unknown as { mailbox: Mailbox };
      const kept = localStorage.getItem(`agent-mailbox-mock ${mailbox.baseUrl}`);
      return [JSON.stringify(mailbox.export()), kept];
    });
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(pages.map(createWebhook));
    await eventually(async () => {
      const states = await Promise.all(pages.map(readState));
      expect(new Set(states.flat()).size).toBe(1);
    });
  }
});

test.for(['{"operator":', '{"tenants":7}', 'null'])(
  'a page drops %s as its state with a warning',
  async (text, context) => {
    const { page, warnings } = await openPage(await openProfile(context));
    await page.evaluate((kept) => sessionStorage.setItem('agent-mailbox-mock https://mailbox.test', kept), text);
    expect(await openMailbox(page, 'session')).toHaveLength(2);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^agent-mailbox-mock: The saved state of the mailbox cannot be loaded, so it was removed\. ./,
      ),
    ]);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  },
);

test('a page whose storage is full goes on with a warning', async (context) => {
  const { page, warnings } = await openPage(await openProfile(context));
  await page.evaluate(() => sessionStorage.setItem('full', 'x'.repeat(5 * 1024 * 1024 - 100)));
  await openMailbox(page, 'session');
  await createWebhook(page);
  await eventually(() =>
    expect(warnings).toEqual([
      expect.stringContaining('The state of the mailbox cannot be saved; the emulator tries again until it can. '),
    ]),
  );
});

test('persist is refused outside of a page, and with another value', () => {
  expect(() => createMailbox({ persist: 'local' })).toThrow(
    new TypeError('The option persist works only in a page; a server keeps its data with --state <file>.'),
  );
  expect(() => createMailbox({ persist: 'cookie' as never })).toThrow(
    new TypeError('The option persist must be "session" or "local", not "cookie".'),
  );
});
