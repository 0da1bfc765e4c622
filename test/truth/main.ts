// Builds agents whose deeds are known, lets them work, and compares what matchers, samples and scenarios say of them with
// what is true. The options are --count and --seed; with --parts, the agents are those of `npm test`; with --scenarios,
// each scenario of the package has --count agents of its own, of which a third are right.
import { parseArgs } from 'node:util';
import { coverParts, drawCases } from './draw.ts';
import { runCases } from './run.ts';
import { runShipped } from './shipped.ts';
import { describeWrong } from './wrong.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    count: { type: 'string' },
    parts: { type: 'boolean', default: false },
    scenarios: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const count = Number(values.count ?? (values.scenarios ? 15 : 300));
if (!Number.isSafeInteger(seed) || seed < 0 || !(count >= 1)) {
  throw new Error('Give a whole number from 0 for --seed, and one from 1 for --count.');
}
const print = (line: string) => void process.stdout.write(`${line}\n`);
if (values.scenarios) {
  const right = Math.ceil(count / 3);
  const { agents, wrong } = await runShipped(seed, { right, guilty: count - right });
  for (const each of wrong) print(`\n${each}`);
  print(`\nSeed ${seed}: ${agents} agents in the scenarios of the package, ${wrong.length} wrong verdicts.`);
  process.exit(wrong.length === 0 ? 0 : 1);
}
const cases = values.parts ? coverParts(seed) : drawCases(seed, count);
print(`Seed ${seed}: ${cases.length} agents.`);
const { verdicts, wrong, broken } = await runCases(cases);
for (const each of wrong) print(`\n${describeWrong(each)}`);
for (const each of broken) print(`\nAn agent could not do what it is built for: ${each}`);
print(
  `\nSeed ${seed}: ${cases.length} agents, ${verdicts} verdicts, ${wrong.length} wrong; ${broken.length} agents could not act.`,
);
process.exitCode = wrong.length + broken.length === 0 ? 0 : 1;
