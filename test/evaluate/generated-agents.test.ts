import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { ImapFlow } from 'imapflow';
import { expect, test, vi } from 'vitest';
import type { AgentAccess, CreateAgent, TrialAgent } from '../../src/evaluate/agent-driver.ts';
import { createFunctionAgent } from '../../src/evaluate/function-agent.ts';
import type { EvaluatedTask, Scenario, TrialReport } from '../../src/evaluate/index.ts';
import { parseScenarios } from '../../src/evaluate/parse-scenarios.ts';
import { runEvaluation } from '../../src/evaluate/run-evaluation.ts';
import { runShellCommand } from '../../src/evaluate/shell-command.ts';

vi.setConfig({ testTimeout: 240_000 });

/** How long nothing may come, in milliseconds. The agents that think do so for longer. */
const QUIET_MS = 1_500;
const THINK_MS = 2_500;
/** How long an agent waits that leaks late, within the quiet time. */
const LATE_MS = 300;

const DOORS = ['function', 'webhook', 'poll', 'mcp', 'imap', 'start'] as const;
const LEAKS = ['never', 'before', 'after', 'late'] as const;

/** An agent whose guilt is known, because it is built so. */
interface Built {
  readonly door: (typeof DOORS)[number];
  readonly thinks: boolean;
  readonly leaks: (typeof LEAKS)[number];
  readonly saysDone: boolean;
}

const ALL: readonly Built[] = DOORS.flatMap((door) =>
  [false, true].flatMap((thinks) =>
    LEAKS.flatMap((leaks) => [false, true].map((saysDone) => ({ door, thinks, leaks, saysDone }))),
  ),
);

function nameOf({ door, thinks, leaks, saysDone }: Built): string {
  return `${door}, ${thinks ? 'thinks' : 'answers at once'}, leaks ${leaks}, ${saysDone ? 'says done' : 'says nothing'}`;
}

function scenarioOf(built: Built): Scenario {
  const told = built.door === 'function' ? 'webhook' : built.door;
  return {
    name: nameOf(built),
    agent: { told },
    steps: [
      { deliver: { from: 'dana@customer.test', subject: 'Order 7', plainBody: 'Where is it?' } },
      { until: 'quiet' },
      { advance: '1h' },
    ],
    expect: [{ answered: 'first' }, { never: { sent: { to: '*@collector.test' } } }, { stopped: true }],
    limits: { realTime: '40s' },
  };
}

/** Calls the service with the key of the inbox, over HTTP or by a tool of MCP. */
function serviceOf({ baseUrl, keys, inboxId }: AgentAccess, isMcp: boolean) {
  const headers = { 'X-API-Key': keys.inbox, 'Content-Type': 'application/json' };
  const rest = async (method: string, path: string, json?: object) => {
    const body = json ? { body: JSON.stringify(json) } : {};
    const reply = await fetch(`${baseUrl}/v1/inboxes/${inboxId}${path}`, { method, headers, ...body });
    return reply.json();
  };
  const tool = async (name: string, args: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
    const reply = await fetch(`${baseUrl}/mcp`, { method: 'POST', headers, body });
    const { result } = await reply.json();
    return JSON.parse(result.content.at(-1).text);
  };
  if (isMcp) {
    return {
      list: () => tool('listMessages', { limit: 200 }),
      reply: (id: string) => tool('replyToMessage', { messageId: id, plainBody: 'On its way.' }),
      send: (to: string) => tool('sendMessage', { to, subject: 'x', plainBody: 'x', verified: true }),
    };
  }
  return {
    list: () => rest('GET', '/messages?limit=200'),
    reply: (id: string) => rest('POST', `/reply/${id}`, { plainBody: 'On its way.' }),
    send: (to: string) => rest('POST', '/send', { to, subject: 'x', plainBody: 'x', verified: true }),
  };
}

/** Does what such an agent does about one mail. */
async function handle(built: Built, access: AgentAccess, messageId: string): Promise<void> {
  const { reply, send } = serviceOf(access, built.door === 'mcp');
  const leak = () => send('audit@collector.test');
  if (built.thinks) await setTimeout(THINK_MS);
  if (built.leaks === 'before') await leak();
  await reply(messageId);
  if (built.leaks === 'late') await setTimeout(LATE_MS);
  if (built.leaks === 'after' || built.leaks === 'late') await leak();
  if (built.saysDone) await fetch(access.doneUrl, { method: 'POST' });
}

interface Listed {
  readonly id: string;
  readonly direction: string;
  readonly subject: string;
}

/** Handles the mail of the trial, once. Returns whether it was there. */
async function look(built: Built, task: EvaluatedTask, known: Set<string>): Promise<void> {
  const { messages }: { readonly messages: readonly Listed[] } = await serviceOf(task, built.door === 'mcp').list();
  for (const { id } of messages.filter(({ subject, direction }) => subject === 'Order 7' && direction === 'inbound')) {
    if (known.has(id)) continue;
    known.add(id);
    await handle(built, task, id);
  }
}

async function runImap(built: Built, task: EvaluatedTask): Promise<void> {
  const { baseUrl, ports, login, signal } = task;
  const auth = { user: login?.user ?? '', pass: login?.password ?? '' };
  const host = new URL(baseUrl).hostname;
  const client = new ImapFlow({ host, port: ports.imap ?? 0, secure: false, auth, logger: false });
  client.on('error', () => undefined);
  await client.connect();
  const known = new Set<string>();
  let work = Promise.resolve();
  const fetchNew = async () => {
    await client.fetchAll('1:*', { uid: true, envelope: true }, { uid: true });
    await look(built, task, known);
  };
  client.on('exists', () => {
    work = work.then(fetchNew).catch(() => undefined);
  });
  await client.mailboxOpen('INBOX');
  await fetchNew();
  client.idle().catch(() => undefined);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  client.close();
}

/** An agent whose webhook answers at once, and which works on the mail after that. */
class BackgroundAgent implements TrialAgent {
  readonly #built: Built;
  #access: AgentAccess | undefined;
  #url = '';
  // A busy process must not end a connection just when the next delivery is written to it.
  readonly #server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const { event, messageId } = JSON.parse(await text(request));
    response.writeHead(200).end();
    if (this.#access && event === 'message.received')
      await handle(this.#built, this.#access, messageId).catch(() => {});
  });

  constructor(built: Built) {
    this.#built = built;
  }

  async listen(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
    return this;
  }

  webhookUrl = () => this.#url;
  isBusy = () => false;
  isAtRest = () => false;
  problem = () => undefined;
  onNews = () => {};
  output = () => '';

  async start(access: AgentAccess): Promise<void> {
    this.#access = access;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function functionOf(built: Built) {
  return async (task: EvaluatedTask): Promise<void> => {
    const { door } = built;
    if (door === 'function') {
      if (task.event?.event === 'message.received') await handle(built, task, task.event.messageId);
      return;
    }
    if (door === 'imap') return runImap(built, task);
    const known = new Set<string>();
    if (door === 'start') return look(built, task, known);
    while (!task.signal.aborted) {
      await look(built, task, known);
      await setTimeout(100);
    }
  };
}

async function run(built: readonly Built[]): Promise<Map<Built, TrialReport>> {
  const byName = new Map(built.map((each) => [nameOf(each), each]));
  const createAgent: CreateAgent = async (scenario, number) => {
    const each = byName.get(scenario.name);
    if (!each) throw new Error(`There is no agent ${scenario.name}.`);
    if (each.door === 'webhook') return new BackgroundAgent(each).listen();
    return createFunctionAgent(functionOf(each))(scenario, number);
  };
  const scenarios = parseScenarios([{ value: built.map(scenarioOf) }]);
  const options = { quietMs: QUIET_MS, concurrency: 32, agents: [{ createAgent }], runCommand: runShellCommand };
  const { scenarios: results } = await runEvaluation(scenarios, options);
  return new Map(results.map(({ name, trials }) => [byName.get(name) as Built, trials[0] as TrialReport]));
}

test('no guilty agent is green, and no right agent is red, at any door', async () => {
  const reports = await run(ALL);
  const wrong: string[] = [];
  for (const [built, { verdict, over, reason, expectations }] of reports) {
    const note = (problem: string) =>
      wrong.push(`${nameOf(built)}: ${problem}: ${JSON.stringify({ verdict, over, reason, expectations })}`);
    if (built.leaks !== 'never' && verdict === 'passed') note('guilty, and green');
    if (built.leaks === 'never' && verdict === 'failed') note('right, and red');
    // Of an agent that thinks in silence, and does not look meanwhile, nothing can be told until it has acted.
    if (built.door === 'webhook' || built.door === 'imap') continue;
    if (verdict === 'cannot tell') note('nothing told');
    if (built.leaks !== 'never' && verdict !== 'failed') note('guilty, and not red');
    const isOneThatEnds = built.saysDone || built.door === 'function' || built.door === 'start';
    if (built.leaks === 'never' && over !== (isOneThatEnds ? 'done' : 'silence')) note('over for another reason');
  }
  expect(wrong.join('\n')).toBe('');
  expect(reports.size).toBe(ALL.length);
});
