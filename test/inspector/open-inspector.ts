import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type TestContext, vi } from 'vitest';
import type { MailboxServer, ServerOptions } from '../../src/server/start-server.ts';
import { useBrowser } from '../support/browser.ts';
import { DIST } from '../support/dist.ts';

type StartServer = (options: ServerOptions) => Promise<MailboxServer>;

/** A running emulator with its inspector open in a browser. */
export interface OpenInspector {
  readonly server: MailboxServer;
  readonly page: Page;
}

/** How the inspector is opened. */
interface OpenOptions {
  /** The part of the URL behind `/__mock/`. Default: the view of mail. */
  readonly hash?: string;
  readonly options?: ServerOptions;
  readonly width?: number;
  readonly dark?: boolean;
  /** Whether the page has no token yet, and so does not come alive. */
  readonly isRefused?: boolean;
}

/** Starts the built package, because only that has the files of the inspector. */
export function startBuiltServer(options: ServerOptions = {}): Promise<MailboxServer> {
  const load = createRequire(import.meta.url);
  const { startServer } = load(join(DIST, 'server.cjs')) as { startServer: StartServer };
  return startServer({ port: 0, ...options });
}

/** Call once at the top of a test file. Returns a function that opens the inspector of a new server for one test. */
export function useInspector(): (test: TestContext, how?: OpenOptions) => Promise<OpenInspector> {
  // A browser takes long if other tests run too.
  vi.setConfig({ testTimeout: 120_000 });
  const openProfile = useBrowser();
  return async (test, { hash = '#/mail', options, width = 1280, dark = false, isRefused = false } = {}) => {
    const profile = await openProfile(test);
    const server = await startBuiltServer(options);
    test.onTestFinished(() => server.close());
    const page = await profile.newPage();
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    await page.goto(`${server.control}/${hash}`);
    if (!isRefused) await page.getByText('Live', { exact: true }).waitFor();
    return { server, page };
  };
}

/** Agrees to the next question of a page or cancels it, and resolves to its text. */
export async function answerNext(page: Page, isAgreed: boolean): Promise<string> {
  const question = page.getByRole('alertdialog');
  const texts = [question.getByRole('heading'), question.getByRole('paragraph').first()];
  const [title, text] = await Promise.all(texts.map((each) => each.textContent()));
  const [cancel, agree] = [question.getByRole('button').first(), question.getByRole('button').last()];
  await (isAgreed ? agree : cancel).click();
  return `${title} ${text}`;
}
