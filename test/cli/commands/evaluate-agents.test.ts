import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Window } from 'happy-dom';
import { expect, type TestContext, test, vi } from 'vitest';
import type { Evaluation } from '../../../src/evaluate/index.ts';
import { listProblems } from '../../../src/evaluate/list-problems.ts';
import { evaluationSchema } from '../../../src/evaluate/report-schema.ts';
import { NEVER, runHere } from '../../support/command.ts';
// The page of a report has the built views of the inspector.
import '../../support/dist.ts';
import { makeFolder } from '../../support/folder.ts';

vi.setConfig({ testTimeout: 240_000 });

const AGENTS = fileURLToPath(new URL('../../evaluate/agents/agents.mjs', import.meta.url));

const commandOf = (agent: string) => `'${process.execPath}' '${AGENTS}' ${agent}`;

/** Both agents pass `plain` and the sample; of those with a lost reply, only the one that looks first passes. */
const SCENARIOS = ['plain', 'lost 1', 'lost 2', 'lost 3']
  .map(
    (name) => `
- name: ${name}
  steps:
    ${name === 'plain' ? '' : '- fault: { name: lost-reply, operation: replyToMessage }'}
    - deliver: { from: dana@customer.test, subject: ${name}, plainBody: Where is it? }
    - until: quiet
    - advance: 1h
  expect: [{ sentOnce: { to: dana@customer.test, inReplyTo: first } }]
`,
  )
  .join('');

/** Writes scenarios, and returns a function that runs the command in their folder, and reads what it printed. */
async function prepare(context: TestContext) {
  const folder = await makeFolder(context);
  const file = join(folder, 'scenarios.yaml');
  await writeFile(file, SCENARIOS);
  const runEvaluate = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { code, out, err } = await runHere(['evaluate', ...args], { ...process.env, ...env }, { interrupted: NEVER });
    const text = out.join('\n');
    return { code, text, err, report: text.startsWith('{') ? (JSON.parse(text) as Evaluation) : undefined };
  };
  const runInto = async (name: string, flags: readonly string[]) => {
    const ran = await runEvaluate([file, '--json', '--quiet-time', '800ms', ...flags]);
    await writeFile(join(folder, name), ran.text);
    return { ...ran, path: join(folder, name) };
  };
  return { folder, file, runEvaluate, runInto };
}

const TWO = ['--agent', `careful=${commandOf('replier')}`, '--agent', `hasty=X=1 ${commandOf('doubler')}`];

test('several agents run through the same trials, and every report says which one did what', async (context) => {
  const { folder, runInto, runEvaluate } = await prepare(context);
  const [junit, html, traces, summary] = ['r.xml', 'r.html', 'traces', 'summary.md'].map((name) => join(folder, name));
  const files = ['--junit', String(junit), '--html', String(html), '--traces', String(traces)];
  const { code, report, path } = await runInto('report.json', [...TWO, '--repeat', '2', ...files]);
  expect(listProblems(evaluationSchema(), report)).toEqual([]);
  expect([code, report?.isGateMet]).toEqual([1, false]);
  expect(report?.agents).toMatchObject([
    { name: 'careful', command: [commandOf('replier')], url: null, passed: 8, failed: 0, isGateMet: true },
    { name: 'hasty', passed: 2, failed: 6, isGateMet: false },
  ]);
  expect(report?.scenarios.map(({ name, agent, passed }) => [name, agent, passed])).toEqual([
    ['plain', 'careful', 2],
    ['plain', 'hasty', 2],
    ...['lost 1', 'lost 2', 'lost 3'].flatMap((name) => [
      [name, 'careful', 2],
      [name, 'hasty', 0],
    ]),
  ]);
  // The trials of a number are pairs: the seeds, the ids and the addresses of the mail are the same.
  const seedsOf = (agent: string) =>
    report?.scenarios.filter((each) => each.agent === agent).flatMap(({ trials }) => trials.map(({ seed }) => seed));
  expect(seedsOf('careful')).toEqual(seedsOf('hasty'));
  const receivedIn = async (agent: string) => {
    const text = await readFile(join(String(traces), `002-lost-1-${agent}-2.jsonl`), 'utf8');
    const entries = text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)));
    return entries.find(({ kind }) => kind === 'mail-received')?.data.mail;
  };
  const mail = await receivedIn('careful');
  expect(mail.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(await receivedIn('hasty')).toEqual(mail);
  expect(await readdir(String(traces))).toHaveLength(16);

  const { document } = new Window();
  document.body.innerHTML = await readFile(String(html), 'utf8').then((text) =>
    text.replaceAll(/<script.*?<\/script>/gs, ''),
  );
  const texts = (selector: string) => [...document.querySelectorAll(selector)].map(({ textContent }) => textContent);
  expect(texts('.agents tbody .title')).toEqual(['careful', 'hasty']);
  expect(texts('.by-agent thead th')).toEqual(['Scenario', 'careful', 'hasty']);
  expect(texts('.by-agent tbody .title')).toEqual(['lost 1', 'lost 2', 'lost 3', 'plain']);
  expect(texts('.by-agent tbody tr:first-child .count')).toEqual(['2/2 (34–100 %)', '0/2 (0–66 %), not met']);
  const suites = [
    ...(await readFile(String(junit), 'utf8')).matchAll(/<testsuite name="([^"]*)"[^>]* failures="(\d+)"/g),
  ];
  expect(suites.map(([, name, failures]) => `${name} ${failures}`)).toContain('hasty: lost 1 2');
  expect(suites.map(([, name, failures]) => `${name} ${failures}`)).toContain('careful: lost 1 0');

  // In the terminal and in a summary, the scenarios are rows, and the agents are columns.
  const env = { GITHUB_STEP_SUMMARY: String(summary), GITHUB_WORKSPACE: folder };
  const shown = await runEvaluate([join(folder, 'scenarios.yaml'), '--quiet-time', '800ms', '--summary', ...TWO], env);
  const lines = shown.text.split('\n').map((line) => line.split(/ {2,}/));
  expect(lines).toContainEqual(['Scenario', 'careful', 'hasty']);
  expect(lines).toContainEqual(['lost 2', '1/1 (21–100 %)', '0/1 (0–79 %), not met']);
  expect(lines).toContainEqual(['hasty', '1/4', '0', '1 of 4 met', '-', '-', expect.any(String), expect.any(String)]);
  expect(shown.text).toContain(
    'Gate: not met. 1 of 2 agents has not reached what is required in every scenario:\n' +
      '  hasty: lost 1: 0 of 1 trials passed (0 %); 100 % required.\n',
  );
  const annotations = shown.err.split('\n').filter((line) => line.startsWith('::error '));
  expect(annotations).toHaveLength(3);
  expect(annotations[0]).toMatch(/^::error file=scenarios\.yaml,line=10,title=lost 1::hasty: 0 of 1 trials passed/);
  const markdown = await readFile(String(summary), 'utf8');
  // What has not reached what is required stands first.
  expect(markdown.split('\n')[4]).toBe('| ❌ lost 1 | 1/1 \\(21–100 \\%\\) | 0/1 \\(0–79 \\%\\), not met |');
  expect(markdown).toContain('\n| ✅ careful | 4/4 |');

  const compared = await runEvaluate(['compare', path]);
  expect(compared.code).toBe(1);
  expect(compared.text).toContain('careful → hasty:\nWorse: 8/8 (100 %) → 2/8 (25 %)');
});

test('agents of one report are compared in pairs, and those of two reports by their names', async (context) => {
  const { folder, runInto, runEvaluate } = await prepare(context);
  const only = ['--repeat', '7', '--only', 'lost 1'];
  const both = await runInto('both.json', [...TWO, ...only]);
  const text = 'Worse: 7/7 (100 %) → 0/7 (0 %); on the whole p = 0.016';
  const compared = await runEvaluate(['compare', both.path]);
  expect([compared.code, compared.text]).toEqual([1, expect.stringContaining(`careful → hasty:\n${text}`)]);
  expect(compared.text).toContain('are compared in pairs of the same number and seed, by the exact test of McNemar.');
  expect(compared.text).not.toContain('The command was');
  const turned = await runEvaluate(['compare', both.path, '--agent', 'hasty', '--agent', 'careful', '--markdown']);
  expect([turned.code, turned.text.split('\n')[0]]).toEqual([0, '## Evaluation: careful is better than hasty']);
  const worse = await runEvaluate(['compare', both.path, '--markdown']);
  expect([worse.code, worse.text.split('\n')[0]]).toEqual([1, '## Evaluation: hasty is worse than careful']);

  // The agent "careful" has become hasty, and "hasty" careful.
  const swapped = ['--agent', `careful=${commandOf('doubler')}`, '--agent', `hasty=${commandOf('replier')}`];
  const after = await runInto('after.json', [...swapped, ...only]);
  const each = await runEvaluate(['compare', both.path, after.path]);
  expect(each.code).toBe(1);
  expect(each.text).toContain(`careful:\n${text}`);
  expect(each.text).toContain('hasty:\nBetter: 0/7 (0 %) → 7/7 (100 %)');
  expect(each.text).toContain(`The command was ${commandOf('replier')}, and is ${commandOf('doubler')}.`);
  const json = JSON.parse((await runEvaluate(['compare', both.path, after.path, '--json'])).text);
  expect(json).toMatchObject([
    { agents: { before: 'careful', after: 'careful' }, scenarios: [{ pairs: { lost: 7, gained: 0 } }] },
    { agents: { before: 'hasty', after: 'hasty' }, scenarios: [{ pairs: { lost: 0, gained: 7 } }] },
  ]);
  const same = await runEvaluate(['compare', both.path, after.path, '--agent', 'careful', '--agent', 'hasty']);
  expect([same.code, same.text]).toEqual([0, expect.stringContaining('careful → hasty:\nWithin chance: 7/7')]);

  const single = await runInto('single.json', ['--agent', commandOf('replier'), '--only', 'plain']);
  expect(single.report?.agents).toMatchObject([{ name: null, command: [commandOf('replier')] }]);
  const refusals = [
    [[single.path], 'is of one agent; give a second report, or one of a run with several agents.'],
    [[both.path, '--agent', 'careful'], 'name at least two different ones by --agent, or none.'],
    [[both.path, '--agent', 'careful', '--agent', 'careful'], 'name at least two different ones by --agent, or none.'],
    [[both.path, '--agent', 'careful', '--agent', 'other'], 'has no agent "other"; it has careful, hasty.'],
    [
      [both.path, single.path],
      'have no agent in common; name one of each by --agent: careful, hasty, and one without a name.',
    ],
  ] as const;
  for (const [args, message] of refusals) {
    const refused = await runEvaluate(['compare', ...args]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(message)]);
  }
  await writeFile(join(folder, 'none.json'), '{}');
});

test('shards of several agents are merged into every report of one run', async (context) => {
  const { folder, runInto, runEvaluate } = await prepare(context);
  const whole = await runInto('whole.json', TWO);
  const one = await runInto('1.json', [...TWO, '--shard', '1/2']);
  const two = await runInto('2.json', [...TWO, '--shard', '2/2']);
  const html = join(folder, 'merged.html');
  const merged = await runEvaluate(['merge', two.path, one.path, '--json', '--html', html]);
  expect(merged.code).toBe(1);
  const shape = (report: Evaluation | undefined) =>
    report?.scenarios.map(({ name, agent, passed, failed }) => ({ name, agent, passed, failed }));
  expect(shape(merged.report)).toEqual(shape(whole.report));
  const totals = (report: Evaluation | undefined) => report?.agents.map(({ leastSilenceMs: _, ...others }) => others);
  expect(totals(merged.report)).toEqual(totals(whole.report));
  expect(listProblems(evaluationSchema(), merged.report)).toEqual([]);
  const page = await readFile(html, 'utf8');
  expect(page).toContain('<table class="by-agent">');
  expect(page).toContain('a page of merged reports has none');
  const other = await runInto('3.json', ['--agent', `other=${commandOf('replier')}`, '--shard', '2/2']);
  expect((await runEvaluate(['merge', one.path, other.path])).err).toContain('are of different agents.');
});

test('after so many failures, only the agent that had them gets no further trial', async (context) => {
  const { runInto, runEvaluate } = await prepare(context);
  const flags = [...TWO, '--repeat', '3', '--max-failures', '2', '--concurrency', '1'];
  const { report, path } = await runInto('stopped.json', flags);
  expect(report?.agents).toMatchObject([
    { name: 'careful', passed: 12, stoppedAfter: null },
    { name: 'hasty', failed: 2, stoppedAfter: 2 },
  ]);
  const refused = await runEvaluate(['compare', path]);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('The run of hasty in ')]);
  const text = await runEvaluate(['merge', path]);
  expect(text.err).toContain('is of a whole run, not of a shard.');
});

test('each of several agents is started once with --shared, one after the other', async (context) => {
  const { runInto } = await prepare(context);
  const { report } = await runInto('shared.json', [...TWO, '--shared', '--only', 'lost 1', '--repeat', '2']);
  expect(report?.agents).toMatchObject([
    { name: 'careful', passed: 2 },
    { name: 'hasty', passed: 0, failed: 2 },
  ]);
});

/** What gives no agent, or not clearly which. */
const WRONG: readonly (readonly [flags: readonly string[], message: string])[] = [
  [
    ['--agent', 'one=node a.js', '--agent', 'node b.js'],
    'Each of several agents needs a name with a small letter, as in --agent rules="node rules.js"; "node b.js" has none.',
  ],
  [['--agent', 'one=node a.js', '--agent', 'FOO=bar node b.js'], '"FOO=bar node b.js" has none.'],
  [['--agent', 'node a.js', '--agent-url', 'x=http://127.0.0.1:1/'], '"node a.js" has none.'],
  [
    ['--agent', 'one=node a.js', '--agent', 'One=node b.js'],
    'Two agents have the name One; give each a name of its own.',
  ],
  [['--agent', ''], '--agent must have a command, as in --agent rules="node agent.js", not "".'],
  [['--agent', 'one='], '--agent must have a command, as in --agent one="node agent.js", not "one=".'],
  [['--agent', 'FOO=bar'], '--agent must have a command'],
  [['--agent', 'node a.js', '--', 'node', 'b.js'], 'takes either --agent or a command after --, but got both.'],
  [['--agent', 'no-such-agent --x'], 'The command "no-such-agent" cannot run: it was not found.'],
  [['--agent', 'FOO=bar no-such-agent'], 'The command "no-such-agent" cannot run: it was not found.'],
  [
    ['--agent', 'foo=bar node a.js'],
    'The command "bar" cannot run: it was not found; if foo is a variable, name the agent: --agent agent="foo=bar node a.js".',
  ],
  [['--agent-url', 'x=nowhere'], `--agent-url must be the URL of the agent's webhook, not "nowhere".`],
];

test.for(WRONG)('the agents %j are refused before anything runs', async ([flags, message], context) => {
  const { file, runEvaluate } = await prepare(context);
  const { code, err } = await runEvaluate([file, ...flags]);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test('a single command of the shell keeps its variables, and a name is a word with a small letter', async (context) => {
  const { runInto } = await prepare(context);
  const only = ['--only', 'plain'];
  const variables = await runInto('1.json', ['--agent', `FOO=bar ${commandOf('replier')}`, ...only]);
  expect([variables.code, variables.report?.agents[0]?.name]).toEqual([0, null]);
  const named = await runInto('2.json', ['--agent', `gpt-4.1=FOO='a b' ${commandOf('replier')}`, ...only]);
  expect([named.code, named.report?.agents]).toMatchObject([0, [{ name: 'gpt-4.1' }]]);
  expect(named.report?.scenarios[0]?.agent).toBe('gpt-4.1');
});
