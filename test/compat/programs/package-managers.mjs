// Installs the package with its peers in a project of its own by a package manager, and uses it there.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const { dependencies } = read('../package.json');
const manifest = {
  private: true,
  type: 'module',
  dependencies: { ...read('peers.json'), 'agent-mailbox-mock': dependencies['agent-mailbox-mock'] },
};
mkdirSync('project');
writeFileSync('project/package.json', JSON.stringify(manifest));
for (const file of ['check.mjs', 'fixtures.test.ts']) cpSync(file, `project/${file}`);

/** The commands of each package manager. The runtime of this row runs them, and npm as the machine has it. */
const COMMANDS = {
  'npm ci': [
    ['npm', 'install', '--package-lock-only', '--no-audit', '--no-fund', '--prefer-offline'],
    ['npm', 'ci', '--no-audit', '--no-fund', '--prefer-offline'],
  ],
  'yarn 1': [
    [process.execPath, '../../node_modules/yarn/bin/yarn.js', 'install', '--non-interactive', '--ignore-scripts'],
  ],
  pnpm: [
    [
      process.execPath,
      '../../node_modules/pnpm/bin/pnpm.cjs',
      'install',
      '--strict-peer-dependencies',
      '--ignore-scripts',
    ],
  ],
};
const commands = [
  ...COMMANDS[read('manager.json')],
  [process.execPath, 'check.mjs'],
  [process.execPath, 'node_modules/vitest/vitest.mjs', 'run'],
];
for (const [program, ...args] of commands) {
  try {
    const printed = execFileSync(program, args, { cwd: 'project', encoding: 'utf8', stdio: 'pipe' });
    if (/agent-mailbox-mock.* peer/.test(printed)) throw new Error(printed);
  } catch (error) {
    throw new Error(`${program} ${args.join(' ')}\n${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`);
  }
}
