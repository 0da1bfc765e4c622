import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ProjectsInTurn } from '../test/support/projects-in-turn.ts';
import { createSuiteReporter, type SuiteOptions } from '../test/support/suite-reporter.ts';
import { needsOutside, readTest, TEST_FILES } from '../test/support/test-files.ts';
import tsconfig from '../tsconfig.json' with { type: 'json' };

const root = fileURLToPath(new URL('..', import.meta.url));

/** The sources of the package's entries, as the compiler finds them; a longer name goes before its beginning. */
const ALIASES = Object.entries<string[]>(tsconfig.compilerOptions.paths)
  .map(([find, [path = '']]) => ({ find, replacement: path.replace('./', root) }))
  .reverse();

/**
 * The tests that need a worker of their own: they replace a module or the globals of the worker, import test files,
 * which a worker loads once, or leave much in memory.
 */
const ALONE = [
  'test/types/compiler.test.ts',
  'test/dom/*.test.ts',
  'test/testing/vitest/*.test.ts',
  'test/server/outgoing/outgoing-rebinding.test.ts',
];

/** The tests that intercept WebSockets, which msw does twice where it begins for a second time. */
const STREAMS = ['test/service/stream/*.test.ts'];

/** The reporter that writes JSON into a file: `--reporter` would take the place of that for the suite. */
function reportFor(outputFile: string | undefined): ['json', { outputFile: string }][] {
  return outputFile === undefined ? [] : [['json', { outputFile }]];
}

const OUTSIDE = TEST_FILES.filter(needsOutside);

/**
 * Without a mode, the tests that need no process, browser or build of the package; `--mode all` runs these too.
 * `--mode contract` runs the tests over HTTP once more, through Prism, and through msw instead of the short path.
 */
export default defineConfig(({ mode }) => {
  const suite: SuiteOptions =
    mode === 'contract'
      ? { runtimes: ['http'], pattern: /\(http\)$/, isContractChecked: true }
      : { runtimes: ['in process', 'http'], isContractChecked: false };
  return {
    root,
    resolve: { alias: ALIASES },
    test: {
      experimental: { fsModuleCache: true },
      maxWorkers: availableParallelism(),
      sequence: { shuffle: true, concurrent: true, sequencer: ProjectsInTurn },
      // A machine may be busy with other work: that a test takes long is no fault.
      testTimeout: 120_000,
      // The report names each test that passed only at its second try.
      retry: process.env.CI ? 1 : 0,
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
                include: TEST_FILES.filter((file) => /\beverywhere\(/.test(readTest(file))),
                env: { MAILBOX_CONTRACT: 'prism', MAILBOX_HTTP_PATH: 'msw' },
              },
            },
          ]
        : [
            // They go first, because some take long.
            ...(mode === 'all'
              ? [
                  {
                    extends: true,
                    test: { name: 'outside', include: OUTSIDE, globalSetup: 'test/support/build-once.ts' },
                  },
                ]
              : []),
            { extends: true, test: { name: 'alone', include: ALONE, exclude: OUTSIDE } },
            {
              extends: true,
              test: {
                name: 'streams',
                isolate: false,
                include: STREAMS,
                exclude: OUTSIDE,
                env: { MAILBOX_INTERCEPTION: 'for all files' },
              },
            },
            {
              extends: true,
              test: {
                name: 'together',
                isolate: false,
                include: ['test/**/*.test.ts'],
                exclude: [...ALONE, ...STREAMS, ...OUTSIDE],
              },
            },
          ],
    },
  };
});
