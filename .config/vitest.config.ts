import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ProjectsInTurn } from '../test/support/projects-in-turn.ts';
import { createSuiteReporter, type SuiteOptions } from '../test/support/suite-reporter.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The tests that need a worker of their own: they replace a module or the globals of the worker, import test files,
 * which a worker loads once, or intercept WebSockets, which msw does twice where it begins for a second time.
 */
const ALONE = [
  'test/dom/*.test.ts',
  'test/vitest/*.test.ts',
  'test/server/outgoing/outgoing-rebinding.test.ts',
  'test/stream/*.test.ts',
];

/** The tests that start processes and load little of the source: they go first, because some take long. */
const WITH_PROCESSES = [
  'test/readme.test.ts',
  'test/package/*.test.ts',
  'test/browser/*.test.ts',
  'test/inspector/*.test.ts',
  'test/cli/cli{,-loading}.test.ts',
  'test/state/state-file.test.ts',
  'test/growth/*.test.ts',
];

/** The files whose tests run in every runtime; loading the others takes longer than sending through Prism. */
function filesEverywhere(): string[] {
  const files = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.test.ts'),
  );
  return files.map((file) => `test/${file}`).filter((file) => /\beverywhere\(/.test(readFileSync(root + file, 'utf8')));
}

/** The reporter that writes JSON into a file: `--reporter` would take the place of that for the suite. */
function reportFor(outputFile: string | undefined): ['json', { outputFile: string }][] {
  return outputFile === undefined ? [] : [['json', { outputFile }]];
}

/** `--mode contract` runs the tests over HTTP once more, through Prism, and through msw instead of the short path. */
export default defineConfig(({ mode }) => {
  const suite: SuiteOptions =
    mode === 'contract'
      ? { runtimes: ['http'], pattern: /\(http\)$/, isContractChecked: true }
      : { runtimes: ['in process', 'http'], isContractChecked: false };
  const apart = [...WITH_PROCESSES, ...ALONE];
  return {
    root,
    resolve: {
      alias: {
        'agent-mailbox-mock/server': `${root}src/server/index.ts`,
        'agent-mailbox-mock/express': `${root}src/server/express.ts`,
        'agent-mailbox-mock/receiver': `${root}src/receiver/index.ts`,
        'agent-mailbox-mock/matchers': `${root}src/matchers/index.ts`,
        'agent-mailbox-mock/samples': `${root}src/samples/index.ts`,
        'agent-mailbox-mock/vitest': `${root}src/vitest/index.ts`,
        'agent-mailbox-mock': `${root}src/index.ts`,
      },
    },
    test: {
      globalSetup: 'test/support/build-once.ts',
      maxWorkers: availableParallelism(),
      sequence: { shuffle: true, concurrent: true, sequencer: ProjectsInTurn },
      testTimeout: 30_000,
      // A browser shows a result late if other tests run too.
      expect: { poll: { timeout: 20_000 } },
      hookTimeout: 120_000,
      reporters: ['default', createSuiteReporter(suite), ...reportFor(process.env.SUITE_REPORT)],
      ...(suite.isContractChecked && { testNamePattern: suite.pattern }),
      // A project reads this file once more, without the mode, so what the mode decides is said in the project itself.
      projects: suite.isContractChecked
        ? [
            {
              extends: true,
              test: {
                name: 'contract',
                isolate: false,
                include: filesEverywhere(),
                env: { MAILBOX_CONTRACT: 'prism', MAILBOX_HTTP_PATH: 'msw' },
                testTimeout: 120_000,
              },
            },
          ]
        : [
            { extends: true, test: { name: 'apart', include: apart } },
            {
              extends: true,
              test: {
                name: 'together',
                isolate: false,
                include: ['test/**/*.test.ts'],
                exclude: apart,
                typecheck: {
                  enabled: true,
                  include: ['test/types/*.test-d.ts'],
                  tsconfig: './.config/tsconfig.type-tests.json',
                },
              },
            },
          ],
    },
  };
});
