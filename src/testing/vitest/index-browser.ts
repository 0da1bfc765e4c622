// The entry for the browser mode of vitest. Its types and their comments are those of `index.ts`.

import { setupWorker } from 'msw/browser';
import type { TestAPI } from 'vitest';
import { type CreateMailboxTest, createTestsWith, type MailboxFixtures } from './create-tests.ts';
import { Interceptor } from './mailbox-router.ts';

export { sandboxTest } from './create-tests.ts';

const worker = setupWorker();

/** The only interceptor of the page, because all workers of msw in a page share its service worker. */
const interceptor = new Interceptor({
  start: (options) => worker.start({ ...options, quiet: true }),
  stop: () => worker.stop(),
  resetHandlers: (...handlers) => worker.resetHandlers(...handlers),
});

export const createMailboxTest: CreateMailboxTest = createTestsWith(interceptor);

export const test: TestAPI<MailboxFixtures> = createMailboxTest();
