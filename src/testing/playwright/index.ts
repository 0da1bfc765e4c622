import { type BrowserContext, test as base } from '@playwright/test';
import { http, ws } from 'msw';
import type { Mailbox } from '../../control/mailbox-interface.ts';
import { createHandlers } from '../../mailbox/msw.ts';
import { startServer } from '../../server/index.ts';
import { type EmulatorAddress, MailboxClient, readEmulatorAddress, SandboxClient } from '../client/mailbox-client.ts';

export { type ClockClient, type EmulatorAddress, MailboxClient, SandboxClient } from '../client/mailbox-client.ts';

/** The fixtures of a test. */
export interface MailboxFixtures {
  /** The whole emulator, which other tests of the same worker or of a shared server use too. */
  readonly mailbox: MailboxClient;
  /**
   * A sandbox that only this test uses. It is closed at the end of the test. If the test fails, a trace of the sandbox is
   * attached to it.
   */
  readonly sandbox: SandboxClient;
}

/** The emulator of a worker. */
export interface Emulator extends EmulatorAddress {
  /** Answers the requests of pages; undefined for a running emulator, which pages call directly. */
  readonly mailbox: Pick<Mailbox, 'fetch' | 'stream'> | undefined;
}

/** What all tests of a worker share. */
export interface WorkerFixtures {
  /**
   * The running emulator that `MAILBOX_URLS` or `AGENT_MAILBOX_URL` names or, without these, one that the worker
   * starts.
   */
  readonly emulator: Emulator;
}

/** The URL that pages call if the worker has started the emulator. */
const INTERCEPTED_URL = 'https://mailbox.test';

/**
 * The `test` of Playwright, with an emulator and a sandbox for each test. The environment variable `AGENT_MAILBOX_URL`
 * has the URL of a running emulator, and `AGENT_MAILBOX_TOKEN` its control token. Or `MAILBOX_URLS` has several URLs,
 * separated by commas; each worker uses one of them. Without these variables, each worker starts an emulator, which
 * answers the requests of pages to `https://mailbox.test`; this needs the package `@msw/playwright`.
 *
 * @example
 * test('the answer is sent', async ({ page, sandbox }) => {
 *   await page.goto(`/inbox?key=${sandbox.keys.inboxes.helpdesk}`);
 *   await sandbox.waitForMessage({ to: 'dana@customer.test' });
 * });
 */
export const test = base.extend<MailboxFixtures, WorkerFixtures>({
  emulator: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern which fixtures are used.
    async ({}, use) => {
      const running = readEmulatorAddress();
      if (running) return use({ ...running, mailbox: undefined });
      const { mailbox, control, close } = await startServer({ port: 0 });
      await use({ baseUrl: INTERCEPTED_URL, control, token: undefined, mailbox });
      return close();
    },
    { scope: 'worker' },
  ],
  async mailbox({ context, emulator }, use) {
    const stop = emulator.mailbox && (await answerPages(context, emulator.mailbox));
    await use(new MailboxClient(emulator));
    await stop?.();
  },
  async sandbox({ mailbox: _, emulator }, use, testInfo) {
    // Only this test uses the emulator of its worker. A running emulator may have other tests at the same time.
    const sandbox = await SandboxClient.create(emulator, emulator.mailbox ? { refusals: 'all' } : {});
    await use(sandbox);
    if (testInfo.status !== testInfo.expectedStatus) {
      // A trace that cannot be read must not hide why the test failed.
      const body = await sandbox.trace().catch(({ message }: Error) => message);
      await testInfo.attach('mailbox-trace.jsonl', { body, contentType: 'application/jsonl' });
    }
    await sandbox.close();
  },
});

/** Answers the requests of all pages of a context, and returns a function that stops this. */
async function answerPages(context: BrowserContext, mailbox: Pick<Mailbox, 'fetch' | 'stream'>) {
  const { defineNetworkFixture } = await import('@msw/playwright').catch((cause: unknown) => {
    throw new Error('To answer requests of a page, install @msw/playwright and msw, or set AGENT_MAILBOX_URL.', {
      cause,
    });
  });
  const handlers = createHandlers({ http, ws }, INTERCEPTED_URL, {
    fetch: (request) => mailbox.fetch(request).catch(() => Response.error()),
    connect: (request) => mailbox.stream(request),
    // The server reports its failures itself.
    report: () => undefined,
  });
  const network = defineNetworkFixture({ context, handlers, onUnhandledRequest: 'bypass' });
  await network.enable();
  return () => network.disable();
}
