import { readFile } from 'node:fs/promises';
import { build, type Rolldown } from 'vite';
import { type PageServer, type Pages, servePages } from '../support/browser.ts';
import { ROOT } from '../support/root.ts';

/** Builds `app/` with Vite, as a user's front end is built, and serves it with msw's worker script beside it. */
export async function serveFrontEnd(): Promise<PageServer> {
  const [built, workerScript] = await Promise.all([
    build({
      configFile: false,
      root: `${ROOT}test/browser/app`,
      publicDir: false,
      resolve: { alias: { 'agent-mailbox-mock': `${ROOT}src/mailbox/index.ts` } },
      build: { write: false, minify: false },
      logLevel: 'error',
    }),
    readFile(`${ROOT}node_modules/msw/lib/mockServiceWorker.js`, 'utf8'),
  ]);
  const { output } = built as Rolldown.RolldownOutput;
  const pages: Pages = { '/mockServiceWorker.js': workerScript };
  for (const file of output) pages[`/${file.fileName}`] = file.type === 'chunk' ? file.code : String(file.source);
  return servePages({ ...pages, '/': pages['/index.html'] ?? '' });
}
