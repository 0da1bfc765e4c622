// Runs the tests of this folder in the browser mode of vitest, after the worker script of msw was copied.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const run = (program, ...args) =>
  execFileSync(process.execPath, [`../node_modules/${program}`, ...args], { encoding: 'utf8', stdio: 'pipe' });
try {
  run('msw/cli/index.js', 'init', 'public', '--save');
  const printed = run('vitest/vitest.mjs', 'run', '--root', '.', '--reporter=json', '--outputFile=report.json');
  const { numPassedTests, numTotalTests } = JSON.parse(readFileSync('report.json', 'utf8'));
  if (numPassedTests !== 5 || numTotalTests !== 5) throw new Error(printed);
} catch (error) {
  throw new Error(`${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`);
}
