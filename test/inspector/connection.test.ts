import { connect, createServer, type Socket } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, type TestContext, test } from 'vitest';
import type { MailboxServer, ServerOptions } from '../../src/server/start-server.ts';
import { findViolations } from './find-violations.ts';
import { answerNext, startBuiltServer, useInspector } from './open-inspector.ts';

const open = useInspector();

const bar = (page: Page) => page.getByRole('region', { name: 'Connection' });

/** Starts an emulator where another one was. */
async function startAgain(context: TestContext, { port }: MailboxServer, options: ServerOptions = {}) {
  const next = await startBuiltServer({ port, ...options });
  context.onTestFinished(() => next.close());
  return next;
}

describe('the page, when the emulator is gone', () => {
  test('says since when and when it tries again, and is right without a reload when another one is there', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    for (const subject of ['Of the first', 'To be deleted']) {
      await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject });
    }
    await page.locator('.row', { hasText: 'To be deleted' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await answerNext(page, true);
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await page.locator('.row', { hasText: 'To be deleted' }).waitFor({ state: 'hidden' });
    await page.locator('.row', { hasText: 'Of the first' }).click();
    await page.getByRole('heading', { name: 'Of the first' }).waitFor();
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));

    await server.close();
    const sentence = /^ ?The emulator has not answered since \d\d:\d\d:\d\d UTC\. Trying again (?:in \d s|now)\./;
    await expect.poll(() => bar(page).textContent()).toMatch(sentence);
    await page.getByRole('heading', { name: 'Of the first' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);

    const next = await startAgain(context, server);
    await next.mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: 'dana@customer.test',
      subject: 'Of the second',
    });
    await bar(page).waitFor({ state: 'detached' });
    await page.locator('.row', { hasText: 'Of the second' }).waitFor();
    await expect.poll(() => page.locator('.row', { hasText: 'Of the first' }).count()).toBe(0);
    await page.getByText('There is no message with this id.').waitFor();
    // The second emulator does not have the checkpoint that the undo restores.
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
  });

  test('tries at once when somebody asks for it', async (context) => {
    const { page, server } = await open(context);
    await server.close();
    await bar(page).waitFor();
    const failed = page.waitForEvent('requestfailed');
    // From here on no timer of the page runs, so it tries no more after the try that is already planned.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await failed;
    await bar(page).getByText('Trying again in 4 s.').waitFor();
    await startAgain(context, server);
    await bar(page).getByRole('button', { name: 'Try now' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('keeps what is typed', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/mail?compose=true' });
    await page.getByLabel('Subject').fill('A long text');
    await server.close();
    await bar(page).waitFor();
    await page.getByRole('button', { name: 'Deliver', exact: true }).click();
    await page.getByRole('alert').getByText('The emulator does not answer.').waitFor();
    await startAgain(context, server);
    await bar(page).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Subject').inputValue()).toBe('A long text');
  });

  test('finds, when it is there again, what was searched for in the meantime', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    await server.close();
    await bar(page).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('invoice 1042');
    await page.getByRole('dialog').getByText('Searching…').waitFor();
    await page.keyboard.press('Enter');
    await startAgain(context, server);
    await page.getByRole('heading', { name: 'Invoice 1042' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('shows nothing of a single short break', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const relay = await startRelay(context, server.port);
    await page.goto(`http://127.0.0.1:${relay.port}/__mock/#/mail`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('.row').first().waitFor();
    // Each text that the page shows from now on.
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => seen.push(document.body.innerText)).observe(document.body, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
    const feeds = relay.connections();
    relay.cut();
    await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Meanwhile' });
    await page.locator('.row', { hasText: 'Meanwhile' }).waitFor();
    expect(relay.connections()).toBeGreaterThan(feeds);
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen.join('\n'));
    expect(seen).toContain('Meanwhile');
    expect(seen).not.toMatch(/Not connected|Connecting|does not answer|not answered|Loading/);
  });

  test('shows the data again when a later emulator needs no token', async (context) => {
    const token = 'a-token-of-sixteen';
    const { page, server } = await open(context);
    await server.close();
    const second = await startBuiltServer({ port: server.port, controlToken: token });
    await page.getByLabel('Token').waitFor();
    await second.close();
    await startAgain(context, server);
    await page.locator('.row', { hasText: 'Invoice 1042' }).waitFor();
  });
});

/** Starts a server that passes bytes on to a port, and can cut all of its connections. */
async function startRelay(context: TestContext, port: number) {
  const open = new Set<Socket>();
  let count = 0;
  const relay = createServer((client) => {
    count += 1;
    const server = connect(port, '127.0.0.1');
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => open.delete(socket));
    }
    client.pipe(server).pipe(client);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  context.onTestFinished(() => {
    relay.close();
    cut();
  });
  const { port: relayPort } = relay.address() as { port: number };
  return { port: relayPort, cut, connections: () => count };
}
