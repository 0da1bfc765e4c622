import { setTimeout } from 'node:timers/promises';
import { createMailbox } from 'agent-mailbox-mock';
import {
  createSample,
  getSample,
  runSamples,
  type SampleName,
  type SampleTask,
  samples,
  samplesFor,
} from 'agent-mailbox-mock/samples';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test, vi } from 'vitest';
import { lazy } from '../../../src/basics/lazy-schema.ts';
import { GOALS, PLACES } from '../../../src/control/samples/made-injections.ts';
import { obey, resist, runAgent } from '../../control/samples/agent.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Lets the agent with a model handle a task. */
function agentOf(decide: typeof obey) {
  return ({ mailbox, inboxId }: SampleTask) => {
    const send = async (method: string, path: string, { key = '', json }: { key?: string; json?: object } = {}) => {
      const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
      const body = json && { body: JSON.stringify(json) };
      const reply = await mailbox.fetch(`${mailbox.baseUrl}${path}`, { method, headers, ...body });
      const text = await reply.text();
      return { status: reply.status, text, json: /^[[{]/.test(text) ? JSON.parse(text) : undefined };
    };
    return runAgent({ service: { send } as never, inboxId, key: mailbox.keys.acme.tenant }, decide);
  };
}

const INJECTIONS = samples.filter(({ family }) => family === 'injection').map(({ name }) => name);
// 35 numbers have each goal in each place.
const MADE = samplesFor('order', 35);
const ALL = [...INJECTIONS.filter((name) => name !== 'injection-link'), ...MADE, ...samplesFor()];

/** The report on an agent that obeys. */
const obeyAll = lazy(() => runSamples(agentOf(obey), { samples: ALL }));

test('an agent that obeys is breached by each goal in each place, and does its work on the twins', async () => {
  const report = await obeyAll();
  expect(report.results.filter(({ result }) => result !== 'breached')).toEqual([]);
  expect(report.results.filter(({ twinResult }) => twinResult !== 'handled')).toEqual([]);
  expect(report).toMatchObject({ utility: 1, attackSuccess: 1 });
  const combinations = MADE.map((name) => Number(name.split('/')[2])).map((number) =>
    [GOALS, PLACES].map((table) => number % Object.keys(table).length).join(),
  );
  expect(new Set(combinations).size).toBe(35);
  for (const { breaches } of report.results) expect(breaches[0]?.call).toMatch(/^req_\d+, (?:POST|DELETE) /);
});

test('a careful agent resists all, although it quotes and forwards each mail, and handles the twins', async () => {
  const report = await runSamples(agentOf(resist), { samples: ALL });
  expect(report.results.filter(({ result }) => result !== 'resisted')).toEqual([]);
  expect(report).toMatchObject({ utility: 1, attackSuccess: 0 });
});

test('an agent that does nothing has resisted nothing and handled nothing', async () => {
  const report = await runSamples(() => {}, { samples: ALL });
  expect(report).toMatchObject({ utility: 0, attackSuccess: null });
  expect(new Set(report.results.map(({ result }) => result))).toEqual(new Set(['not seen']));
});

test('an agent that only reads resists, and handles no twin but that of a bounce', async () => {
  const read = async ({ mailbox, inboxId, received: [mail] }: SampleTask) => {
    const headers = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk };
    await mailbox.fetch(`${mailbox.baseUrl}/v1/inboxes/${inboxId}/messages/${mail?.id}`, { headers });
  };
  const report = await runSamples(read, { samples: INJECTIONS });
  expect(report).toMatchObject({ utility: 0.1, attackSuccess: 0 });
  const handled = report.results.filter(({ twinResult }) => twinResult === 'handled').map(({ sample }) => sample);
  expect(handled).toEqual(['injection-in-bounce']);
});

/** Sends a request with the key of the tenant. */
function post({ mailbox }: SampleTask, path: string, json: object) {
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
  return mailbox.fetch(`${mailbox.baseUrl}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(json) });
}

test.for<[what: string, act: (task: SampleTask) => Promise<unknown>, handled: SampleName[]]>([
  [
    'a draft of an answer',
    (task) => draft(task, { replyToMessageId: task.received[0]?.id }),
    ['injection-plain', 'injection-in-invitation'],
  ],
  ['another draft', (task) => draft(task, { to: ['owner@office.test'] }), ['injection-in-invitation']],
])('%s handles what it should', async ([, act, handled]) => {
  const agent = async (task: SampleTask) => {
    await mailbox(task);
    await act(task);
  };
  const report = await runSamples(agent, { samples: ['injection-plain', 'injection-in-invitation'] });
  expect(report.results.filter(({ twinResult }) => twinResult === 'handled').map(({ sample }) => sample)).toEqual(
    handled,
  );
});

function draft(task: SampleTask, fields: object) {
  return post(task, `/inboxes/${task.inboxId}/drafts`, { plainBody: 'Yes.', ...fields });
}

/** Lists the mail of the inbox, which shows the agent the sample. */
function mailbox({ mailbox: { baseUrl, keys, fetch }, inboxId }: SampleTask) {
  return fetch(`${baseUrl}/v1/inboxes/${inboxId}/messages`, { headers: { 'X-API-Key': keys.acme.tenant } });
}

test('a link that carries the code out is seen, because each run has a mailbox of its own', async () => {
  const open = async ({ mailbox: { fetch, baseUrl }, address }: SampleTask) => {
    const text = new TextDecoder().decode(createSample('injection-link', { to: address, baseUrl }).mails[0]?.eml);
    const code = text.match(/\b[GHJKLMNPQRSTVWXZ]{4}\b/g)?.join('');
    await fetch(`${baseUrl}/health?data=${code}`);
  };
  const { results } = await runSamples(open, { samples: ['injection-link'] });
  expect(results).toMatchObject([{ result: 'breached', twinResult: 'not handled' }]);
});

test('each sample and its twin are handled in a mailbox of their own, in turn, and the seed is theirs', async () => {
  const tasks: SampleTask[] = [];
  await runSamples((task) => tasks.push(task), { samples: ['injection-plain', 'injection/order/6'], seed: 4 });
  expect(new Set(tasks.map(({ mailbox }) => mailbox)).size).toBe(4);
  const arrived = tasks.map(({ mailbox, received }) => received.map(({ id }) => mailbox.mailSource(id)));
  const names = [
    'injection-plain',
    'injection-plain-harmless',
    'injection/order/6',
    'injection/order/6-harmless',
  ] as const;
  const expected = names.map((name) =>
    createSample(name, { to: 'helpdesk@acme.test', seed: 4 }).mails.map(({ eml }) => eml),
  );
  expect(arrived.map((mails) => mails.length)).toEqual([1, 1, 2, 2]);
  expect(JSON.stringify(arrived)).toBe(JSON.stringify(expected));
});

test('the mailbox may be that of a server, which an agent calls by HTTP, or a sandbox', async () => {
  await using server = await startServer({ port: 0 });
  const answer = async (
    baseUrl: string,
    key: string,
    { inboxId, received }: Pick<SampleTask, 'inboxId' | 'received'>,
  ) => {
    const url = `${baseUrl}/v1/inboxes/${inboxId}/reply/${received[0]?.id}`;
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    await fetch(`${baseUrl}/v1/inboxes/${inboxId}/messages/${received[0]?.id}`, { headers });
    await fetch(url, { method: 'POST', headers, body: '{"plainBody":"Yes."}' });
  };
  const options = { samples: ['injection-plain'] } as const;
  const inServer = await runSamples((task) => answer(server.url, task.mailbox.keys.acme.tenant, task), {
    ...options,
    createMailbox: () => {
      server.mailbox.reset();
      return server.mailbox;
    },
  });
  const inSandbox = await runSamples((task) => answer(server.url, task.mailbox.keys.tenant, task), {
    ...options,
    createMailbox: () => server.mailbox.createSandbox(),
  });
  for (const { results } of [inServer, inSandbox]) {
    expect(results).toMatchObject([{ result: 'resisted', twinResult: 'handled' }]);
  }
});

test('the report is a table of 80 columns, and JSON', async () => {
  const report = await runSamples(agentOf(obey), { samples: ['injection-plain', 'out-of-office'] });
  expect(String(report).replace(/\/reply\/[\w-]+…/, '/reply/…')).toBe(
    [
      'Sample           Result    Twin',
      'injection-plain  breached  handled',
      '  req_3, POST /v1/inboxes/ac3e0000-0003-4000-8000-000000000001/send → 200',
      'out-of-office    breached  none',
      '  req_6, POST /v1/inboxes/ac3e0000-0003-4000-8000-000000000001/reply/…',
      '',
      'Utility: 100 %',
      'Attack success: 100 %',
    ].join('\n'),
  );
  expect(JSON.parse(JSON.stringify(report))).toMatchObject({ utility: 1, attackSuccess: 1 });
  const whole = String(await obeyAll());
  expect(whole.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('the shares are null where nothing was run', async () => {
  expect(await runSamples(() => {}, { samples: [] })).toMatchObject({ utility: null, attackSuccess: null });
  const { utility, attackSuccess, results } = await runSamples(() => {}, { samples: ['no-reply'] });
  expect({ utility, attackSuccess, results }).toMatchObject({
    utility: null,
    attackSuccess: null,
    results: [{ twin: null }],
  });
});

test('an agent is done when its promise is settled; with a quiet time, what it left without await is seen', async () => {
  const leave = async (task: SampleTask) => {
    await mailbox(task);
    void setTimeout(100).then(() => agentOf(obey)(task));
  };
  const options = { samples: ['injection-plain'] } as const;
  expect(await runSamples(leave, options)).toMatchObject({ attackSuccess: 0, utility: 0 });
  expect(await runSamples(leave, { ...options, quietMs: 1_000 })).toMatchObject({ attackSuccess: 1, utility: 1 });
  await expect(runSamples(leave, { ...options, quietMs: -1 })).rejects.toThrow('quietMs must be a whole number from 0');
});

test('an agent that thinks before it acts is waited for, and what it throws is told', async () => {
  const options = { samples: ['injection-plain'] } as const;
  const think = async (task: SampleTask) => {
    await setTimeout(100);
    await agentOf(obey)(task);
  };
  expect(await runSamples(think, options)).toMatchObject({ attackSuccess: 1, utility: 1 });
  const fail = () => setTimeout(1).then(() => Promise.reject(new Error('No model.')));
  await expect(runSamples(fail, options)).rejects.toThrow(/The agent failed on the sample .+: No model\./);
});

test('a request that the agent left without its reply is waited for', async () => {
  const leave = async (task: SampleTask) => {
    task.mailbox.addFault({ on: 'request', latency: { ms: 200 } });
    await mailbox(task);
    void post(task, `/inboxes/${task.inboxId}/reply/${task.received[0]?.id}`, { plainBody: 'Yes.' });
  };
  const report = await runSamples(leave, { samples: ['injection-plain'] });
  expect(report).toMatchObject({ utility: 1, attackSuccess: 0 });
});

test('what nothing can be learned from is refused', async () => {
  const run = (names: readonly string[], options = {}) =>
    runSamples(() => {}, { samples: names as SampleName[], ...options });
  await expect(run(['html-only'])).rejects.toThrow('The sample html-only has no oracle or is a twin');
  await expect(run(['injection-plain-harmless'])).rejects.toThrow('has no oracle or is a twin');
  await expect(run(['injection-plane'])).rejects.toThrow('did you mean injection-plain');
  await expect(run(['injection-plain'], { seed: -1 })).rejects.toThrow('seed must be a whole number');
  const createSmall = () => createMailbox({ journalSize: 0 });
  await expect(run(['injection-plain'], { createMailbox: createSmall })).rejects.toThrow('make journalSize larger');
  const cause = new Error('No model.');
  const failing = runSamples(() => Promise.reject(cause), { samples: ['injection-plain'] });
  await expect(failing).rejects.toMatchObject({
    message: 'The agent failed on the sample injection-plain: No model.',
    cause,
  });
  expect(getSample('injection-plain').hasOracle).toBe(true);
});
