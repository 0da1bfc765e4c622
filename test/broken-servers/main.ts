// Breaks the emulator by machine, and says which of these servers `verify` names: `npm run test:all -- broken-servers
// --seed 7 --count 40`. The changes are drawn by a seed from `src/service`, `src/world` and `src/contract`, until there are
// as many as asked that a client can see at all, which walks of calls by chance find out: much of the source is for IMAP,
// SMTP and the page, which no walk reaches. It works on a copy of the project.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import type { Mailbox } from 'agent-mailbox-mock';
import { createMailbox } from '../../src/mailbox/index.ts';
import { findInOperations } from '../../src/verify/operation-findings.ts';
import { createMutantCopy, readSources } from '../mutation/copy.ts';
import { drawMutants, type Mutant } from '../mutation/operators.ts';
import { recordSequence } from '../verify/record-sequence.ts';
import { walk } from './walk.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    walks: { type: 'string', default: '6' },
  },
});
const [seed, count, walks] = [Number(values.seed), Number(values.count), Number(values.walks)];
if (!Number.isSafeInteger(seed) || !(count >= 1) || !(walks >= 1)) {
  throw new Error('Give a whole number for --seed, and one from 1 for --count and --walks.');
}
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** How many changes are drawn for each one that is asked for: one in about twenty is seen by a walk. */
const DRAWN = 40;

const sources = readSources(['src/service', 'src/world', 'src/contract']);
const mutants = drawMutants(sources, { seed, count: count * DRAWN });
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'broken-servers-')));
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
createMutantCopy(folder, mutants);
const copy: { createMailbox: typeof createMailbox } = await import(join(folder, 'src/mailbox/index.ts'));
const { onReach, switchOn }: typeof import('../mutation/switch.ts') = await import(
  join(folder, 'test/mutation/switch.ts')
);

/** What the walks see of the copy while one of its mutants runs, or none. */
async function walkThrough(number: number | undefined): Promise<string[]> {
  const seen: string[] = [];
  for (let walkNumber = 1; walkNumber <= walks; walkNumber += 1) {
    switchOn(number);
    try {
      // With a seed and a clock that stands still, the same requests get the same replies.
      const mailbox: Mailbox = copy.createMailbox({ seed: 1 });
      mailbox.clock.freeze('2026-03-01T09:00:00Z');
      const { acme, globex } = mailbox.keys as unknown as Record<'acme' | 'globex', { tenant: string }>;
      const send = (request: Request) => mailbox.fetch(request);
      seen.push(...(await walk(send, [acme.tenant, globex.tenant], seed * 100 + walkNumber)));
    } catch (error) {
      seen.push(`the emulator fails: ${String(error)}`);
    } finally {
      switchOn(undefined);
    }
  }
  return seen;
}

const describe = ({ path, line, operator, original, replacement }: Mutant) =>
  `${path}:${line} ${operator}: ${short(original)} → ${short(replacement)}`;
const short = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 60);

const reached = new Set<number>();
onReach((number) => reached.add(number));
const intact = await walkThrough(undefined);
onReach(() => {});
const intactAgain = await walkThrough(undefined);
if (!isDeepStrictEqual(intact, intactAgain)) throw new Error('Two walks through the same emulator saw two things.');
const emulator = await recordSequence(createMailbox());
const right = findInOperations(await recordSequence(copy.createMailbox()), emulator);
const accused = right.filter(({ verdict }) => verdict === 'differs');
if (accused.length > 0) throw new Error(`A right server is accused: ${accused.map(({ id }) => id).join(', ')}.`);

let [tried, visible, named] = [0, 0, 0];
const missed: string[] = [];
for (const [number, mutant] of mutants.entries()) {
  if (visible === count) break;
  if (!reached.has(number)) continue;
  tried += 1;
  const seen = await walkThrough(number);
  const first = seen.findIndex((line, index) => line !== intact[index]);
  if (first < 0 && seen.length === intact.length) continue;
  visible += 1;
  switchOn(number);
  const findings = await recordSequence(copy.createMailbox()).then(
    (recording) => findInOperations(recording, emulator).filter(({ verdict }) => verdict === 'differs'),
    (error: Error) => [{ id: `the run ends: ${error.message}`, found: '' }],
  );
  switchOn(undefined);
  if (findings.length > 0) named += 1;
  else missed.push(describe(mutant));
  const what = findings.slice(0, 3).map(({ id }) => id);
  print(
    `${findings.length > 0 ? 'named ' : 'MISSED'} ${describe(mutant)}${what.length > 0 ? `\n    ${what.join('; ')}` : ''}`,
  );
  if (findings.length === 0)
    print(`    a client sees: ${seen[first]?.slice(0, 300)}\n    in place of:   ${intact[first]?.slice(0, 300)}`);
}
print(`Seed ${seed}: ${named} of ${visible} broken servers that a client can see are named; ${tried} were tried.`);
process.exit(missed.length > 0 ? 1 : 0);
