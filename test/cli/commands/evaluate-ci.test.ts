import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type TestContext, test, vi } from 'vitest';
import type { Evaluation } from '../../../src/evaluate/index.ts';
import { listProblems } from '../../../src/evaluate/list-problems.ts';
import { evaluationSchema } from '../../../src/evaluate/report-schema.ts';
import { NEVER, runHere } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

// One after the other, because each has a working folder of its own.
vi.setConfig({ testTimeout: 240_000 });

const AGENTS = fileURLToPath(new URL('../../evaluate/agents/agents.mjs', import.meta.url));

const scenario = (name: string, subject = name) => `
- name: ${JSON.stringify(name)}
  steps: [{ deliver: { from: dana@customer.test, subject: ${JSON.stringify(subject)}, plainBody: Where is it? } }]
  expect: [{ answered: first }, { sent: { to: dana@customer.test, times: 1 } }]
`;

const FIVE = ['a', 'b', 'c', 'd', 'e'].map((name) => scenario(name)).join('');

/** Runs the command, and returns its exit code, its output and the report, if it is JSON. */
async function runEvaluate(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { code, out, err } = await runHere(['evaluate', ...args], { ...process.env, ...env }, { interrupted: NEVER });
  const text = out.join('\n');
  return { code, text, err, report: text.startsWith('{') ? (JSON.parse(text) as Evaluation) : undefined };
}

/** Writes scenarios, and returns a function that runs them and writes the report. */
async function prepare(context: TestContext, scenarios: string) {
  const folder = await makeFolder(context);
  const file = join(folder, 'scenarios.yaml');
  await writeFile(file, scenarios);
  // The repository of this test, or none, and not that of the project, in which files may change meanwhile.
  const here = vi.spyOn(process, 'cwd').mockReturnValue(folder);
  context.onTestFinished(() => here.mockRestore());
  const runInto = async (name: string, flags: readonly string[] = [], agent = 'replier') => {
    const args = [file, '--json', '--quiet-time', '800ms', ...flags, '--', process.execPath, AGENTS, agent];
    const ran = await runEvaluate(args);
    await writeFile(join(folder, name), ran.text);
    return { ...ran, path: join(folder, name) };
  };
  return { folder, file, runInto };
}

test.sequential('the shards of a run are merged into the report of one run', async (context) => {
  const { folder, runInto } = await prepare(context, FIVE);
  const whole = await runInto('whole.json');
  const one = await runInto('1.json', ['--shard', '1/2']);
  const two = await runInto('2.json', ['--shard', '2/2']);
  expect(one.report?.scenarios.map(({ name }) => name)).toEqual(['a', 'c', 'e']);
  const merged = await runEvaluate(['merge', two.path, one.path, '--json']);
  expect([merged.code, merged.report?.scenarios.map(({ name }) => name)]).toEqual([0, ['a', 'b', 'c', 'd', 'e']]);
  expect(merged.report).toMatchObject({ passed: 5, isGateMet: true, missingShards: [] });
  expect(merged.report?.provenance).toEqual(whole.report?.provenance);
  expect(listProblems(evaluationSchema(), merged.report)).toEqual([]);

  const missing = await runEvaluate(['merge', one.path]);
  expect([missing.code, missing.err]).toEqual([2, 'agent-mailbox-mock: Shard 2 of 2 is missing.']);
  expect(missing.text).toContain('Gate: not met. Shard 2 of 2 is missing.');
  const twice = await runEvaluate(['merge', one.path, one.path]);
  expect([twice.code, twice.err]).toEqual([
    2,
    `agent-mailbox-mock: The reports ${one.path} and ${one.path} are both of the shard 1/2.`,
  ]);
  const ofWhole = await runEvaluate(['merge', whole.path]);
  expect([ofWhole.code, ofWhole.err]).toEqual([
    2,
    `agent-mailbox-mock: The report ${whole.path} is of a whole run, not of a shard.`,
  ]);
  const otherCommand = await runInto('3.json', ['--shard', '2/2'], 'doubler');
  expect((await runEvaluate(['merge', one.path, otherCommand.path])).err).toContain('are of different commands.');
  await writeFile(join(folder, 'scenarios.yaml'), FIVE.replace('"e"', '"f"'));
  const otherScenarios = await runInto('4.json', ['--shard', '2/2']);
  expect((await runEvaluate(['merge', one.path, otherScenarios.path])).err).toContain('are of different scenarios.');
});

test.sequential('a shard that has no scenario says so, and is merged like another', async (context) => {
  const { runInto } = await prepare(context, scenario('a'));
  const one = await runInto('1.json', ['--shard', '1/2']);
  const two = await runInto('2.json', ['--shard', '2/2']);
  expect([two.code, two.err]).toEqual([
    0,
    'agent-mailbox-mock: Shard 2/2 has no scenario: 1 scenario cannot fill 2 shards.',
  ]);
  expect(await runEvaluate(['merge', one.path, two.path])).toMatchObject({ code: 0 });
  for (const wrong of ['0/2', '3/2', 'x', '1']) {
    expect((await runInto('3.json', ['--shard', wrong])).err).toContain('--shard must be a part of all parts, such as');
  }
});

test.sequential('a report says how it came about, and a comparison says what else has changed', async (context) => {
  const { folder, file, runInto } = await prepare(context, scenario('a') + scenario('b'));
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=Dana', '-c', 'user.email=dana@customer.test'];
    return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' }).trim();
  };
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '-m', 'One');
  const before = await runInto('before.json', ['--repeat', '2']);
  expect(listProblems(evaluationSchema(), before.report)).toEqual([]);
  expect(before.report?.agents).toMatchObject([{ command: [process.execPath, AGENTS, 'replier'], url: null }]);
  expect(before.report?.provenance).toMatchObject({
    git: { isClean: true, commit: git('rev-parse', 'HEAD') },
    node: process.version,
    repeat: 2,
    shard: null,
    suite: { scenarios: 2 },
  });
  await writeFile(file, scenario('a') + scenario('b', 'Another subject'));
  const after = await runInto('after.json', ['--repeat', '2', '--seed', '9']);
  expect(after.report?.provenance.git?.isClean).toBe(false);
  const compared = await runEvaluate(['compare', before.path, after.path]);
  expect(compared.code).toBe(0);
  expect(compared.text).toContain(
    'The scenario has changed in between, so nothing is compared:\n  b: 2/2 (100 %) → 2/2 (100 %)\n',
  );
  expect(compared.text).toContain('The seed was 1, and is 9.');
  expect(compared.text).toContain(' with changes.');
  await writeFile(file, scenario('a', 'Other') + scenario('b', 'Other'));
  const all = await runInto('all.json');
  expect(await runEvaluate(['compare', before.path, all.path])).toMatchObject({
    code: 2,
    err: expect.stringContaining('have in common has changed in between.'),
  });
  const stopped = await runInto(
    'stopped.json',
    ['--repeat', '3', '--concurrency', '1', '--max-failures', '1'],
    'doubler',
  );
  if (stopped.report?.stoppedAfter === 1) {
    expect((await runEvaluate(['compare', before.path, stopped.path])).err).toContain('was stopped by --max-failures');
  }
  await writeFile(join(folder, 'wrong.json'), JSON.stringify({ ...before.report, provenance: { git: {} } }));
  expect((await runEvaluate(['compare', join(folder, 'wrong.json'), before.path])).err).toContain(
    'is not a report of agent-mailbox-mock evaluate --json: $.provenance.',
  );
});

/** A name that would be much else in Markdown, in HTML and in a command of GitHub. */
const HOSTILE = 'a | b `c` <img src=x> @octocat **d** [e](https://evil.test) 100%, x: y';

test.sequential('a summary has the report as Markdown, and annotations name the file and the line', async (context) => {
  const { folder, file } = await prepare(context, scenario('fine') + scenario(HOSTILE));
  const summary = join(folder, 'summary.md');
  await writeFile(summary, 'Before.\n');
  const printing = join(folder, 'agent.mjs');
  await writeFile(printing, `console.log('</pre> @octocat\\n::error::forged'); process.exit(1);`);
  const command = ['--', process.execPath, printing];
  const env = { GITHUB_STEP_SUMMARY: summary, GITHUB_WORKSPACE: folder };
  const ran = await runEvaluate([file, '--summary', ...command], env);
  const text = await readFile(summary, 'utf8');
  expect([ran.code, text.startsWith('Before.\n## Evaluation: the gate is not met\n')]).toEqual([1, true]);
  expect(text).toContain(
    '| ❌ a \\| b \\`c\\` &lt;img src\\=x&gt; @&#8203;octocat \\*\\*d\\*\\* \\[e\\]\\(https:&#8203;//evil.test\\) 100\\%, x: y |',
  );
  expect(text).toContain('&lt;/pre&gt; @octocat\n::error::forged');
  expect(text.replace(/<pre>.*?<\/pre>/gs, '')).not.toMatch(/@octocat|<img/);
  const annotations = ran.err.split('\n').filter((line) => line.startsWith('::error '));
  expect(annotations).toHaveLength(2);
  expect(annotations[1]).toMatch(
    /^::error file=scenarios\.yaml,line=6,title=a \| b `c` <img src=x> @octocat \*\*d\*\* \[e\]\(https%3A\/\/evil\.test\) 100%25%2C x%3A y::0 of 1 trials passed \(0 %25\); 100 %25 required\.%0A/,
  );
  const [, token = ''] = /^::stop-commands::(\S+)$/m.exec(ran.text) ?? [];
  expect(ran.text.endsWith(`\n::${token}::`)).toBe(true);

  const printed = await runEvaluate([file, '--summary', ...command], { GITHUB_STEP_SUMMARY: '' });
  expect(printed.text).toMatch(/^## Evaluation: the gate is not met\n/);
  expect(printed.err).not.toContain('::error');
});

test.sequential('a comparison as Markdown says what broke, what got better and what could not have been seen', async (context) => {
  const folder = await makeFolder(context);
  const write = async (name: string, scenarios: readonly (readonly [string, number, number])[]) => {
    const shown = scenarios.map(([each, passed, failed]) => ({ name: each, passed, failed }));
    await writeFile(join(folder, name), JSON.stringify({ type: 'evaluation', version: 1, scenarios: shown }));
    return join(folder, name);
  };
  const before = await write('before.json', [
    [HOSTILE, 10, 0],
    ['b', 0, 10],
    ['c', 5, 5],
  ]);
  const after = await write('after.json', [
    [HOSTILE, 0, 10],
    ['b', 10, 0],
    ['c', 7, 3],
  ]);
  const { code, text } = await runEvaluate(['compare', before, after, '--markdown']);
  expect(code).toBe(1);
  expect(text.split('\n')).toEqual([
    '## Evaluation: worse than before',
    '',
    expect.stringMatching(/^Better in some scenarios and worse in others: 15\/30 \\\(50 \\%\\\) → 17\/30/),
    '',
    '**Worse:**',
    '',
    expect.stringMatching(/^- a \\\| b .* @&#8203;octocat .*: 10\/10 \\\(100 \\%\\\) → 0\/10/),
    '',
    '**Better:**',
    '',
    expect.stringMatching(/^- b: /),
    '',
    '**Within chance:**',
    '',
    expect.stringMatching(/^- c: .*so few trials cannot show a change; this difference needs \d+ trials$/),
    '',
    expect.stringMatching(/^- If the agent is the same/),
  ]);
});

test.sequential('init writes scenarios and a workflow at once, and refuses one place for both', async (context) => {
  const folder = await makeFolder(context);
  const initial = process.cwd();
  process.chdir(folder);
  context.onTestFinished(() => process.chdir(initial));
  const runInit = (...args: readonly string[]) => runHere(['init', '--scenarios', '--ci', ...args]);
  const refused = await runInit('github', 'place');
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('"place" cannot be the place of both')]);
  const wrong = await runInit('jenkins');
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('must be github or gitlab, not "jenkins"')]);
  expect(await readdir(folder)).toEqual([]);
  expect(await runInit('github')).toMatchObject({ code: 0, err: '' });
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(
    expect.arrayContaining([join('.github', 'workflows', 'evaluate.yml'), join('scenarios', '01-lost-reply.yaml')]),
  );
});
