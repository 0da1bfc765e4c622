import { setupServer } from 'msw/node';
import type { TestAPI } from 'vitest';
import { type CreateMailboxTest, createTestsWith, type MailboxFixtures } from './create-tests.ts';
import { Interceptor } from './mailbox-router.ts';

export type { MailboxMatchers } from '../matchers/index.ts';
export { type CreateMailboxTest, type MailboxFixtures, sandboxTest } from './create-tests.ts';

const server = setupServer();

/** The only interceptor of the process, because with two msw servers, neither would answer requests for the other. */
const interceptor = new Interceptor({
  start: (options) => server.listen(options),
  stop: () => server.close(),
  resetHandlers: (...handlers) => server.resetHandlers(...handlers),
});

/** Creates a `test` whose mailbox has other options or another fixture; see {@link CreateMailboxTest}. */
export const createMailboxTest: CreateMailboxTest = createTestsWith(interceptor);

/**
 * The `test` of vitest, with a mailbox and a sandbox for each test, in process.
 *
 * @example
 * test('the customer gets an answer', async ({ mailbox, sandbox }) => {
 *   await runAgent({ baseUrl: mailbox.baseUrl, apiKey: sandbox.keys.inboxes.helpdesk });
 *   expect(sandbox).toHaveSentMail({ to: 'dana@customer.test' });
 * });
 */
export const test: TestAPI<MailboxFixtures> = createMailboxTest();
