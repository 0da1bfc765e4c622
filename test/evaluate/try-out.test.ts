import { execFileSync } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, type TestContext, test, vi } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import type { Evaluation } from '../../src/evaluate/index.ts';
import { DIST } from '../support/dist.ts';
import { makeFolder } from '../support/folder.ts';
import { run } from '../support/processes.ts';
import { ROOT } from '../support/root.ts';

// What a pull request shows: the example agent in a repository of its own, and the lines of the workflow that
// `init --ci` writes, as they stand.
vi.setConfig({ testTimeout: 600_000 });

/** 24 questions, of which one is about a size. */
const QUESTIONS = Array.from({ length: 24 }, (_, index) =>
  index === 16 ? 'Do you have size M?' : `Are you open at ${index} o'clock?`,
);
const BROKEN = 'Question Do you have size M?';

const SCENARIOS = `name: 'Question {{question}}'
each:
${QUESTIONS.map((question) => `  - question: ${JSON.stringify(question)}`).join('\n')}
steps: [{ deliver: { from: dana@customer.test, subject: A question, plainBody: '{{question}}' } }]
expect: [{ answered: first }, { sent: { to: dana@customer.test, times: 1 } }]
`;

/** Starts the example agent. */
const AGENT = "await import('./start-agent.mjs');\n";

/** Creates a repository with the example agent, the scenarios and the workflow, and with the package as npm installs it. */
async function createRepository(context: TestContext) {
  const folder = await makeFolder(context);
  for (const name of ['agent', 'decide', 'serve-agent', 'start-agent']) {
    const source = await readFile(join(ROOT, 'test/example', `${name}.ts`), 'utf8');
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 };
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    await writeFile(join(folder, `${name}.mjs`), outputText.replaceAll(/'(\.\/[\w-]+)\.ts'/g, "'$1.mjs'"));
  }
  const summaries = await makeFolder(context);
  await mkdir(join(folder, 'scenarios'));
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await symlink(ROOT, join(folder, 'node_modules', packageJson.name));
  await symlink(join(DIST, 'main.cjs'), join(folder, 'node_modules/.bin', packageJson.name));
  await writeFile(join(folder, 'scenarios/questions.yaml'), SCENARIOS);
  await writeFile(join(folder, 'agent.js'), AGENT);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await writeFile(join(folder, '.gitignore'), 'node_modules\nreport.*\nbefore.json\n');
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=Dana', '-c', 'user.email=dana@customer.test'];
    return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' }).trim();
  };
  const runLines = async (lines: string, env: NodeJS.ProcessEnv = {}) => {
    const command = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', lines] as const;
    const running = run(context, command, { cwd: folder, env, isGroup: true });
    const ended = await running.ended;
    return { code: ended?.code, stderr: running.stderr };
  };
  git('init', '--quiet');
  expect(await runLines('npx agent-mailbox-mock init --ci github')).toEqual({ code: 0, stderr: '' });
  const workflow = parse(await readFile(join(folder, '.github/workflows/evaluate.yml'), 'utf8'));
  const lines: readonly string[] = workflow.jobs.evaluate.steps.flatMap(
    ({ run: line }: { run?: string }) => line ?? [],
  );
  /** Changes the agent, commits that, and runs the steps of the workflow: of a push, or of a pull request. */
  const evaluateCommit = async (message: string, change: (decide: string) => string) => {
    const file = join(folder, 'decide.mjs');
    await writeFile(file, change(await readFile(file, 'utf8')));
    git('add', '.');
    git('commit', '--quiet', '--allow-empty', '-m', message);
    const [, evaluate = '', compare = '', keep = ''] = lines;
    const summary = join(summaries, `${message}.md`);
    const env = { GITHUB_STEP_SUMMARY: summary, GITHUB_WORKSPACE: folder };
    const ran = await runLines(evaluate, env);
    const report: Evaluation = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
    const shown = await readFile(summary, 'utf8');
    const next = await runLines(message === 'base' ? keep : compare, env);
    const comment = (await readFile(summary, 'utf8')).slice(shown.length);
    return { ...ran, report, summary: shown.split('\n'), next: next.code, comment, commit: git('rev-parse', 'HEAD') };
  };
  return evaluateCommit;
}

test('a pull request shows first which one of 24 scenarios its commit has broken, and whether all are', async (context) => {
  const evaluateCommit = await createRepository(context);
  const base = await evaluateCommit('base', (decide) => decide);
  expect([base.code, base.report.passed, base.next], base.stderr).toEqual([0, 120, 0]);
  expect(base.summary[0]).toBe('## Evaluation: the gate is met');
  expect(base.summary).toContain(`- Evaluated at the commit ${base.commit.slice(0, 12)}.`);

  // No size is known any more.
  const one = await evaluateCommit('one', (decide) => decide.replace('size ([SML])', 'size ([XYZ])'));
  expect([one.code, one.report.passed, one.next]).toEqual([1, 115, 1]);
  expect(one.summary[0]).toBe('## Evaluation: the gate is not met');
  expect(one.summary[4]).toMatch(/^\| ❌ Question Do you have size M\? \| 0\/5 \|/);
  expect(one.summary.filter((line) => line.startsWith('| ❌'))).toHaveLength(1);
  const annotations = one.stderr.split('\n').filter((line) => line.startsWith('::error '));
  expect(annotations).toEqual([
    expect.stringMatching(
      `^::error file=scenarios/questions\\.yaml,line=\\d+,title=${BROKEN.replace('?', '\\?')}::0 of 5 trials passed`,
    ),
  ]);
  const [title, headline, section, worse] = one.comment.split('\n').filter((line) => line !== '');
  expect([title, section]).toEqual(['## Evaluation: worse than before', '**Worse:**']);
  expect(headline).toMatch(/^Worse: 120\/120 \\\(100 \\%\\\) → 115\/120 \\\(96 \\%\\\);/);
  expect(worse).toMatch(/^- Question Do you have size M\?: 5\/5 \\\(100 \\%\\\) → 0\/5 \\\(0 \\%\\\), p \\= 0\.024$/);
  const [was, is] = [base, one].map(({ commit }) => commit.slice(0, 12));
  expect(one.comment).toContain(`- The commit was ${was}, and is ${is}.`);
  expect(one.comment).toContain('- Unchanged: 23 scenarios;');

  const all = await evaluateCommit('all', (decide) => decide.replaceAll("action: 'reply'", "action: 'draft'"));
  expect([all.code, all.report.passed, all.next]).toEqual([1, 0, 1]);
  expect(all.comment).toContain(
    'Worse: 120/120 \\(100 \\%\\) → 0/120 \\(0 \\%\\); on the whole p < 0.001'.replace('<', '&lt;'),
  );
  expect(all.comment.split('\n').filter((line) => / → 0\/5 \\\(0 \\%\\\), p /.test(line))).toHaveLength(24);
  // GitHub shows ten annotations of a step: the last one says how many more there are.
  expect(all.stderr.split('\n').filter((line) => line.startsWith('::error '))).toHaveLength(10);
});
