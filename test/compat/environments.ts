import { readFileSync } from 'node:fs';
import { findBrowser } from '../support/browser.ts';
import { findBlocks } from '../support/readme.ts';
import { EXAMPLE_FILES } from '../support/readme-parts.ts';
import { NEWEST, OLDEST, type ProjectName } from './projects.ts';

/** What an environment is checked for: a function of the story, or the command, which ends with 0 on a signal. */
export type Check = 'tellInProcess' | 'streamInProcess' | 'tellOverHttp' | 'streamOverHttp' | 'command';

/** A program that runs JavaScript: its path in `node_modules` of the runtimes, and the flags that it always gets. */
export const RUNTIMES = {
  node20: ['node20/bin/node'],
  node22: ['node22/bin/node'],
  node24: ['node24/bin/node'],
  node26: ['node26/bin/node'],
  bun: ['.bin/bun'],
  deno: ['.bin/deno', 'run', '--allow-all', '--node-modules-dir=manual', '--quiet'],
} as const;

/** One environment of a user. */
export interface Environment {
  readonly name: string;
  readonly project: ProjectName;
  readonly runtime: keyof typeof RUNTIMES;
  /** The file with the story; its ending decides whether it is TypeScript, an ES module or CommonJS. */
  readonly story: string;
  /** The line that makes the function `test` known; empty if it is known; `undefined` if there is no test runner. */
  readonly imports?: string | undefined;
  /** What follows the calls of the story. */
  readonly ending?: string;
  /** Other files, which a user of this environment has anyway. */
  readonly files?: Readonly<Record<string, string>>;
  /** The arguments of the runtime. */
  readonly args: readonly string[];
  readonly checks: readonly Check[];
  /** A command that must end with 0; otherwise the environment is skipped. */
  readonly needs?: readonly string[];
  /** What does not work here, and why. */
  readonly note?: string;
}

const MODULES = '../node_modules';
const STORY: readonly Check[] = ['tellInProcess', 'tellOverHttp'];
const ALL: readonly Check[] = [...STORY, 'streamInProcess', 'streamOverHttp', 'command'];
const NO_WEBSOCKET = 'no event stream: there is no global WebSocket';

const SCRIPTS: readonly Environment[] = (
  [
    {
      name: 'Node 20, msw 2',
      project: 'earlier',
      runtime: 'node20',
      checks: [...STORY, 'command'],
      note: NO_WEBSOCKET,
    },
    // In an older msw, the event stream of the story fails, because it comes after a second `listen()`.
    { name: 'Node 22, msw 2.13', project: 'oldest', runtime: 'node22', checks: ALL },
    { name: 'Node 22, msw 3', project: 'latest', runtime: 'node22', checks: ALL },
    { name: 'Node 24, msw 3', project: 'latest', runtime: 'node24', checks: ALL },
    { name: 'Node 26, msw 2', project: 'earlier', runtime: 'node26', checks: ALL },
    { name: 'Node 26, msw 3', project: 'latest', runtime: 'node26', checks: ALL },
    {
      name: 'Bun, msw 2',
      project: 'earlier',
      runtime: 'bun',
      checks: ALL,
      note: 'msw 3 intercepts no requests in Bun',
    },
    {
      name: 'Deno, msw 2',
      project: 'earlier',
      runtime: 'deno',
      checks: ALL,
      ending: 'process.exit();',
      note: 'msw 3 intercepts no requests in Deno, and msw 2 keeps its process alive',
    },
  ] as const
).map((environment) => {
  const story = environment.runtime.startsWith('node') ? 'story.mjs' : 'story.mts';
  return { ...environment, story, args: [story] };
});

const NODE_TESTS: readonly Environment[] = (
  [
    ['node:test, .mjs', 'earlier', 'node20', 'story.mjs', []],
    ['node:test, .cjs', 'earlier', 'node20', 'story.cjs', []],
    ['node:test, .cjs', 'latest', 'node22', 'story.cjs', []],
    ['node:test, tsx, .ts', 'earlier', 'node20', 'story.ts', ['--import', 'tsx']],
    ['node:test, tsx, .mts', 'latest', 'node26', 'story.mts', ['--import', 'tsx']],
  ] as const
).map(([name, project, runtime, story, flags]) => ({
  name: `${name}, msw ${project === 'earlier' ? 2 : 3}`,
  project,
  runtime,
  story,
  imports: "import { test } from 'node:test';",
  args: [...flags, '--test', story],
  checks: STORY,
}));

const BABEL = {
  'babel.config.cjs': "module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }]] };",
};

/** The configuration that selects a transform or an environment, and has nothing for this package. */
const jestConfig = (config: object) => ({ 'jest.config.cjs': `module.exports = ${JSON.stringify(config)};` });

const TS_JEST = {
  ...jestConfig({ preset: 'ts-jest' }),
  'tsconfig.json': JSON.stringify({ compilerOptions: { module: 'nodenext', isolatedModules: true } }),
};

/** From CommonJS, Jest loads msw 3, and the ES modules that msw 2 depends on, only with this, and from Node 24.9 on. */
const VM_MODULES = '--experimental-vm-modules';

const JESTS: readonly Environment[] = (
  [
    ['Jest 30, babel', 'earlier', 'node24', 'story.test.js', [VM_MODULES], { ...BABEL, ...jestConfig({}) }],
    ['Jest 30, ts-jest', 'earlier', 'node24', 'story.test.ts', [VM_MODULES], TS_JEST],
    [
      'Jest 30, swc',
      'earlier',
      'node24',
      'story.test.js',
      [VM_MODULES],
      jestConfig({ transform: { '\\.js$': '@swc/jest' } }),
    ],
    ['Jest 30, ESM', 'earlier', 'node20', 'story.test.mjs', [VM_MODULES], jestConfig({ transform: {} })],
    [
      'Jest 30, jsdom',
      'earlier',
      'node24',
      'story.test.js',
      [VM_MODULES],
      { ...BABEL, ...jestConfig({ testEnvironment: 'jest-fixed-jsdom' }) },
    ],
    ['Jest 30, ESM', 'latest', 'node26', 'story.test.mjs', [VM_MODULES], jestConfig({ transform: {} })],
    ['Jest 30, babel', 'latest', 'node24', 'story.test.js', [VM_MODULES], { ...BABEL, ...jestConfig({}) }],
  ] as const
).map(([name, project, runtime, story, flags, files]) => ({
  name: `${name}, msw ${project === 'earlier' ? 2 : 3}`,
  project,
  runtime,
  story,
  imports: '',
  files,
  args: [...flags, `${MODULES}/jest/bin/jest.js`, '--runInBand'],
  // A simulated page has no server; vitest's keep the globals of Node, and this one removes some.
  checks: name.includes('jsdom') ? ['tellInProcess'] : STORY,
}));

/** msw 3 intercepts the connections of happy-dom, and happy-dom applies CORS to the replies. */
const HAPPY_DOM = {
  files: {
    'vitest.config.mjs': `export default {
      test: { environmentOptions: { happyDOM: { settings: { fetch: { disableSameOriginPolicy: true } } } } },
    };`,
  },
  note: 'with disableSameOriginPolicy, because happy-dom applies CORS to the replies of msw 3',
};

const VITEST_VERSIONS = [
  ['vitest 3.0', 'msw 2.13', 'oldest', 'node20'],
  ['vitest 4', 'msw 2', 'earlier', 'node20'],
  ['vitest 5', 'msw 3', 'latest', 'node26'],
] as const;

const VITESTS: readonly Environment[] = VITEST_VERSIONS.flatMap(([name, msw, project, runtime]) =>
  ['node', 'jsdom', 'happy-dom'].map((environment) => ({
    name: `${name}, ${environment}, ${msw}`,
    project,
    runtime,
    story: 'story.test.ts',
    imports: "import { test } from 'vitest';",
    ...(environment === 'happy-dom' && project === 'latest' && HAPPY_DOM),
    args: [`${MODULES}/vitest/vitest.mjs`, 'run', '--root', '.', '--environment', environment],
    checks: STORY,
  })),
);

/** The tests of what `agent-mailbox-mock/vitest` gives a test. */
const FIXTURES_TEST = { 'fixtures.test.ts': readProgram('fixtures.test.ts') };

/** `agent-mailbox-mock/vitest` in Node, and in simulated pages, where it intercepts as in Node. */
const VITEST_FIXTURES: readonly Environment[] = VITEST_VERSIONS.flatMap(([name, msw, project, runtime]) =>
  ['node', 'jsdom'].map((environment) => ({
    name: `${name}, ${environment}, fixtures, ${msw}`,
    project,
    runtime,
    story: 'story.mjs',
    files: FIXTURES_TEST,
    args: [`${MODULES}/vitest/vitest.mjs`, 'run', '--root', '.', '--environment', environment],
    checks: [],
  })),
);

/** `agent-mailbox-mock/vitest` in the browser mode of vitest, with the worker script of msw in `public/`. */
const BROWSER_MODES: readonly Environment[] = (
  [
    ['vitest 3', 'msw 2.13', 'browser3', 'node20'],
    ['vitest 4', 'msw 2', 'browser4', 'node20'],
    ['vitest 5', 'msw 3', 'browser5', 'node24'],
  ] as const
).map(([name, msw, project, runtime]) => ({
  name: `${name}, browser mode, fixtures, ${msw}`,
  project,
  runtime,
  story: 'story.mjs',
  files: {
    ...FIXTURES_TEST,
    // msw writes the name of the folder into this file.
    'package.json': '{ "private": true }',
    'vitest.config.mjs': writeBrowserConfig(project === 'browser3'),
    'browser-mode.mjs': readProgram('browser-mode.mjs'),
  },
  args: ['./browser-mode.mjs'],
  checks: [],
  needs: [findBrowser() ?? 'chromium', '--version'],
}));

/** The configuration of vitest for its browser mode, as its documentation has it. */
function writeBrowserConfig(isVitest3: boolean): string {
  const launchOptions = JSON.stringify({ executablePath: findBrowser() });
  const [imports, provider, launch] = isVitest3
    ? ['', "'playwright'", `, launch: ${launchOptions}`]
    : [
        "import { playwright } from '@vitest/browser-playwright';",
        `playwright({ launchOptions: ${launchOptions} })`,
        '',
      ];
  return `${imports}
    export default {
      test: {
        browser: {
          enabled: true,
          headless: true,
          screenshotFailures: false,
          provider: ${provider},
          instances: [{ browser: 'chromium'${launch} }],
        },
      },
    };`;
}

function readProgram(name: string): string {
  return readFileSync(new URL(`programs/${name}`, import.meta.url), 'utf8');
}

/** A route that uses a mailbox, and one that calls the emulated service, which `instrumentation.ts` answers. */
const NEXT_APP = {
  // Next.js takes the nearest folder with this file as the project.
  '../package-lock.json': '{}',
  'package.json': '{ "private": true }',
  'app/layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;',
  'app/api/mail/route.js': `
    import { createMailbox } from 'agent-mailbox-mock';
    export const dynamic = 'force-dynamic';
    const mailbox = createMailbox();
    const request = new Request(mailbox.baseUrl + '/v1/me', { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
    export const GET = async () => Response.json({ status: (await mailbox.fetch(request.clone())).status });`,
  'app/api/agent/route.js': `
    export const dynamic = 'force-dynamic';
    const headers = { 'X-API-Key': 'tk_acme_tenant_key' };
    export const GET = async () => {
      const { status } = await fetch('https://api.example.test/v1/me', { headers });
      return Response.json({ status });
    };`,
  'instrumentation.js': `
    export async function register() {
      if (process.env.NEXT_RUNTIME === 'nodejs') {
        const [{ createMailbox }, { setupServer }] = await Promise.all([
          import('agent-mailbox-mock'), import('msw/node'),
        ]);
        const { handlers } = createMailbox({ baseUrl: 'https://api.example.test' });
        setupServer(...handlers).listen({ onUnhandledRequest: 'bypass' });
      }
    }`,
};

/** The same application for `next dev`, with the flag that chooses the bundler. */
const nextDev = (flag: string) => ({ ...NEXT_APP, 'bundler.json': JSON.stringify(flag) });

const TYPES = readFileSync(new URL('types.ts', import.meta.url), 'utf8');

const COMPILER_OPTIONS = {
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
};

/** The example imports its files by their own names, and uses Node. */
const OF_EXAMPLE = { module: 'nodenext', types: ['node'], allowImportingTsExtensions: true, skipLibCheck: true };

/** Under node16, TypeScript refuses the declarations of msw in CommonJS, because they import ES modules. */
const COMPILED: Readonly<Record<string, { readonly module: string; readonly files: readonly string[] }>> = {
  node16: { module: 'node16', files: ['types.mts'] },
  nodenext: { module: 'nodenext', files: ['types.mts', 'types.cts'] },
  bundler: { module: 'esnext', files: ['types.mts', 'types.ts'] },
};

const COMPILERS: readonly Environment[] = (
  [
    ['TypeScript 5.9', 'earlier', 'node20'],
    ['TypeScript 7', 'latest', 'node24'],
  ] as const
).flatMap(([name, project, runtime]) =>
  Object.entries(COMPILED).map(([moduleResolution, { module, files }]) => ({
    name: `${name}, ${moduleResolution}, msw ${project === 'earlier' ? 2 : 3}`,
    project,
    runtime,
    story: 'story.mts',
    files: {
      'tsconfig.json': JSON.stringify({ compilerOptions: { ...COMPILER_OPTIONS, module, moduleResolution } }),
      ...Object.fromEntries(files.map((file) => [file, TYPES])),
    },
    args: [`${MODULES}/typescript/bin/tsc`, '-p', '.'],
    checks: [],
  })),
);

/** The vite of this project: the newest may have optional packages that a registry does not have, and a lock file needs. */
const OWN_VITE: string = JSON.parse(readFileSync('node_modules/vite/package.json', 'utf8')).version;

/** Each package manager, with the oldest peers and with the newest. yarn 1 does not install vite, a peer of vitest 5. */
const MANAGERS = ['npm ci', 'yarn 1', 'pnpm'].flatMap((manager) => {
  const files = { ...FIXTURES_TEST, 'check.mjs': readProgram('check-installation.mjs') };
  const program = 'package-managers.mjs';
  return [
    [`${manager}, vitest 3.0, msw 2.13`, 'managers', 'node20', program, [], withPeers(manager, files, OLDEST)],
    [
      `${manager}, vitest 5, msw 3`,
      'managers',
      'node24',
      program,
      [],
      withPeers(manager, files, { ...NEWEST, vite: OWN_VITE }),
    ],
  ] as const;
});

/** The files of a project that a package manager installs. */
function withPeers(manager: string, files: Readonly<Record<string, string>>, peers: Readonly<Record<string, string>>) {
  return { ...files, 'manager.json': JSON.stringify(manager), 'peers.json': JSON.stringify(peers) };
}

/** Code that needs no msw: its types must be known without it, in every file of the declarations. */
const USE_WITHOUT_MSW = `
  import { createMailbox } from 'agent-mailbox-mock';
  import { createClient } from 'agent-mailbox-mock/client';
  import { startServer } from 'agent-mailbox-mock/server';
  export const client = createClient({ baseUrl: 'http://127.0.0.1:4025', key: 'tk_acme_tenant_key' });
  export const key: string = createMailbox().keys.acme.inboxes.helpdesk;
  export const server = startServer({ port: 0 });`;

const TYPES_WITHOUT_MSW: readonly Environment[] = Object.entries(COMPILED).map(([moduleResolution, { module }]) => ({
  name: `TypeScript 5.9, ${moduleResolution}, no msw`,
  project: 'bare',
  runtime: 'node20',
  story: 'story.mts',
  files: {
    'tsconfig.json': JSON.stringify({
      compilerOptions: { ...COMPILER_OPTIONS, module, moduleResolution },
      files: ['types.mts', 'types.cts'],
    }),
    'types.mts': USE_WITHOUT_MSW,
    'types.cts': USE_WITHOUT_MSW,
  },
  args: [`${MODULES}/typescript/bin/tsc`, '-p', '.'],
  checks: [],
}));

/** What TypeScript knows of a fixture in a JSON file. In an ES module, `node16` cannot import one as Node wants it. */
const JSON_FIXTURE = {
  'fixture.json': JSON.stringify({ tenants: { initech: { workspaces: { main: { inboxes: { orders: {} } } } } } }),
  'package.json': '{ "type": "commonjs" }',
  'by-import.cts': `
    import { createMailbox } from 'agent-mailbox-mock';
    import fixture = require('./fixture.json');
    const { keys } = createMailbox({ fixtures: fixture });
    const key: string = keys.initech.inboxes.orders;
    // @ts-expect-error: the fixture has no such inbox.
    const none: undefined = keys.initech.inboxes.nowhere;
    if (!key.startsWith('ak_initech') || none !== undefined) throw new Error(key);`,
  'by-require.mts': `
    import { createRequire } from 'node:module';
    import { createMailbox } from 'agent-mailbox-mock';
    const fixture = createRequire(import.meta.url)('./fixture.json');
    const { keys, ids } = createMailbox({ fixtures: fixture });
    const key: string | undefined = keys.initech?.inboxes.orders;
    if (!key?.startsWith('ak_initech') || !ids.initech?.inboxes.orders) throw new Error(key);`,
};

/** Programs of their own, which end with 0 if all is well. */
const PROGRAMS: readonly Environment[] = (
  [
    ['Next.js 16, msw 2', 'bundlers', 'node20', 'next.mjs', [], NEXT_APP],
    ['Next.js 16, dev, turbopack, msw 2', 'bundlers', 'node20', 'next-dev.mjs', [], nextDev('--turbopack')],
    ['Next.js 16, dev, webpack, msw 2', 'bundlers', 'node20', 'next-dev.mjs', [], nextDev('--webpack')],
    ['webpack 5, msw 2', 'bundlers', 'node20', 'webpack.mjs', [], {}],
    ['esbuild and rollup, msw 2', 'bundlers', 'node20', 'esbuild-and-rollup.mjs', [], {}],
    ['AsyncAPI parser, hey-api and orval', 'generators', 'node24', 'documents.mjs', [], {}],
    ['MCP conformance', 'mcp', 'node24', 'conformance.mjs', [], {}],
    ['no msw', 'bare', 'node20', 'without-msw.mjs', [], {}],
    ['msw 2.7, which is too old', 'tooOld', 'node20', 'too-old-msw.mjs', [], {}],
    ['TypeScript 5.9, node16, JSON fixture', 'earlier', 'node20', 'json-fixture.mjs', [], JSON_FIXTURE],
    ...MANAGERS,
    ['Bun, bare import of the matchers', 'earlier', 'bun', 'matchers.test.mjs', ['test'], {}],
    [
      'Jest 30, babel, without a flag',
      'earlier',
      'node20',
      'jest-without-flag.test.js',
      [`${MODULES}/jest/bin/jest.js`],
      { ...BABEL, ...jestConfig({}) },
    ],
  ] as const
).map(([name, project, runtime, program, args, files]) => ({
  name,
  project,
  runtime,
  story: 'story.mjs',
  files: { ...files, [program]: readProgram(program) },
  args: [...args, `./${program}`],
  checks: [],
}));

/** The example of an agent, with each of its test runners. */
const EXAMPLES: readonly Environment[] = (
  [
    ['vitest', 'node24', ['./example.mjs', 'vitest']],
    ['Jest', 'node20', ['./example.mjs', 'jest']],
    ['pytest', 'node20', ['./example.mjs', 'pytest']],
    ['TypeScript', 'node20', [`${MODULES}/typescript/bin/tsc`, '-p', '.']],
  ] as const
).map(([tool, runtime, args]) => ({
  name: `Example with ${tool}`,
  project: 'earlier',
  runtime,
  story: 'story.mjs',
  files: {
    ...EXAMPLE_FILES,
    'tsconfig.json': JSON.stringify({ compilerOptions: { ...COMPILER_OPTIONS, ...OF_EXAMPLE }, include: ['*.ts'] }),
    'example.mjs': readProgram('example.mjs'),
  },
  args,
  checks: [],
  ...(tool === 'pytest' && { needs: ['python3', '-m', 'pytest', '--version'] }),
}));

const BLOCKS = findBlocks('src/README.md');

/** The recipes that need a tool which is not installed here, as they are on the page. */
const RECIPES: readonly Environment[] = (
  [
    ['Jest', 'own-server.test.cjs', 'node20', [`${MODULES}/jest/bin/jest.js`, '--testMatch', '**/*.test.cjs']],
    ['Mocha', 'inbox.mocha.mjs', 'node20', [`${MODULES}/mocha/bin/mocha.js`, 'inbox.mocha.mjs']],
    ['Bun', 'server.bun.test.js', 'bun', ['test', './server.bun.test.js']],
    ['Cypress', 'cypress.config.mjs', 'node20', ['./cypress.mjs']],
  ] as const
).map(([tool, file, runtime, args]) => ({
  name: `Recipe for ${tool}`,
  project: 'earlier',
  runtime,
  story: 'story.mjs',
  files: {
    [file]: BLOCKS.find((block) => block.file === file)?.text ?? '',
    'cypress.mjs': readProgram('cypress.mjs'),
    ...jestConfig({}),
  },
  args,
  checks: [],
}));

/** All environments; the slowest first. */
export const ENVIRONMENTS: readonly Environment[] = [
  ...EXAMPLES,
  ...RECIPES,
  ...PROGRAMS,
  ...BROWSER_MODES,
  ...JESTS,
  ...VITESTS,
  ...VITEST_FIXTURES,
  ...COMPILERS,
  ...TYPES_WITHOUT_MSW,
  ...NODE_TESTS,
  ...SCRIPTS,
];
