import * as vitest from 'vitest';
import { test as base, expect, type TestAPI } from 'vitest';
import { checkOptions } from '../../basics/check-options.ts';
import { matchers } from '../../control/assertions/matchers.ts';
import type { SandboxIds, SandboxKeys } from '../../control/controllable-mailbox.ts';
import type { Mailbox } from '../../control/mailbox-interface.ts';
import type { DefaultIds, DefaultKeys, FixtureIds, FixtureKeys, NamedFixture } from '../../fixture/keys-and-ids.ts';
import { createMailbox } from '../../mailbox/create-mailbox.ts';
import { type MailboxOptions, SHARED_OPTION_NAMES } from '../../mailbox/mailbox-options.ts';
import type { FixtureInput, Sandbox } from '../../mailbox/without-msw.ts';
import { readEmulatorAddress, SandboxClient } from '../client/mailbox-client.ts';
import type { Interceptor } from './mailbox-router.ts';

expect.extend(matchers);

/** The fixtures of a test. */
export interface MailboxFixtures<Keys = DefaultKeys, Ids = DefaultIds> {
  /** A mailbox that only this test uses. It answers the requests to its `baseUrl`. */
  readonly mailbox: Mailbox<Keys, Ids>;
  /** A sandbox of this mailbox, with keys that no other test has. */
  readonly sandbox: Sandbox<SandboxKeys<Keys>, SandboxIds<Ids>>;
}

/** Creates a `test` with a mailbox and a sandbox for each test. */
export interface CreateMailboxTest {
  /**
   * Creates a `test` whose mailbox has these options, such as another `baseUrl` or fixture.
   *
   * @throws as `createMailbox` does, when a test gets its mailbox.
   * @example
   * const test = createMailboxTest({ baseUrl: 'https://api.example.com' });
   */
  (options?: Omit<MailboxOptions, 'fixtures'>): TestAPI<MailboxFixtures>;
  /** Creates a `test` with a custom fixture; `keys` and `ids` then have the handles of that fixture. */
  <const F extends FixtureInput | NamedFixture>(
    options: MailboxOptions<F> & { readonly fixtures: F | undefined },
  ): TestAPI<MailboxFixtures<FixtureKeys<F>, FixtureIds<F>>>;
}

/** Returns the function that creates a `test` whose requests go through an interceptor. */
export function createTestsWith(interceptor: Interceptor): CreateMailboxTest {
  return ((options: MailboxOptions<NamedFixture> = {}): unknown => {
    return createTest(interceptor, options);
  }) as CreateMailboxTest;
}

function createTest(interceptor: Interceptor, options: MailboxOptions<NamedFixture>): unknown {
  checkOptions('createMailboxTest', options, ['baseUrl', 'persist', ...SHARED_OPTION_NAMES]);
  return base
    .extend<{ $file: { interception: undefined } }>({
      interception: [
        // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
        async ({}, use) => {
          const router = await interceptor.acquire(options.baseUrl);
          await use(undefined);
          interceptor.release(router);
        },
        // Between the tests of a file, too, requests must not reach the network. Before 3.2, vitest ignores this.
        { scope: 'file' },
      ],
    })
    .extend<MailboxFixtures<never, never>>({
      // vitest 3 shares a fixture of a file by its name, also with a test for another base URL, so it has no router.
      async mailbox({ interception: _, task }, use) {
        const mailbox = createMailbox({ ...options, fixtures: options.fixtures });
        const router = await interceptor.acquire(options.baseUrl);
        router.add(mailbox as never);
        await use(mailbox as never);
        await attachTrace(task, async () => mailbox.trace());
        router.remove(mailbox as never);
        mailbox.reset();
        interceptor.release(router);
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
