import * as vitest from 'vitest';
import { test as base, expect, type TestAPI } from 'vitest';
import { checkOptions } from '../../basics/check-options.ts';
import type { SandboxIds, SandboxKeys } from '../../control/controllable-mailbox.ts';
import type { Mailbox } from '../../control/mailbox-interface.ts';
import type { DefaultIds, DefaultKeys, FixtureIds, FixtureKeys, NamedFixture } from '../../fixture/keys-and-ids.ts';
import { createMailbox } from '../../mailbox/create-mailbox.ts';
import { type MailboxOptions, SHARED_OPTION_NAMES } from '../../mailbox/mailbox.ts';
import type { FixtureInput, Sandbox } from '../../mailbox/without-msw.ts';
import type { EvaluatedAgent, EvaluateOptions, ScenarioInput } from '../evaluate/index.ts';
import { matchers } from '../matchers/matchers.ts';
import { readEmulatorAddress, SandboxClient } from '../playwright/mailbox-client.ts';
import { Interceptor, MailboxRouter } from './mailbox-router.ts';

export type { MailboxMatchers } from '../matchers/index.ts';

expect.extend(matchers);

/** The only interceptor of the process, because with two msw servers, neither would answer requests for the other. */
const interceptor = new Interceptor();

/** The fixtures of a test. */
export interface MailboxFixtures<Keys = DefaultKeys, Ids = DefaultIds> {
  /** A mailbox that only this test uses. It answers the requests to its `baseUrl`. */
  readonly mailbox: Mailbox<Keys, Ids>;
  /** A sandbox of this mailbox, with keys that no other test has. */
  readonly sandbox: Sandbox<SandboxKeys<Keys>, SandboxIds<Ids>>;
}

/**
 * Creates a `test` whose mailbox has these options, such as another `baseUrl` or fixture.
 *
 * @throws as `createMailbox` does, when a test gets its mailbox.
 * @example
 * const test = createMailboxTest({ baseUrl: 'https://api.example.com' });
 */
export function createMailboxTest(options?: Omit<MailboxOptions, 'fixtures'>): TestAPI<MailboxFixtures>;
/** Creates a `test` with a custom fixture; `keys` and `ids` then have the handles of that fixture. */
export function createMailboxTest<const F extends FixtureInput | NamedFixture>(
  options: MailboxOptions<F> & { readonly fixtures: F | undefined },
): TestAPI<MailboxFixtures<FixtureKeys<F>, FixtureIds<F>>>;
export function createMailboxTest(options: MailboxOptions<NamedFixture> = {}): unknown {
  checkOptions('createMailboxTest', options, ['baseUrl', 'persist', ...SHARED_OPTION_NAMES]);
  return base
    .extend<{ $file: { mailboxRouter: MailboxRouter } }>({
      mailboxRouter: [
        // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
        async ({}, use) => {
          const router = new MailboxRouter(createMailbox({ baseUrl: options.baseUrl, fixtures: { tenants: {} } }));
          interceptor.add(router);
          await use(router);
          interceptor.remove(router);
        },
        { scope: 'file' },
      ],
    })
    .extend<MailboxFixtures<never, never>>({
      async mailbox({ mailboxRouter, task }, use) {
        const mailbox = createMailbox({ ...options, fixtures: options.fixtures });
        mailboxRouter.add(mailbox as never);
        await use(mailbox as never);
        await attachTrace(task, async () => mailbox.trace());
        mailboxRouter.remove(mailbox as never);
        mailbox.reset();
      },
      sandbox: ({ mailbox }, use) => use(mailbox.createSandbox({ refusals: 'all' })),
    });
}

/** Attaches a trace to a test that has failed. Versions of vitest without artifacts get none. */
async function attachTrace(task: vitest.RunnerTestCase, readTrace: () => Promise<string>): Promise<void> {
  const { recordArtifact } = vitest as {
    readonly recordArtifact?: (task: vitest.RunnerTestCase, artifact: object) => unknown;
  };
  if (task.result?.state !== 'fail' || !recordArtifact) return;
  // A trace that cannot be read must not hide why the test failed.
  const body = await readTrace().catch(({ message }: Error) => message);
  const attachment = { contentType: 'application/jsonl', body, bodyEncoding: 'utf-8' };
  await recordArtifact(task, { type: 'agent-mailbox-mock:trace', attachments: [attachment] });
}

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

/**
 * The `test` of vitest, with a sandbox for each test at a running emulator. The environment variable
 * `AGENT_MAILBOX_URL` has the URL of the emulator. Or `MAILBOX_URLS` has several URLs, separated by commas; each worker
 * uses one of them.
 *
 * @throws {Error} when a test gets its sandbox, if neither variable is set or no emulator answers.
 * @example
 * sandboxTest('the customer gets an answer', async ({ sandbox }) => {
 *   await runAgent({ baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.inboxes.helpdesk });
 *   await sandbox.waitForMessage({ to: 'dana@customer.test' });
 * });
 */
export const sandboxTest: TestAPI<{ readonly sandbox: SandboxClient }> = base.extend<{ sandbox: SandboxClient }>({
  async sandbox({ task }, use) {
    const emulator = readEmulatorAddress();
    if (!emulator) throw new Error('Set MAILBOX_URLS or AGENT_MAILBOX_URL to the URL of a running emulator.');
    const sandbox = await SandboxClient.create(emulator);
    await use(sandbox);
    await attachTrace(task, () => sandbox.trace());
    await sandbox.close();
  },
});

/** How long the test of a scenario may take besides its trials, in milliseconds. */
const EXTRA_MS = 30_000;

/**
 * Defines a test for each scenario, which fails unless every trial of the scenario and of its twin passes. Await it at
 * the top of the test file.
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
      if (result.failed + result.cannotTell > 0) throw new Error(String(result));
    });
  }
}
