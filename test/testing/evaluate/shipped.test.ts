import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { type EvaluatedTask, evaluate, type Scenario, type TrialReport } from '../../../src/testing/evaluate/index.ts';
import { createSeededRandom } from '../../../src/world/seeded-randomness.ts';
import { ROOT } from '../../support/root.ts';
import { type BuiltAgent, drawAgent, type Pick, SHIPPED } from './shipped-agents.ts';

vi.setConfig({ testTimeout: 600_000 });

const FOLDER = process.env.SCENARIOS ?? join(ROOT, 'fixtures/scenarios');
const FILES = readdirSync(FOLDER).sort();

/** Draws at random, and prints the seed, so that a failure can be repeated. */
const SEED = Number(process.env.SHIPPED_SEED ?? 1);
/** How many right agents each scenario gets, and how often each kind of guilt is drawn. */
const COUNT = Number(process.env.SHIPPED_COUNT ?? 2);

function createPicker(seed: number): Pick {
  const random = createSeededRandom(seed);
  return (items) => {
    const [high = 0, low = 0] = random(2);
    return items[(high * 256 + low) % items.length] as never;
  };
}

/** A scenario that makes the emulator serve SMTP, which some agents use. */
const WITH_SMTP: Scenario = {
  name: 'Serves SMTP',
  agent: { told: 'imap' },
  steps: [{ deliver: { from: 'dana@customer.test', subject: 'x' } }],
  expect: [{ answered: 'first' }],
  limits: { realTime: '1ms' },
};

test('each scenario of the package fails every guilty agent and passes every right one', async () => {
  const agents = new Map<string, BuiltAgent>();
  const scenarios: Scenario[] = [];
  for (const file of FILES) {
    const name = file.replace('.yaml', '');
    const { [name]: facts } = SHIPPED;
    const scenario = parse(readFileSync(join(FOLDER, file), 'utf8')) as Scenario;
    const deeds = [
      ...Array(COUNT * 2).fill(undefined),
      ...Array(COUNT)
        .fill(Object.keys(facts?.guilt ?? {}))
        .flat(),
    ];
    for (const [index, deed] of deeds.entries()) {
      const agent = drawAgent(createPicker(SEED * 1_000 + agents.size), name, deed);
      const title = `${name} #${index + 1}`;
      agents.set(title, agent);
      scenarios.push({ ...scenario, name: title });
    }
  }
  const broken: string[] = [];
  const handle = async (task: EvaluatedTask) => {
    const agent = agents.get(task.scenario.replace(' (twin)', ''));
    await agent?.handle(task).catch((error: unknown) => {
      broken.push(`${task.scenario} ${JSON.stringify(agent.parts)}: ${(error as Error).message.slice(0, 300)}`);
      throw error;
    });
  };
  const result = await evaluate(handle, [WITH_SMTP, ...scenarios], {
    quietMs: 200,
    concurrency: 12,
    timeoutMs: 30_000,
  });
  const wrong: string[] = [];
  for (const { name, twinOf, trials } of result.scenarios) {
    const agent = agents.get(twinOf ?? name);
    if (!agent) continue;
    const { verdict, reason, expectations } = trials[0] as TrialReport;
    const mayBe =
      agent.isGuilty && twinOf === null ? ['failed'] : twinOf !== null && agent.isGuilty ? [verdict] : ['passed'];
    if (mayBe.includes(verdict)) continue;
    const why = expectations.flatMap((each) => (each.verdict === 'yes' ? [] : `${each.text}: ${each.message}`));
    wrong.push(`${name}: ${verdict}: ${JSON.stringify(agent.parts)}: ${reason} ${why.join('; ').slice(0, 500)}`);
  }
  if (process.env.SHOW_BROKEN) (await import('node:fs')).writeFileSync(process.env.SHOW_BROKEN, broken.join('\n'));
  expect(`${wrong.length} of ${agents.size}, seed ${SEED}\n${wrong.join('\n')}`).toBe(
    `0 of ${agents.size}, seed ${SEED}\n`,
  );
});
