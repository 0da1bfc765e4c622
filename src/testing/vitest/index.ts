import { setupServer } from 'msw/node';
import { test as base, type TestAPI } from 'vitest';
import type { EvaluatedAgent, EvaluateOptions, ScenarioInput } from '../evaluate/index.ts';
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

/** How long the test of a scenario may take besides its trials, in milliseconds. */
const EXTRA_MS = 30_000;

/**
 * Defines a test for each scenario, which fails unless every trial of the scenario and of its twin passes or, with
 * `require`, unless so large a share of the trials of each passes. Await it at the top of the test file.
 *
 * @throws {ScenarioError} for a mistake in a scenario, with its path and line; {@link TypeError} for an invalid option.
 * @example
 * await testScenarios(agent, 'scenarios/', { repeat: 3 });
 */
export async function testScenarios(
  agent: EvaluatedAgent,
  scenarios: ScenarioInput,
  options: EvaluateOptions = {},
): Promise<void> {
  // The server and the code of scenarios are loaded only here, because most tests need neither.
  const { prepareScenarios } = await import('../evaluate/index.ts');
  const { repeat = 1, timeoutMs = 60_000 } = options;
  for (const { name, run } of await prepareScenarios(agent, scenarios, options)) {
    const longestMs = 2 * repeat * timeoutMs + EXTRA_MS;
    base(name, { timeout: longestMs }, async () => {
      const result = await run();
      if (!result.isGateMet) throw new Error(String(result));
    });
  }
}
