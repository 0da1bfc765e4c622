// Walks through the inspector of the built package in a real browser, as its users walk: `npm run test:all -- page`. Letters
// behind `--` choose some of them. Without a browser it is skipped on a machine of a developer, and fails in CI.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { buildPart } from '../../.config/build.ts';
import type { MailboxServer, ServerOptions } from '../../src/server/start-server.ts';
import { createReceiver } from '../../src/testing/receiver/index.ts';
import { FLAGS, findBrowser, HOW_TO_GET_ONE } from '../support/browser.ts';
import { DIST } from '../support/dist.ts';
import { WALKS } from './walks.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const wanted = process.argv.slice(2).join('');
const executablePath = findBrowser();
if (executablePath === undefined) {
  print(`${process.env.CI ? 'failed' : 'skipped'}: ${HOW_TO_GET_ONE}`);
  process.exit(process.env.CI ? 1 : 0);
}

await buildPart('code');
const { startServer } = createRequire(import.meta.url)(join(DIST, 'server.cjs')) as {
  startServer: (options: ServerOptions) => Promise<MailboxServer>;
};
const browser = await chromium.launch({ executablePath, args: FLAGS });

let failed = 0;
for (const { letter, what, maxClicks, walk, width = 1280, options } of WALKS) {
  if (wanted !== '' && !wanted.includes(letter)) continue;
  const server = await startServer({ port: 0, ...options });
  await using receiver = await createReceiver();
  const context = await browser.newContext({ viewport: { width, height: 844 }, acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  let clicks = 0;
  try {
    await walk({
      server,
      receiver,
      page,
      async open(hash) {
        await page.goto(`${server.control}/${hash}`);
        await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' });
        clicks = 0;
      },
      async click(locator) {
        clicks += 1;
        await locator.click();
      },
    });
    if (maxClicks !== undefined && clicks > maxClicks) throw new Error(`It took ${clicks} clicks.`);
    print(`passed: (${letter}) ${what}, ${clicks} ${clicks === 1 ? 'click' : 'clicks'}`);
  } catch (error) {
    failed += 1;
    print(`failed: (${letter}) ${what}: ${error instanceof Error ? error.message : error}`);
  } finally {
    await context.close();
    await server.close();
  }
}
await browser.close();
print(failed === 0 ? 'Every walk works.' : `${failed} failed.`);
process.exitCode = failed === 0 ? 0 : 1;
