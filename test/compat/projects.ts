import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runToEnd } from './run-to-end.ts';

/** The folders into which the packages are installed: what does not fit together is in another one. */
export type ProjectName =
  | 'oldest'
  | 'earlier'
  | 'latest'
  | 'tooOld'
  | 'browser3'
  | 'browser4'
  | 'browser5'
  | 'bundlers'
  | 'generators'
  | 'managers'
  | 'mcp'
  | 'bare';

/** Packages by their names, with their versions. */
type Dependencies = Readonly<Record<string, string>>;

/** The oldest version of each peer that the package accepts: those of `peerDependencies` in package.json. */
export const OLDEST = { msw: '2.13.0', vitest: '3.0.1' };

/** The newest versions of the peers. */
export const NEWEST = { msw: '^3.0.0', vitest: '^5.0.0' };

const PROJECTS: Readonly<Record<ProjectName, Dependencies>> = {
  oldest: { ...OLDEST, jsdom: '^26.0.0', 'happy-dom': '^20.0.0' },
  tooOld: { msw: '2.7.6' },
  browser3: { msw: OLDEST.msw, vitest: '^3.2.0', '@vitest/browser': '^3.2.0', playwright: '^1.50.0' },
  browser4: { msw: '2.15.0', vitest: '^4.0.0', '@vitest/browser-playwright': '^4.0.0', playwright: '^1.50.0' },
  browser5: { ...NEWEST, '@vitest/browser-playwright': '^5.0.0', playwright: '^1.50.0' },
  earlier: {
    msw: '2.15.0',
    vitest: '^4.0.0',
    typescript: '~5.9.0',
    tsx: '^4.0.0',
    jest: '^30.0.0',
    'babel-jest': '^30.0.0',
    '@babel/core': '^7.0.0',
    '@babel/preset-env': '^7.0.0',
    'ts-jest': '^29.4.0',
    '@swc/core': '^1.0.0',
    '@swc/jest': '^0.2.0',
    'jest-environment-jsdom': '^30.0.0',
    'jest-fixed-jsdom': '^0.0.11',
    '@types/jest': '^30.0.0',
    '@jest/globals': '^30.0.0',
    ai: '^6.0.0',
    mocha: '^11.0.0',
    zod: '^4.0.0',
    jsdom: '^26.0.0',
    'happy-dom': '^20.0.0',
  },
  latest: {
    ...NEWEST,
    typescript: 'latest',
    tsx: 'latest',
    jest: '^30.5.0',
    'babel-jest': '^30.0.0',
    '@babel/core': '^7.0.0',
    '@babel/preset-env': '^7.0.0',
    jsdom: 'latest',
    'happy-dom': 'latest',
  },
  bundlers: {
    msw: '2.15.0',
    next: '^16.0.0',
    react: '^19.0.0',
    'react-dom': '^19.0.0',
    webpack: '^5.0.0',
    esbuild: 'latest',
    rollup: '^4.0.0',
    '@rollup/plugin-node-resolve': 'latest',
  },
  generators: {
    '@asyncapi/parser': '^3.0.0',
    '@hey-api/openapi-ts': '^0.99.0',
    orval: '^8.0.0',
    typescript: '~5.9.0',
  },
  managers: { yarn: '^1.22.0', pnpm: '^10.0.0' },
  mcp: { '@modelcontextprotocol/conformance': '^0.1.16' },
  // What has nothing but types.
  bare: { typescript: '~5.9.0' },
};

/** The programs that run JavaScript, each for one platform: npm goes on without those that it cannot install. */
const RUNTIME_PACKAGES: Dependencies = {
  node20: nodeBinary(20),
  node22: nodeBinary(22),
  node24: nodeBinary(24),
  node26: nodeBinary(26),
  bun: '^1.0.0',
  deno: '^2.0.0',
};

/** Creates a project in a folder and installs the tarball and what the project depends on; rejects if npm fails. */
export async function installProject(folder: string, name: ProjectName, tarball: string): Promise<void> {
  const manifest = { dependencies: { ...PROJECTS[name], 'agent-mailbox-mock': `file:${tarball}` } };
  await install(folder, manifest, name === 'tooOld' ? ['--legacy-peer-deps'] : []);
}

/** Installs the runtimes in a folder of their own, because each of them is large; rejects if npm fails. */
export async function installRuntimes(folder: string): Promise<void> {
  await install(folder, { optionalDependencies: RUNTIME_PACKAGES });
}

async function install(folder: string, manifest: object, more: readonly string[] = []): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }));
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  const { code, output } = await runToEnd(['npm', 'install', ...flags, ...more], { cwd: folder, timeoutMs: 300_000 });
  if (code !== 0) throw new Error(output);
}

/** The package with the binary of a release line of Node, for this platform; the package `node` would install it too. */
function nodeBinary(major: number): string {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  return `npm:node-${platform}-${process.arch}@${major}`;
}
