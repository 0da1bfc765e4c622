// Builds agents whose deeds are known, lets them work, and compares what matchers, samples and scenarios say of them with
// what is true: `npm run test:all -- truth --count 300 --seed 7`.
import { parseArgs } from 'node:util';
import { drawCases, everyPart } from './draw.ts';
import { runCases } from './run.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, count: { type: 'string', default: '300' }, every: { type: 'boolean', default: false } },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
const cases = values.every ? everyPart(seed) : drawCases(seed, Number(values.count));
console.log(`Seed ${seed}: ${cases.length} agents.`);
const { verdicts, wrong, broken } = await runCases(cases);
for (const { parts, by, question, truth, answer, message } of wrong) {
  console.log(`\n${question} (${by}): ${answer}, but the truth is: ${truth}\n  ${JSON.stringify(parts)}`);
  console.log(`  ${message.split('\n').slice(0, 4).join('\n  ')}`);
}
for (const each of broken) console.log(`\nBROKEN ${each}`);
console.log(`\nSeed ${seed}: ${cases.length} agents, ${verdicts} verdicts, ${wrong.length} wrong, ${broken.length} agents that could not act.`);
process.exitCode = wrong.length + broken.length === 0 ? 0 : 1;
