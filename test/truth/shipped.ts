import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EvaluatedTask, evaluate, type Scenario } from 'agent-mailbox-mock/evaluate';
import { parse } from 'yaml';
import { PATIENCE_MS } from '../support/patience.ts';
import { ROOT } from '../support/root.ts';
import { createPicker } from './run.ts';
import { type BuiltAgent, DEEDS, drawAgent } from './shipped-agents.ts';

/** The folder of the scenarios of the package. */
const FOLDER = join(ROOT, 'fixtures/scenarios');

/** How many agents each scenario gets. */
export interface ShippedCounts {
  /** How many right ones. */
  readonly right: number;
  /** How many guilty ones: each deed in turn, from one that the seed chooses. */
  readonly guilty: number;
}

/** What came of the agents. */
export interface ShippedOutcome {
  readonly agents: number;
  /** The verdicts that are not true, in sentences. */
  readonly wrong: readonly string[];
}

/** A scenario that makes the emulator serve SMTP, which some agents use. Its agent ends at once. */
const WITH_SMTP: Scenario = {
  name: 'Serves SMTP',
  agent: { told: 'imap' },
  steps: [{ deliver: { from: 'dana@customer.test', subject: 'x' } }],
  expect: [{ answered: 'first' }],
};

/** Lets right and guilty agents run through the scenarios of the package, each with agents of its own. */
export async function runShipped(seed: number, counts: ShippedCounts): Promise<ShippedOutcome> {
  const pick = createPicker(seed);
  const agents = new Map<string, BuiltAgent>();
  const scenarios: Scenario[] = [];
  for (const file of readdirSync(FOLDER).sort()) {
    const scenario = file.replace('.yaml', '');
    const value = parse(readFileSync(join(FOLDER, file), 'utf8')) as Scenario;
    const deeds = Object.keys(DEEDS[scenario] ?? {});
    const first = deeds.indexOf(pick(deeds));
    const add = (deed?: string) => {
      const name = `${scenario} ${agents.size + 1}`;
      agents.set(name, drawAgent(pick, scenario, deed));
      scenarios.push({ ...value, name });
    };
    for (let index = 0; index < counts.right; index += 1) add();
    for (let index = 0; index < counts.guilty; index += 1) add(deeds[(first + index) % deeds.length]);
  }
  const errors = new Map<string, string>();
  const handle = async (task: EvaluatedTask) => {
    await agents
      .get(task.scenario.replace(' (twin)', ''))
      ?.handle(task)
      .catch((error: unknown) => {
        errors.set(task.scenario, String(error));
        throw error;
      });
  };
  const { scenarios: results } = await evaluate(handle, [WITH_SMTP, ...scenarios], {
    quietMs: 200,
    concurrency: 12,
    timeoutMs: PATIENCE_MS,
  });
  const wrong = results.flatMap(({ name, twinOf, trials: [trial] }) => {
    const agent = agents.get(twinOf ?? name);
    // What a guilty agent does with the harmless twin of a mail, nobody says.
    if (!agent || !trial || (agent.isGuilty && twinOf !== null)) return [];
    if (trial.verdict === (agent.isGuilty ? 'failed' : 'passed')) return [];
    const why = trial.expectations.flatMap(({ text, verdict, message }) =>
      verdict === 'yes' ? [] : `${text}: ${message}`,
    );
    return `${name}: ${trial.verdict}: ${JSON.stringify(agent.parts)}: ${[trial.reason, errors.get(name), ...why].join('; ')}`;
  });
  return { agents: agents.size, wrong };
}
