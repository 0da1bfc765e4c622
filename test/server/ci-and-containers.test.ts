import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, type TestContext, test, vi } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { eventually } from '../support/eventually.ts';
import { type Running, run } from '../support/processes.ts';
import { findBlocks } from '../support/readme.ts';
import { ROOT } from '../support/root.ts';

// There is no GitHub, GitLab or Docker here: the shell lines of the page run in a project, in the order in which these
// would run them, with the variables that these would set.

const LIMIT_MS = 240_000;
vi.setConfig({ testTimeout: LIMIT_MS });

interface Step {
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: { readonly path?: string };
}

const BLOCKS = findBlocks('src/server/ci-and-containers.md');
const textOf = (file: string) => BLOCKS.find((block) => block.file === file)?.text ?? '';
const { jobs } = parse(textOf('tests.yml')) as { jobs: Record<string, { steps: readonly Step[] }> };
const gitlab = parse(textOf('.gitlab-ci.yml'));
const compose = parse(textOf('compose.yaml'));

const TARBALL = `${packageJson.name}-${packageJson.version}.tgz`;
const folder = mkdtempSync(join(tmpdir(), 'agent-mailbox-mock-ci-'));
const template = join(folder, 'template');

/** A test in Node, which fails if the variable FAIL is set, and one in Python. */
const FILES = {
  'mail.test.mjs': `
    import assert from 'node:assert/strict';
    import test from 'node:test';
    test('the inbox is known', async () => {
      const headers = { 'X-API-Key': process.env.MAILBOX_INBOX_KEY };
      const reply = await fetch(process.env.MAILBOX_BASE_URL + '/v1/me', { headers });
      assert.equal((await reply.json()).tier, process.env.FAIL ? 'none' : 'inbox');
    });`,
  'test_mail.py': `
import json, os, unittest, urllib.request

class MailTest(unittest.TestCase):
    def test_inbox_is_known(self):
        headers = {'X-API-Key': os.environ['MAILBOX_INBOX_KEY']}
        request = urllib.request.Request(os.environ['MAILBOX_BASE_URL'] + '/v1/me', headers=headers)
        self.assertEqual(json.load(urllib.request.urlopen(request))['tier'], 'inbox')
`,
};

beforeAll(async () => {
  await mkdir(template);
  const context = { onTestFinished: () => undefined };
  const packed = run(context as never, ['npm', 'pack', '--silent', '--pack-destination', template]);
  expect(await packed.ended, packed.stderr).toEqual({ code: 0, signal: null });
  const manifest = {
    private: true,
    scripts: { test: 'node --test mail.test.mjs' },
    devDependencies: { [packageJson.name]: `file:${TARBALL}` },
  };
  await writeFile(join(template, 'package.json'), JSON.stringify(manifest));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(template, name), text);
  const locked = run(context as never, ['npm', 'install', '--package-lock-only', '--no-audit', '--no-fund'], {
    cwd: template,
  });
  expect(await locked.ended, locked.stderr).toEqual({ code: 0, signal: null });
}, LIMIT_MS);

afterAll(() => rmSync(folder, { recursive: true }));

/** Copies the project of a user, whose `npm ci` has not run yet. */
async function createProject(name: string): Promise<string> {
  const project = join(folder, name);
  await cp(template, project, { recursive: true });
  return project;
}

/** Runs lines as GitHub does: by bash, and to the first command that fails. */
function runLines(test: TestContext, lines: string, cwd: string, env: NodeJS.ProcessEnv): Running {
  return run(test, ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', lines], { cwd, env, isGroup: true });
}

/** Runs the steps of a job as GitHub does, and returns the lines that ran, and the artifacts that it would keep. */
async function runJob(test: TestContext, name: string, env: NodeJS.ProcessEnv = {}) {
  const project = await createProject(`${name}-${env.FAIL ?? 'passes'}`);
  const variablesFile = join(project, '..', `${name}-${env.FAIL ?? 'passes'}.env`);
  await writeFile(variablesFile, '');
  const ran: string[] = [];
  const kept: string[] = [];
  let isFailed = false;
  for (const step of jobs[name]?.steps ?? []) {
    const isForFailure = step.if?.startsWith('failure()') ?? false;
    if (isForFailure !== isFailed) continue;
    kept.push(...(step.uses?.startsWith('actions/upload-artifact@') ? String(step.with?.path).trim().split('\n') : []));
    if (step.run === undefined) continue;
    const variables = readVariables(readFileSync(variablesFile, 'utf8'));
    const running = runLines(test, step.run, project, { ...env, ...variables, GITHUB_ENV: variablesFile });
    // The end of the step is that of its shell: what it has started in the background may run on.
    const code = await new Promise((resolve) => running.child.once('exit', resolve));
    ran.push(step.run);
    if (code !== 0 && !env.FAIL) throw new Error(`${step.run}\n${running.stdout}${running.stderr}`);
    isFailed ||= code !== 0;
  }
  return { project, ran, kept, isFailed };
}

/** Reads the file of `$GITHUB_ENV`: GitHub refuses a line that sets no variable. */
function readVariables(text: string): Record<string, string> {
  const lines = text.split('\n').filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = /^([A-Z]\w*)=(.*)$/.exec(line) ?? [];
      if (!name) throw new Error(`GitHub would refuse the line ${line}.`);
      return [name, value];
    }),
  );
}

test('the job with one step passes on GitHub, and keeps nothing', async (context) => {
  const { ran, kept, isFailed } = await runJob(context, 'one-step');
  expect([ran.length, kept, isFailed]).toEqual([2, [], false]);
});

test.for(['one-step', 'several-languages'])(
  'the job %s fails with its test, and keeps the trace',
  async (name, context) => {
    const { project, kept, isFailed } = await runJob(context, name, { FAIL: 'yes' });
    expect([isFailed, kept[0]]).toEqual([true, 'trace.*']);
    expect(await readFile(join(project, 'trace.jsonl'), 'utf8')).toContain('/v1/me');
    expect(await readFile(join(project, 'trace.html'), 'utf8')).toContain('<html');
  },
);

test('the job with several languages passes on GitHub with one emulator', async (context) => {
  const { ran, kept, isFailed } = await runJob(context, 'several-languages');
  expect(ran.slice(2)).toEqual(['npm test', 'python3 -m unittest', expect.stringContaining('curl')]);
  expect([kept, isFailed]).toEqual([[], false]);
});

test.for([
  { env: {}, code: 0, files: [] },
  { env: { FAIL: 'yes' }, code: 1, files: ['trace.jsonl', 'trace.html'] },
])('the job of GitLab ends with $code and keeps $files', async ({ env, code, files }, context) => {
  const project = await createProject(`gitlab-${code}`);
  const script = runLines(context, gitlab.test.script.join('\n'), project, env);
  expect(await script.ended, script.stdout + script.stderr).toEqual({ code, signal: null });
  const after = runLines(context, gitlab.test.after_script.join('\n'), project, env);
  expect(await after.ended, after.stderr).toEqual({ code: 0, signal: null });
  const isThere = (file: string) => readFile(join(project, file)).then(Boolean, () => false);
  const kept = await Promise.all(gitlab.test.artifacts.paths.map(isThere));
  expect(gitlab.test.artifacts.paths.filter((_: string, index: number) => kept[index])).toEqual(files);
});

const AGENT = (answers: boolean) => `
  const { createServer } = require('node:http');
  createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    reply.end();
    if (request.method !== 'POST') return;
    const { messageId } = JSON.parse(body);
    const base = process.env.MAILBOX_BASE_URL + '/v1/inboxes/' + process.env.MAILBOX_INBOX_ID;
    const headers = { 'X-API-Key': process.env.MAILBOX_INBOX_KEY, 'Content-Type': 'application/json' };
    if (${answers}) await fetch(base + '/reply/' + messageId, { method: 'POST', headers, body: '{"plainBody":"Yes."}' });
    await fetch(process.env.MAILBOX_DONE_URL, { method: 'POST' });
  }).listen(process.env.MAILBOX_AGENT_PORT, '127.0.0.1');
`;

const SCENARIO = `
name: Answers a question
steps: [{ deliver: { from: dana@customer.test, subject: A question, plainBody: Are you open? } }]
expect: [{ answered: first }]
`;

/** Creates a project with an agent, and with the file that `init --ci` writes. */
async function createEvaluatedProject(test: TestContext, service: 'github' | 'gitlab') {
  const project = await createProject(`evaluate-${service}`);
  // It is there already if the test is tried again.
  await mkdir(join(project, 'scenarios'), { recursive: true });
  await writeFile(join(project, 'scenarios/question.yaml'), SCENARIO);
  const installed = runLines(test, 'npm ci', project, {});
  expect(await installed.ended, installed.stderr).toEqual({ code: 0, signal: null });
  const init = runLines(test, `npx agent-mailbox-mock init --ci ${service}`, project, {});
  expect(await init.ended, init.stderr).toEqual({ code: 0, signal: null });
  return project;
}

test('the workflow of init --ci github passes, and fails with a summary of what broke', async (context) => {
  const project = await createEvaluatedProject(context, 'github');
  const text = await readFile(join(project, '.github/workflows/evaluate.yml'), 'utf8');
  expect(text).toBe(textOf('evaluate.yml'));
  const steps: readonly Step[] = parse(text).jobs.evaluate.steps;
  const [, evaluate = '', compare = '', keep = ''] = steps.flatMap(({ run: lines }) => lines ?? []);
  const summary = join(project, 'summary.md');
  const env = { GITHUB_STEP_SUMMARY: summary, GITHUB_WORKSPACE: project };
  await writeFile(join(project, 'agent.js'), AGENT(true));
  const before = runLines(context, `${evaluate}\n${keep}`, project, env);
  expect(await before.ended, before.stderr).toEqual({ code: 0, signal: null });
  expect(await readFile(summary, 'utf8')).toContain('## Evaluation: the gate is met');
  await writeFile(join(project, 'agent.js'), AGENT(false));
  const after = runLines(context, evaluate, project, env);
  expect(await after.ended).toEqual({ code: 1, signal: null });
  expect(after.stderr).toContain('::error file=scenarios/question.yaml,line=2,title=Answers a question::0 of 5 trials');
  const compared = runLines(context, compare, project, env);
  expect(await compared.ended).toEqual({ code: 1, signal: null });
  expect(await readFile(summary, 'utf8')).toContain('## Evaluation: worse than before');
  expect(await readFile(join(project, 'report.html'), 'utf8')).toContain('<html');
});

test('the job of init --ci gitlab keeps its report', async (context) => {
  const project = await createEvaluatedProject(context, 'gitlab');
  const text = await readFile(join(project, '.gitlab-ci.yml'), 'utf8');
  expect(text).toBe(textOf('evaluate.gitlab-ci.yml'));
  const { evaluate } = parse(text);
  await writeFile(join(project, 'agent.js'), AGENT(true));
  const job = runLines(context, evaluate.script.join('\n'), project, {});
  expect(await job.ended, job.stderr).toEqual({ code: 0, signal: null });
  for (const file of [...evaluate.artifacts.paths, evaluate.artifacts.reports.junit]) {
    expect(await readFile(join(project, file), 'utf8')).not.toBe('');
  }
});

/** The lines of the Dockerfile by their instruction. */
function instructionsOf(dockerfile: string): Record<string, string> {
  return Object.fromEntries(
    dockerfile
      .trim()
      .split('\n')
      .map((line) => [line.replace(/ .*/, ''), line.replace(/^\S+ /, '')]),
  );
}

test('the image starts, is healthy, and serves the tests of compose and nobody with another host', async (context) => {
  const { COPY, RUN = '', ENV = '', CMD = '' } = instructionsOf(textOf('Dockerfile'));
  expect(COPY).toBe(`${TARBALL} ./`);
  const image = join(folder, 'image');
  await mkdir(image);
  await cp(join(template, TARBALL), join(image, TARBALL));
  const installed = run(context, ['sh', '-c', RUN], { cwd: image });
  expect(await installed.ended, installed.stderr).toEqual({ code: 0, signal: null });

  // Only the port is another one, because that of the page may be in use here.
  const port = String(await findFreePort());
  const ofImage = Object.fromEntries(ENV.split(' ').map((part) => part.split('=')));
  expect(ofImage).toEqual({ AGENT_MAILBOX_HOST: '0.0.0.0', AGENT_MAILBOX_PORT: '4025' });
  const { mailbox, tests } = compose.services;
  const env = { ...ofImage, ...mailbox.environment, AGENT_MAILBOX_PORT: port };
  const server = run(context, JSON.parse(CMD), { cwd: image, env });

  const isHealthy = async () => (await run(context, ['sh', '-c', mailbox.healthcheck.test], { env }).ended).code === 0;
  await eventually(async () => expect(await isHealthy(), server.stderr).toBe(true));

  const here = (text: string) => text.replace('http://mailbox:4025', `http://127.0.0.1:${port}`);
  const variables = Object.entries<string>(tests.environment).map(([name, value]) => [name, here(value)]);
  const project = await createProject('compose');
  const shell = run(context, ['sh', '-c', tests.command], { cwd: project, env: Object.fromEntries(variables) });
  expect(await shell.ended, shell.stdout + shell.stderr).toEqual({ code: 0, signal: null });

  const askAs = async (host: string) => {
    const url = `http://127.0.0.1:${port}/health`;
    const { ended, stdout } = await finish(
      run(context, ['curl', '-s', '-w', '%{http_code}', '-o', '/dev/null', '-H', `Host: ${host}`, url]),
    );
    return [(await ended).code, stdout];
  };
  expect(await askAs(`mailbox:${port}`)).toEqual([0, '200']);
  expect((await askAs(`other:${port}`))[1]).not.toBe('200');

  server.child.kill('SIGTERM');
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(await isHealthy()).toBe(false);
});

test('the image that is built in a clone starts, is healthy, and keeps its control calls', async (context) => {
  const lines = (await readFile(join(ROOT, '.config/Dockerfile'), 'utf8')).split('\n');
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const image = await mkdtemp(join(folder, 'built-image-'));
  const here = (text: string) =>
    text.replaceAll('/mailbox', image).replace(' /agent-mailbox-mock-*', ` ${template}/agent-mailbox-mock-*`);
  const [, , install = ''] = valuesOf('RUN');
  const installed = run(context, ['sh', '-c', here(install)], { cwd: image });
  expect(await installed.ended, installed.stderr).toEqual({ code: 0, signal: null });

  const [values = ''] = valuesOf('ENV');
  const [entry = ''] = valuesOf('ENTRYPOINT');
  const [health = ''] = valuesOf('HEALTHCHECK');
  const port = String(await findFreePort());
  const env = { ...Object.fromEntries(values.split(' ').map((part) => part.split('='))), AGENT_MAILBOX_PORT: port };
  const server = run(context, JSON.parse(here(entry)), { cwd: folder, env });
  const check: [string, ...string[]] = JSON.parse(health.replace(/^.* CMD /, ''));
  const codeOfCheck = async () => (await run(context, check, { env }).ended).code;
  await eventually(async () => expect(await codeOfCheck(), server.stderr).toBe(0));
  const call = await fetch(`http://127.0.0.1:${port}/__mock/clock`);
  expect(call.status).toBe(401);

  expect(valuesOf('USER')).toEqual(['node']);
  server.child.kill('SIGTERM');
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(await codeOfCheck()).toBe(1);
});

test('every file of the page is one whose lines are run', () => {
  expect(BLOCKS.map(({ file }) => file)).toEqual([
    ...['tests.yml', '.gitlab-ci.yml', 'evaluate.yml', 'evaluate.gitlab-ci.yml', 'Dockerfile', 'compose.yaml'],
  ]);
});

async function finish(running: Running): Promise<Running> {
  await running.ended;
  return running;
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
