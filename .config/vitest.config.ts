import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type UserWorkspaceConfig } from 'vitest/config';
import { PATIENCE_MS, TEST_LIMIT_MS } from '../test/support/patience.ts';
import { ProjectsInTurn } from '../test/support/projects-in-turn.ts';
import { createSuiteReporter, type SuiteOptions } from '../test/support/suite-reporter.ts';
import { needsOutside, readTest, TEST_FILES } from '../test/support/test-files.ts';

/**
 * The tests that need a worker of their own: they replace a module or the globals of the worker, import test files,
 * which a worker loads once, or leave much in memory.
 */
const ALONE = [
  'test/types/compiler.test.ts',
  'test/dom/*.test.ts',
  'test/testing/vitest/*.test.ts',
  'test/server/outgoing-fetch-rebinding.test.ts',
  'test/world/clock-fake-timers.test.ts',
];

/** The tests that intercept WebSockets: in a worker that starts msw again, each of them is intercepted twice. */
const STREAMS = ['test/service/stream/*.test.ts'];

/** The reporter that writes JSON into a file: `--reporter` would take the place of that for the suite. */
function reportFor(outputFile: string | undefined): ['json', { outputFile: string }][] {
  return outputFile === undefined ? [] : [['json', { outputFile }]];
}

const OUTSIDE = TEST_FILES.filter(needsOutside);

/** The tests of one kind; their files share workers, unless it says otherwise. */
const project = (name: string, include: string[], test: UserWorkspaceConfig['test'] = {}) =>
  ({ extends: true, test: { name, include, isolate: false, ...test } }) as const;

const CONTRACT = project(
  'contract',
  TEST_FILES.filter((file) => /\beverywhere\(/.test(readTest(file))),
  { env: { MAILBOX_CONTRACT: 'prism', MAILBOX_HTTP_PATH: 'msw' } },
);

/** Tables of which `npm test` asks a dozen rows. */
const BREAKS = project('verify-breaks', ['test/verify/verify-breaks.test.ts'], { env: { BROKEN_SERVERS: 'all' } });

/** The tests that need no process, browser or build of the package: without a mode, they are all. */
const INSIDE = [
  project('alone', ALONE, { isolate: true, exclude: OUTSIDE }),
  project('streams', STREAMS, { exclude: OUTSIDE, env: { MAILBOX_INTERCEPTION: 'for all files' } }),
  project('together', ['test/**/*.test.ts'], { exclude: [...ALONE, ...STREAMS, ...OUTSIDE] }),
];

/** With `--mode all`, those that need one go first, because some take long. */
const ALL = [project('outside', OUTSIDE, { globalSetup: 'test/support/build-once.ts' }), ...INSIDE];

const PROJECTS: Readonly<Record<string, typeof INSIDE>> = { all: ALL, contract: [CONTRACT], 'verify-breaks': [BREAKS] };

/** `--mode contract` runs the tests over HTTP once more, through Prism, and through msw instead of the short path. */
export default defineConfig(({ mode }) => {
  const isContractChecked = mode === 'contract';
  const suite: SuiteOptions = isContractChecked
    ? { runtimes: ['http'], pattern: /\(http\)$/, isContractChecked }
    : { runtimes: mode === 'verify-breaks' ? [] : ['in process', 'http'], isContractChecked };
  return {
    root: fileURLToPath(new URL('..', import.meta.url)),
    // The names of the package's entries lead to their sources.
    resolve: { tsconfigPaths: true },
    test: {
      experimental: { fsModuleCache: true },
      maxWorkers: availableParallelism(),
      // Most objects live as long as one request: with more room for new ones, a fifth less is spent on collecting them.
      execArgv: ['--max-semi-space-size=64'],
      sequence: { shuffle: true, concurrent: true, sequencer: ProjectsInTurn },
      testTimeout: TEST_LIMIT_MS,
      // The report names each test that passed only at its second try.
      retry: process.env.CI ? 1 : 0,
      expect: { poll: { timeout: PATIENCE_MS } },
      hookTimeout: TEST_LIMIT_MS,
      reporters: ['default', createSuiteReporter(suite), ...reportFor(process.env.SUITE_REPORT)],
      ...(suite.pattern && { testNamePattern: suite.pattern }),
      // A project reads this file once more, without the mode, so what the mode decides is said in the project itself.
      projects: PROJECTS[mode] ?? INSIDE,
    },
  };
});
