import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, posix } from 'node:path';
import { build, preview } from 'vite';
import { afterAll, expect, type TestContext, test } from 'vitest';
import type { Command } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { COMMON_FLAGS, variableOf } from '../src/cli/flags.ts';
import { DEFAULT_PORT } from '../src/server/loopback.ts';
import { useBrowser } from './support/browser.ts';
import { COMMAND, type Running, run } from './support/processes.ts';
import { fillReaderFolder } from './support/reader-folder.ts';
import {
  type Block,
  findBlocks,
  findDeadLinks,
  findUnusedParts,
  GENERATED_PAGES,
  PAGES,
  PROJECT_PAGES,
  readPage,
  renderPage,
} from './support/readme.ts';
import { ROOT } from './support/root.ts';

const README = readPage('README.md');
const BLOCKS = PAGES.flatMap(findBlocks);
const { scripts: SCRIPTS, version: VERSION }: { scripts: Record<string, string>; version: string } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

/** The commands on the pages that no test of its block runs, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm install': 'it made the tree that this test runs in; .ci/run does it afresh',
  'npm test': 'it is what runs this test',
  'npm pack': 'the package test runs it',
  'npx agent-mailbox-mock --open': 'it opens a browser; a test of the command lets it open another program',
  'npx agent-mailbox-mock listen --forward-to http://127.0.0.1:3000/hooks':
    'it does not end; a test of the command runs it',
  "npx agent-mailbox-mock --mail 'mails/**/*.eml' --mail archive.mbox": 'tests of the command start it with mail files',
  'npx agent-mailbox-mock exec --report mailbox-report -- npm test': 'a test of the command runs one that fails',
  [`npm install --save-dev ../agent-mailbox-mock/agent-mailbox-mock-${VERSION}.tgz msw`]: 'the package test runs it',
  'npm install --save-dev ws @types/ws': 'they are dependencies of this project',
  'npm install --save-dev @playwright/test @msw/playwright': 'they are dependencies of this project',
  'npm install --save-dev vitest': 'it is a dependency of this project',
  'npx vitest run': 'the test of the tests on the pages does it',
  'npm install ai zod': 'they are dependencies of this project',
  'npm install --save-dev jest @jest/globals @swc/core @swc/jest': 'npm run test:all -- compat does it',
  'npx jest': 'npm run test:all -- compat does it',
  'npx mocha inbox.mocha.mjs': 'npm run test:all -- compat does it',
  'bun test': 'npm run test:all -- compat does it',
  'npx agent-mailbox-mock exec -- python3 -m pytest test_agent.py': 'npm run test:all -- compat does it',
  'pip install pytest': 'the test of the recipe skips itself without pytest',
  'npx msw init public --save': 'the test of the page runs it',
  'npx agent-mailbox-mock exec -- python3 -m pytest': 'the test of the recipe for pytest runs it',
  'npx agent-mailbox-mock --port 4101 &': 'the tests of the balancers start several processes',
  'npx agent-mailbox-mock --port 4102 &': 'the tests of the balancers start several processes',
  'MAILBOX_URLS=http://127.0.0.1:4101,http://127.0.0.1:4102 npx playwright test': 'it needs both processes',
  'npx agent-mailbox-mock fleet nginx --servers http://10.0.0.1:4025,http://10.0.0.2:4025 --public-url https://mailbox.example > nginx.conf':
    'the tests of the balancers run it',
  'nginx -t -c "$PWD/nginx.conf"': 'the tests of the balancers run it',
};

/** The files on the pages that no test runs or uses, with the reason. */
const NOT_USED: Readonly<Record<string, string>> = {
  'agent.jest.ts': 'npm run test:all -- compat runs it, and checks its types',
  'jest.config.json': 'npm run test:all -- compat uses it',
  'cypress.config.mjs': 'npm run test:all -- compat calls its functions',
  'inbox.cy.js': "its page is the reader's",
  'own-server.test.cjs': 'npm run test:all -- compat runs it',
  'inbox.mocha.mjs': 'npm run test:all -- compat runs it',
  'server.bun.test.js': 'npm run test:all -- compat runs it',
  'confirm.spec.ts': "its mail is the reader's; types are checked",
  'inbox.spec.ts': "its page is the reader's; types are checked",
  'instrumentation.ts': 'Next.js is not installed here; types are checked',
  'jest.config.mjs': 'Jest is not installed here; the test of the recipe does what it says',
  'preview.ts': 'Storybook is not installed here; types are checked',
  'main.ts': 'types are checked',
  'nightly.ts': "its server is the reader's; types are checked",
  'tests.yml': 'test/server/ci-and-containers.test.ts runs its shell lines',
  '.gitlab-ci.yml': 'test/server/ci-and-containers.test.ts runs its shell lines',
  'evaluate.yml': 'test/server/ci-and-containers.test.ts runs its shell lines',
  'evaluate.gitlab-ci.yml': 'test/server/ci-and-containers.test.ts runs its shell lines',
  Dockerfile: 'test/server/ci-and-containers.test.ts runs its shell lines',
  'compose.yaml': 'test/server/ci-and-containers.test.ts runs its shell lines',
  'vite.config.ts': 'types are checked',
};

const PICTURES = ['src/inspector/run.png'];

/** What the package has besides its build, by the beginning of the path. */
const SHIPPED: readonly string[] = [...PAGES, ...PICTURES, 'CHANGELOG.md', 'LICENSE', 'fixtures/', 'dist/llms.txt'];

/** The tests on the pages that change what other files of the same process would find: requests, or matchers. */
const ALONE = BLOCKS.flatMap(({ file, text }) =>
  file && isTest(file) && /'(?:msw\b|agent-mailbox-mock\/(?:matchers|vitest)'|\.\/mailbox\.setup)/.test(text)
    ? [file]
    : [],
);

/** Runs the tests on the pages; what is installed is loaded as it is, once for the files that change nothing there. */
const TESTS = {
  resolve: { preserveSymlinks: true },
  test: {
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      { extends: true, test: { name: 'together', include: ['*.test.ts'], exclude: ALONE, isolate: false } },
    ],
  },
};

/** Runs the recipe for Jest: vitest has the same globals, and the same set-up before all tests. */
const JEST_LIKE = {
  test: { globals: true, globalSetup: './like-jest.mjs', include: ['inbox.test.cjs'] },
};

/** Calls the recipe's two functions as Jest calls them. */
const LIKE_JEST = `
  export { default as setup } from './start-mailbox.mjs';
  export { default as teardown } from './stop-mailbox.mjs';
`;

/** `npx agent-mailbox-mock` as it is run here, wherever the working folder is. */
const AS_BUILT = COMMAND.map(quote).join(' ');

/** What stands for `npx`, which would look for our package in a registry. */
const NPX = `#!/bin/sh
name=$1
shift
[ "$name" = agent-mailbox-mock ] && exec ${AS_BUILT} "$@"
exec "$name" "$@"
`;

/** The commands of ours that listen to nothing. */
const ENDS_BY_ITSELF = /^npx agent-mailbox-mock (behaviours|client|evaluate|exec|init|openapi|samples|validate)\b/;

/** What writes a fixture that every start in its folder uses: it gets a folder of its own. */
const WRITES_FIXTURE = /^npx agent-mailbox-mock init\b/;

/** The commands that need an emulator that listens already. */
const NEEDS_EMULATOR = /\bnpx agent-mailbox-mock (receive|trigger)\b/;

const openProfile = useBrowser();

const FOLDER = createFolder();
afterAll(() => rmSync(FOLDER, { recursive: true }));

test('the generated parts are as the code has them; npm run docs writes them', () => {
  for (const page of GENERATED_PAGES) expect(readPage(page), page).toBe(renderPage(page));
  expect(findUnusedParts()).toEqual([]);
});

test('the page of the API lists every entry of the package', () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object };
  const listed = [...readPage('src/README.md').matchAll(/^- `(agent-mailbox-mock[^`]*)`: /gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(
    Object.keys(exports)
      .map((entry) => entry.replace('.', 'agent-mailbox-mock'))
      .sort(),
  );
});

// The built package is here already, because the command of the other tests is from it.
test('no cell of a table is longer than 260 characters: a list is easier to read', () => {
  const long = GENERATED_PAGES.flatMap((page) =>
    readPage(page)
      .split('\n')
      .filter((line) => line.startsWith('|') && line.split('|').some((cell) => cell.trim().length > 260))
      .map((line) => `${page}: ${line.slice(0, 80)}`),
  );
  expect(long).toEqual([]);
});

test('every link leads to a page or a heading that is there and that the package has', () => {
  const isShipped = (file: string) => SHIPPED.some((start) => file.startsWith(start));
  for (const page of PAGES) expect(findDeadLinks(page, isShipped), page).toEqual([]);
  for (const page of PROJECT_PAGES)
    expect(
      findDeadLinks(page, () => true),
      page,
    ).toEqual([]);
});

test('the pages for those who work on the source name only files that are there', () => {
  const files = listFiles();
  const names = new Set(files.map((file) => basename(file)));
  const ownPages = ['.github/CONTRIBUTING.md', 'test/README.md', 'test/support/README.md'];
  const wrong = [...new Set([...ownPages, ...GENERATED_PAGES])].flatMap((page) =>
    [...readPage(page).matchAll(/`((?:src|test|\.config|fixtures)\/[\w./-]+|[\w-]+\.(?:tsx?|mjs))`/g)]
      .map(([, path = '']) => path.replace(/\/$/, ''))
      .filter((path) => {
        if (path.includes('/')) return !files.includes(path);
        // The pages for users also name files of theirs.
        return ownPages.includes(page) && !names.has(path);
      })
      .map((path) => `${page}: ${path}`),
  );
  expect(wrong).toEqual([]);
});

test('the page of test/support names every file there', () => {
  const page = readPage('test/support/README.md');
  const files = listFiles().filter((file) => file.startsWith('test/support/') && /(?<!\.test)\.(?:ts|mjs)$/.test(file));
  expect(files.filter((file) => !page.includes(`\`${file.slice('test/support/'.length)}\``))).toEqual([]);
});

/** Lists the files and the folders of the repository, but for those that were built or installed. */
function listFiles(): string[] {
  const folders = ['src', 'test', '.config', 'fixtures'];
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      posix.join(folder, file.replaceAll('\\', '/')),
    ),
  );
}

test('every page can be reached from the README, which a person can read', () => {
  expect(PAGES.filter((page) => page !== 'README.md' && !README.includes(`](${page}`))).toEqual([]);
});

test('no two blocks stand for the same file', () => {
  const files = BLOCKS.flatMap(({ file }) => file ?? []);
  expect(files).toEqual([...new Set(files)]);
});

test('every block is a command, an answer to one, or a file that is run or used', () => {
  const isUsed = (file: string) =>
    BLOCKS.some((block) => block.file !== file && namesOf(file).some((name) => block.text.includes(name)));
  const stray = BLOCKS.filter(({ language, file }, index) => {
    if (file === undefined) return language !== 'sh' && answerTo(index - 1) === undefined;
    return !isTest(file) && file !== 'page.ts' && !isUsed(file) && !isOfOtherRunner(file) && !(file in NOT_USED);
  });
  expect(stray).toEqual([]);
});

test('what is not run is on a page, and the README has the commands that the project promises', () => {
  expect(BLOCKS.flatMap(commandsOf)).toEqual(expect.arrayContaining(Object.keys(NOT_RUN)));
  expect(BLOCKS.map(({ file }) => file)).toEqual(expect.arrayContaining(Object.keys(NOT_USED)));
  expect(README).toContain('\nnpm install && npm start\n');
  expect(README).toContain('\nnpm install && npm test\n');
});

test('every variable on the pages is one that the command reads', () => {
  const variables = PAGES.flatMap((page) => readPage(page).match(/\bAGENT_MAILBOX_\w+/g) ?? []);
  const flags = [{ flags: COMMON_FLAGS }, ...Object.values<Command>(COMMANDS)].flatMap((each) =>
    Object.keys(each.flags),
  );
  expect(flags.map(variableOf)).toEqual(expect.arrayContaining(variables));
});

for (const [index, block] of BLOCKS.entries()) {
  const commands = commandsOf(block).filter((command) => !(command in NOT_RUN));
  const answer = answerTo(index);
  if (commands.length === 0) continue;
  test(`${block.page}:${block.line} runs: ${commands.join('; ')}`, async (context) => {
    const output = await runCommands(context, commands, answer !== undefined);
    if (answer) expect(output.trim()).toEqual(statedOutput(answer));
  });
}

test('the tests on the pages pass', async (context) => {
  const files = BLOCKS.flatMap(({ file }) => (file !== undefined && isTest(file) ? [join(FOLDER, file)] : []));
  const { stdout } = await runToEnd(context, 'vitest run --reporter=json');
  const { testResults } = JSON.parse(stdout) as { testResults: { name: string; status: string; message: string }[] };
  expect(testResults.map(({ message }) => message).join('')).toBe('');
  expect(testResults.map(({ name }) => name).sort()).toEqual(files.sort());
  expect(new Set(testResults.map(({ status }) => status))).toEqual(new Set(['passed']));
});

test('the recipe for Jest passes with the globals of vitest', async (context) => {
  const { ended, stderr } = await runToEnd(context, 'vitest run --config jest-like.config.mjs');
  expect([await ended, stderr]).toEqual([{ code: 0, signal: null }, '']);
});

test('the recipe for pytest passes', async (context) => {
  const python = runShell(context, 'python3 -m pytest --version');
  if ((await python.ended).code !== 0 && !process.env.CI) return context.skip('pytest is not installed here');
  await runToEnd(context, `${AS_BUILT} client python`);
  const command = `${AS_BUILT} exec -- python3 -m pytest -p no:cacheprovider test_mail.py`;
  const { ended, stdout } = await runToEnd(context, command);
  expect(await ended, stdout).toEqual({ code: 0, signal: null });
});

test('the web page of the README shows what its worker answers', async (context) => {
  const page = await (await openProfile(context)).newPage();
  await runToEnd(context, 'npx msw init public --save');
  const config = { configFile: false, root: FOLDER, logLevel: 'error' } as const;
  await build({ ...config, build: { target: 'es2022' } });
  const { httpServer, resolvedUrls } = await preview({ ...config, preview: { host: '127.0.0.1', port: 0 } });
  context.onTestFinished(() => void httpServer.close());
  await page.goto(String(resolvedUrls?.local[0]));
  await page.getByText('{"messages":[{').waitFor();
});

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agent-mailbox-mock-readme-'));
  fillReaderFolder(folder, {
    'vitest.config.mjs': `export default ${JSON.stringify(TESTS)};`,
    'like-jest.mjs': LIKE_JEST,
    'jest-like.config.mjs': `export default ${JSON.stringify(JEST_LIKE)};`,
    npx: NPX,
    'index.html': '<!doctype html><body><script type="module" src="/page.ts"></script>',
  });
  return folder;
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts');
}

/** The names of a file: TypeScript imports `x.ts` as `x.js`. */
function namesOf(file: string): string[] {
  return [file, file.replace(/\.ts$/, '.js')];
}

/** Whether a file is a part of the recipe for Jest or for pytest. */
function isOfOtherRunner(file: string): boolean {
  return file.endsWith('.py') || file === JEST_LIKE.test.include[0];
}

/** The commands of a shell block, continued lines joined; the parts of `a && b` are commands of their own. */
function commandsOf({ language, text }: Block): string[] {
  if (language !== 'sh') return [];
  const lines = text.replaceAll('\\\n', '').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).flatMap((line) => line.split(' && '));
}

/** The block after a shell block that states what its last command prints. */
function answerTo(index: number): Block | undefined {
  const [command, answer] = [BLOCKS[index], BLOCKS[index + 1]];
  const isAnswer = answer?.file === undefined && /^(json|text)$/.test(answer?.language ?? '');
  return command?.language === 'sh' && isAnswer ? answer : undefined;
}

/** What a command must print. The README may spread JSON over lines, and write … for what it leaves out of a text. */
function statedOutput({ language, text }: Block) {
  if (language === 'json') return JSON.stringify(JSON.parse(text));
  const parts = text.trim().split('…');
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return parts.length === 1 ? text.trim() : expect.stringMatching(new RegExp(`^${escaped.join('[^]*')}$`));
}

/** Runs the commands of one block in order, and returns the output of the last one. */
async function runCommands(context: TestContext, commands: readonly string[], isAnswered: boolean): Promise<string> {
  if (commands.every((command) => command.startsWith('curl '))) return await runCurls(context, commands);
  if (commands.every((command) => NEEDS_EMULATOR.test(command))) return await runBesideEmulator(context, commands);
  if (isAnswered) {
    const { stdout, stderr } = await runToEnd(context, withFreePort(commands.join('; ')));
    return stdout + stderr;
  }
  const own = commands.some((command) => WRITES_FIXTURE.test(command)) ? mkdtempSync(join(FOLDER, 'written-')) : '';
  const place = own && `cd ${quote(own)} && `;
  for (const command of commands) {
    if (ENDS_BY_ITSELF.test(command)) await runToSuccess(context, command, place);
    else await startAndStop(context, command, place);
  }
  return '';
}

async function runToSuccess(context: TestContext, command: string, place: string): Promise<void> {
  const { ended, stderr } = await runToEnd(context, place + withFreePort(command));
  expect([await ended, stderr], command).toEqual([{ code: 0, signal: null }, '']);
}

async function startAndStop(context: TestContext, command: string, place: string): Promise<void> {
  await using _ = await startEmulator(context, command, place);
}

/** Runs curl against one running emulator, on a free port instead of the default one. */
async function runCurls(context: TestContext, commands: readonly string[]): Promise<string> {
  await using emulator = await startEmulator(context, 'npx agent-mailbox-mock');
  const outputs: string[] = [];
  for (const command of commands) {
    const here = command.replace(`http://127.0.0.1:${DEFAULT_PORT}`, emulator.url).replace(/^curl/, 'curl -sSf');
    const { ended, stdout, stderr } = await runToEnd(context, here);
    expect([await ended, stderr], command).toEqual([{ code: 0, signal: null }, '']);
    outputs.push(stdout.replaceAll('\r', ''));
  }
  return outputs.at(-1) ?? '';
}

/** Runs commands of the emulator that call a running one, and returns the output of the last one. */
async function runBesideEmulator(context: TestContext, commands: readonly string[]): Promise<string> {
  await using emulator = await startEmulator(context, 'npx agent-mailbox-mock');
  let output = '';
  for (const command of commands) {
    const here = command.replace('npx agent-mailbox-mock', `AGENT_MAILBOX_URL=${emulator.url} ${AS_BUILT}`);
    const { ended, stdout, stderr } = await runToEnd(context, here);
    expect([await ended, stderr], command).toEqual([{ code: 0, signal: null }, '']);
    output = stdout;
  }
  return output;
}

/** A command of ours as it runs here: from source, on a free port if it listens, without npm in between. */
function withFreePort(command: string): string {
  if (command === 'npm start') return `cd ${quote(ROOT)} && exec ${SCRIPTS.start} --port 0`;
  expect(command).toContain('npx agent-mailbox-mock');
  const here = command.replace('npx agent-mailbox-mock', `exec ${AS_BUILT}`);
  return ENDS_BY_ITSELF.test(command) ? here : `${here} --port 0`;
}

/** Starts the emulator and waits until it listens; at the end of its scope, it must exit cleanly. */
async function startEmulator(
  context: TestContext,
  command: string,
  place = '',
): Promise<AsyncDisposable & { url: string }> {
  const { child, ended, untilStdout } = runShell(context, place + withFreePort(command));
  const banner = await untilStdout(/^(Ready\.|\{.*\})\n/m);
  const stop = async () => {
    child.kill();
    expect(await ended, command).toEqual({ code: 0, signal: null });
  };
  return { url: /http:\/\/[\d.]+:\d+/.exec(banner)?.[0] ?? '', [Symbol.asyncDispose]: stop };
}

async function runToEnd(context: TestContext, command: string): Promise<Running> {
  const running = runShell(context, command);
  await running.ended;
  return running;
}

/**
 * Runs a command as a shell reads it, in the reader's folder, with the project's own tools and its `npx`. A shell whose input is a
 * socket, as it is here, takes itself for a remote one and reads the user's start-up file unless it is told not to.
 */
function runShell(context: TestContext, command: string): Running {
  const PATH = [FOLDER, join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  return run(context, ['bash', '--norc', '-o', 'pipefail', '-c', command], { cwd: FOLDER, env: { PATH } });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
