import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { afterAll, beforeAll, type TestContext } from 'vitest';
import { PATIENCE_MS } from './patience.ts';

/** The first is the same browser without windows, tabs and menus of its own, which take more than half of the time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FOLDERS = ['/usr/bin', '/usr/local/bin', '/snap/bin', ...(process.env.PATH ?? '').split(delimiter)];
const MAC_APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

export const HOW_TO_GET_ONE =
  'There is no Chromium: run `apt-get install chromium-headless-shell` or `apt-get install chromium`, or set CHROMIUM_PATH to one.';

/** Names under `.test` lead to this machine, so a page can have an origin that is not loopback without any DNS. */
export const FLAGS = [
  '--host-resolver-rules=MAP *.test 127.0.0.1',
  '--no-proxy-server',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Call once at the top of a test file. Returns a function that opens a browser profile for one test and closes it.
 * Without a browser, the test is skipped, except in CI, where it fails.
 */
export function useBrowser(): (test: TestContext) => Promise<BrowserContext> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    const executablePath = findBrowser();
    if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: FLAGS });
    else if (process.env.CI) throw new Error(HOW_TO_GET_ONE);
    else process.stderr.write(`${HOW_TO_GET_ONE}\n`);
  });
  afterAll(() => browser?.close());

  return async ({ skip, onTestFinished }) => {
    if (!browser) return skip(HOW_TO_GET_ONE);
    const context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE_MS);
    onTestFinished(() => context.close());
    return context;
  };
}

export function findBrowser(): string | undefined {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  return [...NAMES.flatMap((name) => FOLDERS.map((folder) => join(folder, name))), ...MAC_APPS].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The text of each page, script or other file, by path. */
export type Pages = Record<string, string>;

/** A server of pages on a loopback port of its own. */
export interface PageServer extends AsyncDisposable {
  readonly port: number;
}

/** Serves these pages, and an empty answer with 404 on every other path. */
export async function servePages(pages: Pages): Promise<PageServer> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const page = pages[path];
    const type = path.endsWith('.js') ? 'text/javascript' : 'text/html';
    response.writeHead(page === undefined ? 404 : 200, { 'Content-Type': type }).end(page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
