import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type EvaluatedTask, evaluate, type Scenario, ScenarioError, type Verdict } from '../../src/evaluate/index.ts';
import { closedBy, lookEvery, looper, obeyer, poller, replier } from './guilty-agents.ts';

const question = { from: 'dana@customer.test', subject: 'Order 7', plainBody: 'Where is my chair?' };

const ANSWER: Scenario = {
  name: 'Answers a question',
  steps: [{ deliver: question }, { until: 'quiet' }, { advance: '1h' }],
  expect: [
    { sent: { to: 'dana@customer.test', from: '*helpdesk@acme.test', times: 1, inReplyTo: 'first' } },
    { answered: 'first' },
    { stopped: true },
  ],
};

const LOST_REPLY: Scenario = {
  name: 'Sends once although a reply is lost',
  steps: [
    { fault: { name: 'lost-reply', operation: 'replyToMessage' } },
    { deliver: question },
    { until: 'quiet' },
    { advance: '1h' },
  ],
  expect: [{ sentOnce: { to: 'dana@customer.test' } }],
};

const QUICK = { quietMs: 400 };

/** Returns the verdict and the reason of the only trial. */
async function runOne(agent: (task: EvaluatedTask) => unknown, scenario: Scenario, options: object = QUICK) {
  const { scenarios } = await evaluate(agent, scenario, options);
  const [trial] = scenarios[0]?.trials ?? [];
  if (!trial) throw new Error('There was no trial.');
  return trial;
}

test('an agent that answers passes, and the report shows addresses as they were written', async () => {
  const result = await evaluate(replier, [ANSWER, LOST_REPLY], { ...QUICK, repeat: 2 });
  expect(result, String(result)).toMatchObject({ passed: 4, failed: 0, cannotTell: 0 });
  const [scenario] = result.scenarios;
  expect(scenario).toMatchObject({ passed: 2, passAt1: 1, passHatK: [1, 1] });
  const story = scenario?.trials[0]?.story.join('\n') ?? '';
  expect(story).toContain('helpdesk@acme.test');
  expect(JSON.stringify(result)).not.toContain('sandbox.test');
  expect(String(result)).toContain('4 of 4 trials passed');
});

test('an agent that sends again after a lost reply fails, with the expectation and the story', async () => {
  const careless = async (task: EvaluatedTask) => {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      if (
        await replier(task, { isCareless: true }).then(
          () => true,
          () => false,
        )
      )
        return;
    }
  };
  const trial = await runOne(careless, LOST_REPLY);
  expect(trial).toMatchObject({ verdict: 'failed', reason: null });
  expect(trial.expectations[0]?.message).toContain('Received 2 sent mails, of which 2 match');
  expect(trial.expectations[0]?.message).toContain('What happened:');
});

test('an agent that does nothing fails; one that never acts has this as its reason', async () => {
  expect(await runOne(() => undefined, ANSWER)).toMatchObject({ verdict: 'failed', requests: 0 });
  const deaf = await runOne(closedBy, { ...ANSWER, agent: { told: 'poll' }, limits: { realTime: 900 } });
  expect(deaf).toMatchObject({ verdict: 'failed' });
  expect(deaf.reason).toContain('The agent never acted');
});

test('an agent that is slow to fail gets the event again', async () => {
  let calls = 0;
  const slow = async (task: EvaluatedTask) => {
    calls += 1;
    if (calls > 1) return replier(task);
    await setTimeout(3_500);
    throw new Error('the model does not answer');
  };
  const trial = await runOne(slow, ANSWER);
  expect(trial, trial.reason ?? JSON.stringify(trial.expectations)).toMatchObject({ verdict: 'passed' });
  expect(trial.output).toContain('The agent threw: the model does not answer');
});

test('an agent that ends or throws has this as its reason', async () => {
  const scenario: Scenario = { ...ANSWER, agent: { told: 'poll' } };
  expect((await runOne(async () => undefined, scenario)).reason).toBe('The agent ended before the trial was over.');
  const crasher = async () => {
    throw new Error('no memory');
  };
  expect(await runOne(crasher, scenario)).toMatchObject({ verdict: 'failed', reason: 'The agent threw: no memory.' });
});

test('an agent that never ends fails at its limit of requests or of real time', async () => {
  const limited = await runOne(looper, { ...ANSWER, limits: { requests: 20 } });
  expect(limited).toMatchObject({ verdict: 'failed', reason: 'The agent sent more than 20 requests, its limit.' });
  const endless = await runOne(looper, { ...ANSWER, limits: { requests: 1_000_000, realTime: 700 } });
  expect(endless.reason).toBe('The agent was not quiet after 700 ms of real time.');
  const talkative = async (task: EvaluatedTask) => {
    for (let count = 0; count < 5; count += 1) await replier(task, { isCareless: true });
  };
  const mails = await runOne(talkative, { ...ANSWER, limits: { mails: 2 } });
  expect(mails.reason).toBe('The agent sent more than 2 mails, its limit.');
});

test('an agent that polls passes as one with a webhook does', async () => {
  const trial = await runOne(poller, { ...ANSWER, agent: { told: 'poll' } });
  expect(trial, trial.reason ?? JSON.stringify(trial.expectations)).toMatchObject({ verdict: 'passed' });
});

// Of the second, nothing comes for longer than it takes to be quiet, until it looks again.
test.for([
  [100, 400],
  [2_000, 500],
] as const)(
  'an agent that looks for mail every %i ms passes, if it is quiet after %i ms',
  async ([intervalMs, quietMs]) => {
    const scenario: Scenario = {
      ...ANSWER,
      agent: { told: 'poll' },
      // When the mail comes, the agent has looked already.
      steps: [{ until: 'quiet' }, ...ANSWER.steps],
      expect: ANSWER.expect.slice(0, 2),
      limits: { realTime: '30s' },
    };
    const trial = await runOne((task) => lookEvery(task, intervalMs), scenario, { quietMs });
    expect(trial, trial.reason ?? JSON.stringify(trial.expectations)).toMatchObject({ verdict: 'passed' });
  },
);

test('utility and attack success are counted over twins and attacks', async () => {
  const scenarios = { samples: ['injection-plain', 'injection-in-quote'] };
  const good = await evaluate(replier, scenarios, QUICK);
  expect(good, String(good)).toMatchObject({ utility: 1, attackSuccess: 0, failed: 0 });
  const bad = await evaluate(obeyer, scenarios, QUICK);
  expect(bad).toMatchObject({ utility: 1, attackSuccess: 1, failed: 2, passed: 2 });
  expect(String(bad)).toContain('Attack success: 100 %');
  const idle = await evaluate(() => undefined, scenarios, QUICK);
  expect(idle).toMatchObject({ utility: 0, attackSuccess: 0 });
});

test('a scenario that an agent that does nothing would pass is named before the agent is started', async () => {
  let isStarted = false;
  const agent = () => {
    isStarted = true;
  };
  const silent: Scenario = {
    name: 'Answers no robot',
    steps: [{ deliver: question }],
    expect: [{ never: { sent: { to: '*@customer.test' } } }, { ignored: 'first' }],
  };
  await expect(evaluate(agent, silent, QUICK)).rejects.toThrow(/would pass this scenario.*\n"Answers no robot"$/);
  expect(isStarted).toBe(false);
  expect(await evaluate(agent, { ...silent, idle: 'passes' }, QUICK)).toMatchObject({ passed: 1 });
  const withTwin = { ...silent, twin: { expect: [{ answered: 'first' }] } } as const;
  expect(await evaluate(agent, withTwin, QUICK)).toMatchObject({ passed: 1, failed: 1, utility: 0, attackSuccess: 0 });
});

test('a step that is not possible is named before the agent is started', async () => {
  const scenario: Scenario = {
    name: 'Too long',
    steps: [{ deliver: question }, { freeze: '9999-12-31T00:00:00Z' }, { advance: '3d' }],
    expect: [{ answered: 'first' }],
  };
  const run = evaluate(replier, scenario, QUICK);
  await expect(run).rejects.toThrow(ScenarioError);
  await expect(run).rejects.toThrow(
    '"Too long": The step 3, advance, was not possible: The clock cannot go beyond the year 9999.',
  );
});

test('what was not observed cannot be told', async () => {
  const scenario: Scenario = {
    ...ANSWER,
    steps: [{ deliver: question }],
    expect: [{ answered: 'first' }, { stopped: true }],
  };
  const trial = await runOne(replier, scenario);
  expect(trial).toMatchObject({ verdict: 'cannot tell', reason: null });
  expect(trial.expectations[1]).toMatchObject({ verdict: 'cannot tell' });
  expect(trial.expectations[1]?.message).toContain('The clock was not advanced since the agent ran');
});

test('a check judges the trace; a function may do it in code', async () => {
  const check = (trace: string) => ({ verdict: trace.includes('"mail-sent"') ? 'yes' : 'no', reason: 'seen' }) as const;
  expect(await runOne(replier, { ...ANSWER, expect: [{ answered: 'first' }, { check }] })).toMatchObject({
    verdict: 'passed',
  });
  const command = (code: number) => `cat > /dev/null; echo 'because of ${code}'; exit ${code}`;
  const verdicts = await Promise.all(
    [0, 1, 3].map(async (code) => {
      const trial = await runOne(replier, { ...ANSWER, expect: [{ answered: 'first' }, { check: command(code) }] });
      return [trial.verdict, trial.expectations[1]?.message];
    }),
  );
  expect(verdicts).toEqual([
    ['passed', null],
    ['failed', 'because of 1'],
    ['cannot tell', 'because of 3'],
  ]);
});

test('a person answers later, a mail is waited for, a key is rotated, and behaviours change for this scenario alone', async () => {
  const scenario: Scenario = {
    name: 'A long talk',
    given: { clock: '2026-05-01T08:00:00Z', behaviours: { 'messages.delete.body': 'empty' } },
    steps: [
      { correspondent: { address: 'dana@customer.test', replies: ['Thank you!'], after: '2d' } },
      { deliver: question, as: 'question' },
      { wait: { to: 'dana@customer.test' } },
      { rotate: 'workspace' },
      { behaviours: { 'webhooks.list.secret': 'omitted' } },
      { advance: '2d' },
      { until: 'quiet' },
      { releaseDeliveries: {} },
    ],
    expect: [{ answered: 'question' }, { sent: { to: 'dana@customer.test', times: 2 } }],
  };
  const trial = await runOne(replier, scenario);
  expect(trial, JSON.stringify(trial, null, 1)).toMatchObject({ verdict: 'passed' });
  expect(trial.story[0]).toMatch(/^08:00:00 /);
  const silent = await runOne(() => undefined, {
    ...scenario,
    steps: [...scenario.steps.slice(0, 2), { wait: { to: 'dana@customer.test', timeout: 100 } }],
  });
  expect(silent.verdict).toBe('failed');
});

test('the same seed gives the same ids, mails and times in every run, and keys that nobody can guess', async () => {
  const seen: string[][] = [];
  const secrets: string[] = [];
  for (let run = 0; run < 2; run += 1) {
    const ids: string[] = [];
    const agent = (task: EvaluatedTask) => {
      ids.push(task.inboxId, task.address, String(task.event?.messageId));
      const { keys, login, webhookSecret } = task;
      secrets.push(keys.tenant, String(keys.workspace), keys.inbox, String(login?.password), String(webhookSecret));
      return replier(task);
    };
    await evaluate(agent, ANSWER, { ...QUICK, repeat: 2, concurrency: 1, seed: 5 });
    seen.push(ids);
  }
  expect(seen[0]).toEqual(seen[1]);
  expect(new Set(seen[0]).size).toBe(6);
  expect(new Set(secrets).size).toBe(20);
});

test('a run says which share must pass, how agents learn of mail, and of which k', async () => {
  let calls = 0;
  const everySecond = async (task: EvaluatedTask) => {
    if (task.event?.event !== 'message.received') return;
    calls += 1;
    if (calls % 2 === 0) await replier(task);
  };
  const scenario = { ...ANSWER, agent: { told: 'start' } } as const;
  const options = { ...QUICK, told: 'webhook', repeat: 2, concurrency: 1, require: 0.5 } as const;
  const half = await evaluate(everySecond, scenario, options);
  expect(half, String(half)).toMatchObject({ passed: 1, isGateMet: true });
  expect(half.scenarios[0]).toMatchObject({ passAt1: 0.5, gate: { required: 0.5, k: 1, trials: 2, reached: 0.5 } });
  const both = await evaluate(everySecond, scenario, { ...options, k: 2 });
  expect(both, String(both)).toMatchObject({ passed: 1, isGateMet: false });
});

test.for([
  [{ require: 80 }, 'The option require must be a share from 0 to 1, such as 0.8, not 80.'],
  [{ require: '0.8' }, 'The option require must be a share from 0 to 1, such as 0.8, not "0.8".'],
  [{ k: 2 }, 'The option k must be at most the number of trials in repeat, 1, not 2.'],
  [{ k: 0 }, 'The option k must be a whole number from 1, not 0.'],
  [{ told: 'pull' }, 'The option told must be one of webhook, stream, poll, imap, mcp, start, not "pull".'],
] as const)('the options %j are refused', async ([options, message]) => {
  await expect(evaluate(replier, ANSWER, options as never)).rejects.toThrow(new TypeError(message));
});

test('never with a check turns its yes and its no around, and leaves what it cannot tell', async () => {
  const check = (verdict: Verdict) => () => ({ verdict, reason: `It is ${verdict}` });
  const command = (code: number) => `cat > /dev/null; echo 'because of ${code}'; exit ${code}`;
  const { expectations } = await runOne(replier, {
    ...ANSWER,
    expect: [
      ...(['yes', 'no', 'cannot tell'] as const).map((verdict) => ({ never: { check: check(verdict) } })),
      ...[0, 1, 3].map((code) => ({ never: { check: command(code) } })),
    ],
  });
  expect(expectations.map(({ verdict, message }) => [verdict, message])).toEqual([
    ['no', 'It is yes'],
    ['yes', null],
    ['cannot tell', 'It is cannot tell'],
    ['no', 'because of 0'],
    ['yes', null],
    ['cannot tell', 'because of 3'],
  ]);
});

test('of alternatives, one that is so is enough, and one that cannot be told may be so', async () => {
  const verdicts = ['yes', 'no', 'cannot tell'] as const;
  const pairs = verdicts.flatMap((one) => verdicts.map((other) => [one, other] as const));
  const check = (verdict: Verdict) => ({ check: () => ({ verdict, reason: `It is ${verdict}` }) });
  const { expectations } = await runOne(replier, {
    ...ANSWER,
    expect: [
      ...pairs.map((pair) => ({ anyOf: pair.map(check) })),
      { anyOf: [{ never: { answered: 'first' } }, { sent: { to: 'kim@customer.test' } }] },
      { anyOf: [{ never: { created: 'webhook' } }, { sent: { to: 'kim@customer.test' } }] },
    ],
  });
  const wanted = pairs.map((pair) => (['yes', 'cannot tell', 'no'] as const).find((verdict) => pair.includes(verdict)));
  expect(expectations.map(({ verdict }) => verdict)).toEqual([...wanted, 'no', 'yes']);
  expect(expectations[4]).toMatchObject({
    text: 'any of: check by a function; check by a function',
    message: 'check by a function: It is no\ncheck by a function: It is no',
  });
  expect(expectations[9]?.message).toContain('never answered first: ');
});

test('never with alternatives says that none of them may be so', async () => {
  const { verdict, expectations } = await runOne(replier, {
    ...ANSWER,
    expect: [
      { answered: 'first' },
      { never: { anyOf: [{ created: 'webhook' }, { sent: { to: '*@customer.test' } }] } },
    ],
  });
  expect(verdict).toBe('failed');
  expect(expectations.map(({ text, verdict: told }) => [text, told])).toEqual([
    ['answered first', 'yes'],
    ['never created webhook', 'yes'],
    ['never sent {"to":"*@customer.test"}', 'no'],
  ]);
});

test('a number of mails may be a range', async () => {
  const ranges = [{ min: 1 }, { max: 1 }, { min: 1, max: 3 }, { min: 2 }, { max: 0 }, { min: 2, max: 3 }];
  const { expectations } = await runOne(replier, { ...ANSWER, expect: ranges.map((times) => ({ sent: { times } })) });
  expect(expectations.map(({ verdict }) => verdict)).toEqual(['yes', 'yes', 'yes', 'no', 'no', 'no']);
  expect(expectations[3]?.message).toContain('Expected at least 2 sent mails');
  expect(expectations[5]?.message).toContain('Expected 2 to 3 sent mails');
});

test('a run chooses scenarios by their tags, with their twins', async () => {
  const tagged = (name: string, ...tags: string[]): Scenario => ({ ...ANSWER, name, tags });
  const all = [tagged('a', 'slow'), { ...tagged('b', 'security'), twin: { expect: ANSWER.expect } }, tagged('c')];
  const namesWith = async (tags: readonly string[]) =>
    (await evaluate(replier, all, { ...QUICK, tags })).scenarios.map(({ name }) => name);
  expect(await namesWith(['security'])).toEqual(['b', 'b (twin)']);
  expect(await namesWith(['security', 'slow'])).toEqual(['a', 'b', 'b (twin)']);
  const only = async (text: string) =>
    (await evaluate(replier, all, { ...QUICK, only: text })).scenarios.map(({ name }) => name);
  expect(await only('(twin)')).toEqual(['b', 'b (twin)']);
  await expect(namesWith(['securty'])).rejects.toThrow(
    'has no scenario with the tag "securty"; did you mean security?',
  );
  await expect(evaluate(replier, ANSWER, { tags: ['x'] })).rejects.toThrow('with the tag "x"; they have no tags.');
  await expect(evaluate(replier, all, { tags: ['slow'], only: 'b' })).rejects.toThrow(
    'has no scenario with the tag slow whose name contains "b".',
  );
  await expect(evaluate(replier, all, { tags: 'slow' as never })).rejects.toThrow(
    'The option tags must be a list of at least one tag, not "slow".',
  );
});

test('no further trial begins after so many that did not pass, and the report says so', async () => {
  const result = await evaluate(() => undefined, ANSWER, { ...QUICK, repeat: 5, concurrency: 1, maxFailures: 2 });
  expect(result).toMatchObject({ failed: 2, isGateMet: false, stoppedAfter: 2, scenarios: [{ gate: { trials: 5 } }] });
  expect(String(result)).toContain('0 of 2 trials passed, 2 failed, 3 were not run.');
  expect(String(result)).toContain('The run was stopped after 2 trials that did not pass.');
  const all = await evaluate(() => undefined, ANSWER, { ...QUICK, repeat: 2, maxFailures: 2 });
  expect(all).toMatchObject({ failed: 2, stoppedAfter: null });
});
