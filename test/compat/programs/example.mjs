import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

// Runs the tests of the example with a test runner: all must pass, and with an agent that does nothing, all must fail.

const PYTEST = ['exec', '--', 'python3', '-m', 'pytest', '-p', 'no:cacheprovider', '-rA'];

/** Each runner: its program below `node_modules` with its arguments, and the number of its tests by their result. */
const RUNNERS = {
  vitest: [['vitest/vitest.mjs', 'run', '--root', '.'], /Tests +(?:(\d+) failed)?(?: \| )?(?:(\d+) passed)?/],
  jest: [['jest/bin/jest.js'], /Tests: +(?:(\d+) failed, )?(?:(\d+) passed, )?/],
  pytest: [['agent-mailbox-mock/dist/main.cjs', ...PYTEST], /=+ (?:(\d+) failed)?(?:, )?(?:(\d+) passed)? in/],
};
const [[program, ...args], counts] = RUNNERS[process.argv[2]];

function runTests() {
  const env = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [`../node_modules/${program}`, ...args], { env });
  const output = `${stdout}${stderr}`;
  const [, failed = '0', passed = '0'] = counts.exec(output) ?? [];
  return { status, failed: Number(failed), passed: Number(passed), output };
}

function check(what, isRight, { output }) {
  if (isRight) return;
  process.stdout.write(`${what}\n${output}\n`);
  process.exit(1);
}

if (process.argv[2] === 'pytest') {
  spawnSync(process.execPath, ['../node_modules/agent-mailbox-mock/dist/main.cjs', 'client', 'python']);
}
const right = runTests();
check('A test of the example fails.', right.status === 0 && right.passed > 0, right);
writeFileSync('agent.ts', "export const createAgent = () => async () => new Response('Done.');\n");
const idle = runTests();
check(
  `A test passes with an agent that does nothing: of ${right.passed}, ${idle.failed} fail.`,
  idle.passed === 0 && idle.failed === right.passed,
  idle,
);
