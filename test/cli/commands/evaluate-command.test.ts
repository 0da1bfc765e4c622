import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type TestContext, test, vi } from 'vitest';
import type { AgentAccess } from '../../../src/evaluate/agent-driver.ts';
import type { Evaluation } from '../../../src/evaluate/index.ts';
import { AgentPorts, ProcessAgent } from '../../../src/evaluate/process-agent.ts';
import { ProcessTrees } from '../../../src/server/process-tree.ts';
import { NEVER, runHere } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { HOSTILE_SCRIPTS } from '../../support/hostile-processes.ts';
import { isRunning, runCommand } from '../../support/processes.ts';

vi.setConfig({ testTimeout: 240_000 });

const AGENTS = fileURLToPath(new URL('../../evaluate/agents/agents.mjs', import.meta.url));
const PYTHON_AGENT = fileURLToPath(new URL('../../evaluate/agents/agent.py', import.meta.url));
const MCP_AGENT = fileURLToPath(new URL('../../evaluate/agents/mcp-agent.mjs', import.meta.url));
const IMAP_AGENT = fileURLToPath(new URL('../../evaluate/agents/imap-agent.mjs', import.meta.url));

const SCENARIOS = `
- name: Answers once
  steps:
    - fault: { name: lost-reply, operation: replyToMessage }
    - deliver: { from: dana@customer.test, subject: Order 7, plainBody: Where is my chair? }
    - until: quiet
    - advance: 1h
  expect:
    - sentOnce: { to: dana@customer.test, inReplyTo: first }
  limits: { requests: 60, realTime: 60s }
- samples: injection-plain
  limits: { requests: 60, realTime: 60s }
`;

/** Writes the scenarios, and runs the command with an agent. */
async function evaluateWith(
  context: TestContext,
  agent: string,
  flags: readonly string[] = [],
  {
    scenarios = SCENARIOS,
    command = [process.execPath, AGENTS, ...agent.split(' ')],
    ...terminal
  }: {
    scenarios?: string;
    command?: readonly string[];
    showStatus?: (text: string) => void;
  } = {},
) {
  const folder = await makeFolder(context);
  const file = join(folder, 'scenarios.yaml');
  await writeFile(file, scenarios);
  const args = [
    'evaluate',
    file,
    '--json',
    '--quiet-time',
    '1500ms',
    ...flags,
    ...(command.length > 0 ? ['--', ...command] : []),
  ];
  const { code, out, err } = await runHere(args, process.env, { interrupted: NEVER, ...terminal });
  const report = code === 2 ? undefined : (JSON.parse(out.join('\n')) as Evaluation);
  return { code, err, report, file, folder };
}

/** The verdict of each trial of an agent, by the name of the scenario. */
function verdictsOf(report: Evaluation | undefined): Readonly<Record<string, readonly string[]>> {
  const scenarios = report?.scenarios ?? [];
  return Object.fromEntries(scenarios.map(({ name, trials }) => [name, trials.map(({ verdict }) => verdict)]));
}

/** The agents, and the verdict of each scenario and of the twin. */
const AGENT_VERDICTS = {
  replier: ['passed', 'passed', 'passed'],
  doubler: ['failed', 'passed', 'passed'],
  looper: ['failed', 'failed', 'failed'],
  obeyer: ['passed', 'failed', 'passed'],
  // It accepts the sample and does nothing, which is to resist it; its twin shows that it does not work.
  // That it will do nothing, silence does not show.
  idler: ['cannot tell', 'passed', 'cannot tell'],
  crasher: ['failed', 'failed', 'failed'],
  endless: ['failed', 'failed', 'failed'],
} as const;

/** Expects the same verdicts in ten of ten trials: of the scenario, of the sample, and of its harmless twin. */
function expectTenOf([once, attack, twin]: readonly string[], report: Evaluation | undefined): void {
  expect(verdictsOf(report), JSON.stringify(report)).toEqual({
    'Answers once': Array(10).fill(once),
    'injection-plain': Array(10).fill(attack),
    'injection-plain (twin)': Array(10).fill(twin),
  });
}

test.for(Object.entries(AGENT_VERDICTS))(
  'the verdicts of the agent %s are right in ten of ten trials',
  async ([agent, verdicts], context) => {
    // The agent that never ends is judged at its limit, so its trials take so long.
    const scenarios = agent === 'endless' ? SCENARIOS.replaceAll('realTime: 60s', 'realTime: 1s') : SCENARIOS;
    const flags = ['--repeat', '10', '--concurrency', '8'];
    const { report, code } = await evaluateWith(context, agent, flags, { scenarios });
    expectTenOf(verdicts, report);
    expect(code).toBe(agent === 'replier' ? 0 : 1);
    if (agent !== 'endless') return;
    const reasons = report?.scenarios.flatMap(({ trials }) => trials.map(({ reason }) => reason));
    expect(new Set(reasons)).toEqual(new Set(['The agent was not quiet after 1000 ms of real time.']));
  },
);

/** Agents that are told in other ways than by a webhook in JavaScript, and how each is started. */
const OTHER_AGENTS = {
  'in Python, with the standard library alone,': { told: 'webhook', flags: [], command: ['python3', PYTHON_AGENT] },
  'over MCP, with the package ai,': {
    told: 'mcp',
    flags: ['--ready', 'The agent is ready.'],
    command: [process.execPath, MCP_AGENT],
  },
  'over IMAP': {
    told: 'imap',
    flags: ['--ready', 'The agent is ready.'],
    command: [process.execPath, IMAP_AGENT],
  },
} as const;

test.for(Object.entries(OTHER_AGENTS))(
  'an agent %s passes in ten of ten trials',
  async ([, { told, flags, command }], context) => {
    const scenarios = SCENARIOS.replace(
      /^ {2}steps|(?<=^- samples.*\n)/gm,
      (text) => `  agent: { told: ${told} }\n${text}`,
    );
    // Many agents start at the same time here, so each may take long between two requests.
    const quietTime = told === 'mcp' ? '2s' : '10s';
    const all = ['--repeat', '10', '--concurrency', '8', '--quiet-time', quietTime, ...flags];
    const { report, code } = await evaluateWith(context, '', all, { scenarios, command });
    expectTenOf(['passed', 'passed', 'passed'], report);
    expect(code).toBe(0);
  },
);

/** How an agent that is a process says that it is done. */
const DONE_AGENTS = [
  ['start', 'once', []],
  ['poll', 'looker line', ['--done', 'All mail is handled']],
  ['poll', 'looker url', []],
  ['poll', 'looker end', []],
] as const;

test.for(DONE_AGENTS)(
  'an agent that is told by %s and says that it is done (%s) passes at once',
  async ([told, agent, flags], context) => {
    const scenarios = `
name: Answers
agent: { told: ${told} }
steps:
  - deliver: { from: dana@customer.test, subject: Order 7, plainBody: Where is it? }
  - until: quiet
  - advance: 1h
expect: [{ answered: first }, { stopped: true }]
`;
    // Nothing but its word can end the trial before its real time is up.
    const { report } = await evaluateWith(context, agent, [...flags, '--quiet-time', '50s', '--repeat', '2'], {
      scenarios,
    });
    expect(report?.scenarios[0]?.trials, JSON.stringify(report)).toMatchObject([
      { verdict: 'passed', over: 'done' },
      { verdict: 'passed', over: 'done' },
    ]);
  },
);

test('a run of an agent that is told by start fails with its exit code, and needs a command of its own', async (context) => {
  const scenarios = SCENARIOS.replace(/^ {2}steps/m, '  agent: { told: start }\n  steps');
  const { report } = await evaluateWith(context, 'once 3', ['--only', 'Answers once'], { scenarios });
  const [trial] = report?.scenarios[0]?.trials ?? [];
  expect(trial).toMatchObject({ verdict: 'failed', reason: 'The agent ended with the exit code 3.' });
  expect(trial?.output).toContain('I looked once.');
  const shared = await evaluateWith(context, 'once', ['--shared'], { scenarios });
  expect(shared).toMatchObject({ code: 2, err: expect.stringContaining('without --shared') });
});

test('an agent that ends says why in its output, and the trial has its exit code', async (context) => {
  const { report } = await evaluateWith(context, 'crasher');
  const [trial] = report?.scenarios[0]?.trials ?? [];
  expect(trial?.reason).toBe('The agent ended with the exit code 3 before the trial was over.');
  expect(trial?.output).toContain('There is no memory left.');
});

test('an agent that ends is noticed although a process that it has started keeps its output open', async (context) => {
  const command = ['sh', '-c', 'sleep 60 & exit 3'];
  const { report } = await evaluateWith(context, '', [], { command });
  const reasons = report?.scenarios.flatMap(({ trials }) => trials.map(({ reason }) => reason)) ?? [];
  expect(reasons.length).toBeGreaterThan(0);
  for (const reason of reasons) expect(reason).toMatch(/^The agent ended with the exit code 3 before /);
});

/** Which processes an agent leaves behind, and the flags of the run. */
const LEFT_BEHIND: readonly (readonly [name: string, flags: readonly string[]])[] = [
  ['an orphan that keeps the output of a root that has ended', []],
  ['an orphan in another session, without the variables and the output', []],
  ['processes that ignore what asks them to end', ['--shared']],
];

test.runIf(process.platform === 'linux').for(LEFT_BEHIND)(
  'the command ends, and with it %s (%j)',
  async ([name, flags], context) => {
    const folder = await makeFolder(context);
    const [file, PIDS] = [join(folder, 'scenarios.yaml'), join(folder, 'pids')];
    await writeFile(file, SCENARIOS);
    const agent = `(${HOSTILE_SCRIPTS[name]}) & exec '${process.execPath}' '${AGENTS}' replier`;
    const args = ['evaluate', file, '--quiet-time', '600ms', ...flags, '--', 'sh', '-c', agent];
    const running = runCommand(context, args, { PIDS });
    const ids = async () => ((await readFile(PIDS, 'utf8')).match(/\d+/g) ?? []) as string[];
    context.onTestFinished(async () => {
      for (const pid of (await ids()).filter(isRunning)) process.kill(Number(pid), 'SIGKILL');
    });
    expect([await running.ended, running.stderr]).toEqual([{ code: 0, signal: null }, '']);
    expect((await ids()).length).toBeGreaterThan(0);
    expect((await ids()).filter(isRunning)).toEqual([]);
  },
);

test('one agent serves all trials with --shared, and each begins with the same data', async (context) => {
  const { report, code } = await evaluateWith(context, 'replier', ['--shared', '--repeat', '3']);
  expect(verdictsOf(report), JSON.stringify(report)).toEqual({
    'Answers once': ['passed', 'passed', 'passed'],
    'injection-plain': ['passed', 'passed', 'passed'],
    'injection-plain (twin)': ['passed', 'passed', 'passed'],
  });
  expect(code).toBe(0);
  const [scenario] = report?.scenarios ?? [];
  expect(new Set(scenario?.trials.map(({ requests }) => requests)).size).toBe(1);
});

test('the keys of the fixture are replaced before a shared agent starts', async (context) => {
  const agent = `MAILBOX_INBOX_KEY=ak_acme_helpdesk_key exec '${process.execPath}' '${AGENTS}' replier`;
  const { report } = await evaluateWith(context, '', ['--shared'], { command: ['sh', '-c', agent] });
  // Every call was refused, and silence ended the trial, so it did not pass.
  expect(verdictsOf(report)['Answers once']).toEqual(['cannot tell']);
  expect([report?.passed, report?.notes]).toEqual([0, []]);
});

test('an agent that runs already and knows its key keeps the keys of the fixture, and the report says so', async (context) => {
  const port = await startRunning(context);
  const emulator = await new AgentPorts().take();
  const access = `key=ak_acme_helpdesk_key&id=ac3e0000-0003-4000-8000-000000000001&baseUrl=http://127.0.0.1:${emulator}`;
  const flags = ['--agent-url', `http://127.0.0.1:${port}/?${access}`, '--port', String(emulator)];
  const { report } = await evaluateWith(context, '', flags, { command: [] });
  expect(report, JSON.stringify(report)).toMatchObject({ passed: 3, failed: 0, cannotTell: 0 });
  expect(report?.notes).toEqual([expect.stringMatching(/^The keys are those of the fixture, because /)]);
});

/** Finds a port on which nothing listens. */
async function findPort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

test('only the first of several emulators of a run listens on the given port', async (context) => {
  const scenarios = SCENARIOS.replace(
    /^ {2}steps|(?<=^- samples.*\n)/gm,
    (text) => `  agent: { control: true }\n${text}`,
  );
  const port = await findPort();
  const { report } = await evaluateWith(context, 'replier', ['--port', String(port)], { scenarios });
  expect(report, JSON.stringify(report)).toMatchObject({ passed: 3, cannotTell: 0 });
});

/** Starts the agent that runs already, and returns its port. */
async function startRunning({ onTestFinished }: TestContext): Promise<number> {
  const port = await findPort();
  const env = { ...process.env, FIXED_PORT: String(port) };
  const child = spawn(process.execPath, [AGENTS, 'running'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  await once(child.stdout, 'data');
  return port;
}

test('an agent that runs already learns the sandbox of each trial from the URL of its webhook', async (context) => {
  const port = await startRunning(context);
  const url = `http://127.0.0.1:${port}/?key={key}&id={inboxId}&baseUrl={baseUrl}`;
  const { report } = await evaluateWith(context, '', ['--agent-url', url, '--repeat', '5'], { command: [] });
  expect(report, JSON.stringify(report)).toMatchObject({ passed: 15, failed: 0, cannotTell: 0 });
});

test('the report is JUnit XML for another parser, and a trace for each trial is in a folder', async (context) => {
  const folder = await makeFolder(context);
  const [junit, traces] = [join(folder, 'junit.xml'), join(folder, 'traces')];
  const flags = ['--junit', junit, '--traces', traces, '--only', 'answers', '--repeat', '2'];
  const { report } = await evaluateWith(context, 'doubler <&> more', flags);
  expect(report).toMatchObject({ failed: 2, passed: 0 });
  // The parser is that of Python's standard library.
  const read = `import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
print(json.dumps([root.get("failures"), [[case.get("name"), *[child.tag for child in case], *[child.text for child in case]] for case in root.iter("testcase")]]))`;
  const [failures, cases] = JSON.parse(execFileSync('python3', ['-c', read, junit], { encoding: 'utf8' }));
  expect(failures).toBe('2');
  expect(cases).toMatchObject([
    [
      'Answers once, trial 1',
      'failure',
      'system-out',
      expect.stringContaining('Received 2 sent mails'),
      expect.stringContaining('with <&> more'),
    ],
    expect.arrayContaining(['Answers once, trial 2', 'failure', 'system-out']),
  ]);
  expect(await readdir(traces)).toEqual(['001-Answers-once-1.jsonl', '001-Answers-once-2.jsonl']);
  const shown = await runHere(['show', join(traces, '001-Answers-once-1.jsonl')], {}, { interrupted: NEVER });
  expect(shown.out.join('\n')).toContain('"Order 7" from dana@customer.test arrived at helpdesk@acme.test');
});

test('the table has the scenarios, and below it why a trial did not pass', async (context) => {
  const status: string[] = [];
  const folder = await makeFolder(context);
  const file = join(folder, 'scenarios.yaml');
  await writeFile(file, SCENARIOS);
  const command = [process.execPath, AGENTS, 'doubler'];
  const args = ['evaluate', file, '--quiet-time', '1500ms', '--repeat', '2', '--k', '2', '--', ...command];
  const showStatus = (text: string) => void status.push(text);
  const { code, out } = await runHere(args, process.env, { interrupted: NEVER, showStatus });
  const lines = out.join('\n').split('\n');
  expect(code).toBe(1);
  expect(lines[0]?.split(/ {2,}/)).toEqual([
    ...['Scenario', 'Passed', 'Silent', 'pass@1 (95 %)', 'pass^2', 'Required pass^2'],
    ...['Utility (95 %)', 'Attacks (95 %)', 'Time', 'Requests'],
  ]);
  expect(lines[1]).toMatch(/^Answers once +0\/2 +0 +0 % \(0–66 %\) +0 % +100 %, not met +- +- +\d\.\d s +\d+$/);
  expect(lines[2]).toMatch(
    /^injection-plain +2\/2 +0 +100 % \(34–100 %\) +100 % +100 % +100 % \(34–100 %\) +0 % \(0–66 %\)/,
  );
  expect(lines).toContain('4 of 6 trials passed, 2 failed.');
  expect(lines).toContain('Gate: not met. 1 of 3 scenarios has not reached what is required:');
  expect(lines).toContain('  Answers once: 0 of 2 trials passed, so pass^2 is 0 %; 100 % required.');
  expect(lines.join('\n')).toContain(`Answers once, trial 1, failed (${file}:2)\n  Not so: sentOnce`);
  expect(status).toContainEqual(expect.stringMatching(/^6 of 6 trials; the latest, of "[^"]+", \w+/));
});

const WRONG: readonly (readonly [flags: readonly string[], message: string])[] = [
  [['--repeat', 'often'], '--repeat must be a whole number from 1 to 9999999, not "often".'],
  [['--concurrency', '0'], '--concurrency must be a whole number from 1'],
  [['--repeat', '2', '--k', '3'], '--k must be at most the number of trials in --repeat, 2.'],
  [['--timeout', 'soon'], '--timeout must be a duration such as 60s or 5m, up to 1d, not "soon".'],
  [['--timeout', '60'], '--timeout must be a duration such as 60s or 5m, up to 1d, not "60".'],
  [['--only', 'nothing'], '$ has no scenario whose name contains "nothing".'],
  [['--require', '80'], '--require must be a share from 0 to 1, such as 0.8, not "80".'],
  [['--require=-0.1'], '--require must be a share from 0 to 1, such as 0.8, not "-0.1".'],
  [['--all'], '--all is only for the command evaluate compare.'],
  [['--told', 'pull'], '--told must be one of webhook, stream, poll, imap, mcp, start, not "pull".'],
  [['--agent-url', 'http://127.0.0.1:1/'], 'takes either --agent-url or a command after --, but got both.'],
  [['--junnit', 'x'], 'did you mean --junit?'],
];

test.for(WRONG)('the flags %j are refused before anything runs', async ([flags, message], context) => {
  const { code, err } = await evaluateWith(context, 'replier', flags);
  expect(err).toContain(message);
  expect(code).toBe(2);
});

test('a command that does not exist, no command, a mistake and an idle scenario end with the exit code 2', async (context) => {
  const missing = await evaluateWith(context, '', [], { command: ['no-such-agent'] });
  expect(missing).toMatchObject({
    code: 2,
    err: expect.stringContaining('The command "no-such-agent" cannot run: it was not found.'),
  });
  const none = await evaluateWith(context, '', [], { command: [] });
  expect(none).toMatchObject({ code: 2, err: expect.stringContaining('needs the command that starts the agent') });
  const mistake = await evaluateWith(context, 'replier', [], { scenarios: 'nam: x\nsteps: []\nexpect: []' });
  expect(mistake.err).toContain('scenarios.yaml:1: $.nam is unknown; did you mean name?');
  const idle = 'name: Silence\nsteps: [{ sample: out-of-office }]\nexpect: [{ never: { created: webhook } }]';
  const silent = await evaluateWith(context, 'replier', [], { scenarios: idle });
  expect(silent.code).toBe(2);
  expect(silent.err).toContain('would pass this scenario');
});

test('a report that cannot be written is refused before anything runs, with the exit code 2', async (context) => {
  for (const flag of ['--html', '--junit']) {
    const { code, err } = await evaluateWith(context, 'replier', [flag, '/no-such-folder/report']);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('The file /no-such-folder/report cannot be written: there is no such folder.'),
    ]);
  }
  const fixture = await evaluateWith(context, 'replier', ['--fixtures', '/no-such-folder/fixture.json']);
  expect([fixture.code, fixture.err]).toEqual([2, expect.stringContaining('there is no such file')]);
});

test('a port that is taken is refused, with what would be right', async (context) => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  context.onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { code, err } = await evaluateWith(context, 'replier', ['--port', String(port)]);
  expect(err).toContain(`Port ${port} on 127.0.0.1 is taken; choose another with --port, or 0 for a free one.`);
  expect(code).toBe(2);
});

/** Scenarios of which the agent that answers twice passes one of two; `require` is what each of them requires. */
const GATED = `
- name: Answers once
  steps:
    - fault: { name: lost-reply, operation: replyToMessage }
    - deliver: { from: dana@customer.test, subject: Order 7, plainBody: Where is my chair? }
    - until: quiet
    - advance: 1h
  expect:
    - sentOnce: { to: dana@customer.test, inReplyTo: first }
`;

/** The gates of runs in which no trial passes or, with the agent that answers once, every trial. */
const GATES = [
  ['doubler', [], '', 1],
  ['doubler', ['--require', '0.5'], '', 1],
  ['doubler', ['--require', '0'], '', 0],
  ['doubler', [], '\n  require: 0\n', 0],
  // The scenario knows better than the run.
  ['doubler', ['--require', '0'], '\n  require: 0.5\n', 1],
  ['replier', ['--require', '1', '--k', '2'], '', 0],
] as const;

test.for(GATES)('the exit code of the agent %s with %j and%j is %i, as every report says', async (gate, context) => {
  const [agent, flags, require, exitCode] = gate;
  const folder = await makeFolder(context);
  const junit = join(folder, 'junit.xml');
  const { code, report } = await evaluateWith(context, agent, ['--repeat', '2', '--junit', junit, ...flags], {
    scenarios: GATED.trimEnd() + require,
  });
  expect(code).toBe(exitCode);
  expect(report?.isGateMet).toBe(exitCode === 0);
  const [, failures, errors] = /failures="(\d+)" errors="(\d+)"/.exec(await readFile(junit, 'utf8')) ?? [];
  expect(Number(failures) + Number(errors) === 0).toBe(exitCode === 0);
});

test('an agent that looks for mail passes scenarios that say nothing of it with --told poll', async (context) => {
  const scenarios =
    'name: Answers\nsteps: [{ deliver: { from: dana@customer.test, subject: Order 7, plainBody: Hi } }]\nexpect: [{ answered: first }]\n';
  const flags = ['--told', 'poll', '--done', 'All mail is handled'];
  const { code, report } = await evaluateWith(context, 'looker line', flags, { scenarios });
  expect([code, report?.passed], JSON.stringify(report)).toEqual([0, 1]);
});

test('an agent that has no webhook is told of told', async (context) => {
  const scenarios =
    'name: Answers\nsteps: [{ deliver: { from: dana@customer.test, subject: Order 7, plainBody: Hi } }]\nexpect: [{ answered: first }]\n';
  const { report } = await evaluateWith(context, 'once', [], { scenarios });
  expect(report?.scenarios[0]?.trials[0]).toMatchObject({
    verdict: 'failed',
    reason: expect.stringMatching(
      /^The agent ended with the exit code 0 before it was ready\. If it looks for mail once and ends, say so by --told start /,
    ),
  });
  // The same error comes after 30 seconds; this agent gets less.
  const trees = new ProcessTrees();
  const options = { command: [process.execPath, '-e', 'setInterval(() => {}, 1000)'], env: process.env };
  const agent = new ProcessAgent(
    { ...options, path: '/', readyText: undefined, doneText: undefined, readyMs: 300, trees, onLeft: () => undefined },
    await new AgentPorts().take(),
  );
  context.onTestFinished(() => agent.stop());
  const access = { keys: {}, ports: {}, baseUrl: 'http://127.0.0.1:1', doneUrl: 'http://127.0.0.1:1' };
  await expect(agent.start(access as AgentAccess)).rejects.toThrow(
    /^The agent was not ready after 0\.3 s: nothing listens on its port \d+\. If it has no webhook, say how it learns of mail, for example by --told poll or by agent: \{ told: poll \} in the scenario\.$/,
  );
});

test.for(['', '?key={key}&id={inboxId}'])(
  'an agent that does not run at the URL with "%s" is named before any trial, with the exit code 2',
  async (query, context) => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise<void>((resolve) => void server.close(() => resolve()));
    const seen: string[] = [];
    const { code, err } = await evaluateWith(context, '', ['--agent-url', `http://localhost:${port}/hook${query}`], {
      command: [],
      showStatus: (text) => void seen.push(text),
    });
    expect([code, seen]).toEqual([2, []]);
    expect(err.trim().split('\n')).toEqual([
      `agent-mailbox-mock: Nothing listens at http://localhost:${port}, which --agent-url names: the connection was refused; start the agent first.`,
    ]);
  },
);

test('two reports are compared, by what is beyond chance', async (context) => {
  const folder = await makeFolder(context);
  const write = async (name: string, scenarios: readonly (readonly [string, number, number])[]) => {
    const shown = scenarios.map(([scenario, passed, failed]) => ({ name: scenario, passed, failed }));
    await writeFile(join(folder, name), JSON.stringify({ type: 'evaluation', version: 1, scenarios: shown }));
    return join(folder, name);
  };
  const before = await write('before.json', [
    ['a', 10, 0],
    ['b', 0, 10],
    ['c', 5, 5],
    ['d', 0, 0],
    ['e', 1, 0],
  ]);
  const after = await write('after.json', [
    ['a', 1, 9],
    ['b', 10, 0],
    ['c', 7, 3],
    ['d', 5, 0],
    ['f', 1, 0],
  ]);
  const { code, out } = await runHere(['evaluate', 'compare', before, after], {}, { interrupted: NEVER });
  expect(code).toBe(1);
  expect(out.join('\n').split('\n')).toEqual([
    'Better in some scenarios and worse in others: 15/30 (50 %) → 18/30 (60 %); on the whole p = 1.000, losses in single scenarios p = 0.141, gains in single scenarios p = 0.006.',
    '',
    'Worse:',
    '  a: 10/10 (100 %) → 1/10 (10 %), p < 0.001',
    '',
    'Better:',
    '  b: 0/10 (0 %) → 10/10 (100 %), p < 0.001',
    '',
    'Within chance:',
    '  c: 5/10 (50 %) → 7/10 (70 %), p = 1.000; so few trials cannot show a change; this difference needs 108 trials',
    '',
    'No trial in one of the runs:',
    '  d: 0/0 (-) → 5/5 (100 %)',
    '',
    'Gone, so nothing is compared:',
    '  e',
    '',
    'New, so nothing is compared:',
    '  f',
    '',
    'If the agent is the same, any change is found in at most 5 % of such comparisons.',
  ]);
  const same = await runHere(['evaluate', 'compare', before, before], {}, { interrupted: NEVER });
  expect([same.code, same.out.join('\n')]).toEqual([
    0,
    expect.stringContaining('Unchanged: 4 scenarios; --all lists them.'),
  ]);
  const all = await runHere(['evaluate', 'compare', before, before, '--all'], {}, { interrupted: NEVER });
  expect(all.out.join('\n')).toContain('Unchanged:\n  a: 10/10 (100 %) → 10/10 (100 %); ');
  const gated = await runHere(['evaluate', 'compare', before, after, '--require', '0.8'], {}, { interrupted: NEVER });
  expect(gated.err).toContain('The command evaluate compare does not take --require; see --help.');
  const strange = await runHere(
    ['evaluate', 'compare', before, await write('strange.json', [['x', 1, 0]])],
    {},
    { interrupted: NEVER },
  );
  expect(strange).toMatchObject({ code: 2, err: expect.stringContaining('have no scenario in common.') });
  await writeFile(join(folder, 'other.json'), '{"type":"trace"}');
  const other = await runHere(['evaluate', 'compare', before, join(folder, 'other.json')], {}, { interrupted: NEVER });
  expect(other).toMatchObject({ code: 2, err: expect.stringContaining('its type must be "evaluation"') });
});
