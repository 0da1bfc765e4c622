// One way to run every test: `npm run test:all`. Its first word may name a suite of its own, with what that takes behind
// it, such as `npm run test:all -- compat jest bun`; anything else goes to the test runner.
import { spawnSync } from 'node:child_process';
import { ROOT } from './support/root.ts';

/** The suites that are programs of their own: each is `main.ts` of the folder with its name. */
const PROGRAMS = ['broken-servers', 'compat', 'imap', 'page', 'soak', 'truth'];

/** The suites that are a mode of the test runner, as its configuration says. */
const MODES = ['contract', 'verify-breaks'];

const [word = '', ...others] = process.argv.slice(2);
if (PROGRAMS.includes(word)) {
  run(['--import', 'tsx', `test/${word}/main.ts`, ...others]);
} else {
  const isMode = MODES.includes(word);
  const words = isMode ? others : process.argv.slice(2);
  const mode = isMode ? word : 'all';
  run(['node_modules/vitest/vitest.mjs', 'run', '--config', '.config/vitest.config.ts', '--mode', mode, ...words]);
}

function run(args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
