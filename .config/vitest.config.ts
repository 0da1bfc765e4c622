import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { createSuiteReporter, type SuiteOptions } from '../test/support/suite-reporter.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The files whose tests run in every runtime; loading the others takes longer than sending through Prism. */
function filesEverywhere(): string[] {
  const files = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.test.ts'),
  );
  return files.map((file) => `test/${file}`).filter((file) => /\beverywhere\(/.test(readFileSync(root + file, 'utf8')));
}

/** `--mode contract` runs the tests over HTTP once more, through Prism, and through msw instead of the short path. */
export default defineConfig(({ mode }) => {
  const suite: SuiteOptions =
    mode === 'contract'
      ? { runtimes: ['http'], pattern: /\(http\)$/, isContractChecked: true }
      : { runtimes: ['in process', 'http'], isContractChecked: false };
  return {
    root,
    resolve: {
      alias: {
        'agent-mailbox-mock/server': `${root}src/server/index.ts`,
        'agent-mailbox-mock/receiver': `${root}src/receiver/index.ts`,
        'agent-mailbox-mock': `${root}src/index.ts`,
      },
    },
    test: {
      globalSetup: 'test/support/build-once.ts',
      include: suite.isContractChecked ? filesEverywhere() : ['test/**/*.test.ts'],
      sequence: { shuffle: true, concurrent: true },
      typecheck: {
        enabled: !suite.isContractChecked,
        include: ['test/types/*.test-d.ts'],
        tsconfig: './tsconfig.json',
      },
      testTimeout: suite.isContractChecked ? 120_000 : 30_000,
      hookTimeout: 120_000,
      reporters: ['default', createSuiteReporter(suite)],
      ...(suite.isContractChecked && {
        testNamePattern: suite.pattern,
        env: { MAILBOX_CONTRACT: 'prism', MAILBOX_HTTP_PATH: 'msw' },
      }),
    },
  };
});
