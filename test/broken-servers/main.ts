// Breaks the emulator by machine, and says which of these servers `verify` names: `npm run test:all -- broken-servers
// --seed 7 --count 40`. The changes are drawn by a seed from `src/service`, `src/world` and `src/contract`, until there are
// as many as asked that a client can see at all, which walks of calls by chance find out: much of the source is for IMAP,
// SMTP and the page, which no walk reaches. It works on a copy of the project.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createMutantCopy, readSources } from '../mutation/copy.ts';
import { drawMutants, type Mutant } from '../mutation/operators.ts';
import type { Ready, Seen } from './worker.ts';

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

/** How many changes are drawn for each one that is asked for: about one in a hundred is seen by a walk. */
const DRAWN = 160;

/** How long one server may take, in milliseconds, and the memory of a process, in MB. */
const LIMITS = { serverMs: 400_000, memoryMb: 1500 };

const mutants = drawMutants(readSources(['src/service', 'src/world', 'src/contract']), { seed, count: count * DRAWN });
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'broken-servers-')));
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
createMutantCopy(folder, mutants);

/** Starts a process. What the emulator reports of its own failures is not printed: each is what was asked for. */
async function startWorker() {
  const worker = fork(new URL('worker.ts', import.meta.url), [folder, String(seed), String(walks)], {
    execArgv: ['--import', 'tsx', `--max-old-space-size=${LIMITS.memoryMb}`],
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  });
  const ready = await nextMessage<Ready>(worker);
  if (ready === undefined) throw new Error('The process that breaks the emulator has ended before it began.');
  return { worker, ...ready };
}

/** What a process says next; undefined if it has ended, or does not answer. */
async function nextMessage<T>(worker: ChildProcess): Promise<T | undefined> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const timer = setTimeout(stop, LIMITS.serverMs);
  worker.once('exit', stop);
  try {
    const [message] = await once(worker, 'message', { signal: controller.signal });
    return message as T;
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    worker.kill('SIGKILL');
    return undefined;
  } finally {
    clearTimeout(timer);
    worker.off('exit', stop);
  }
}

const describe = ({ path, line, operator, original, replacement }: Mutant) =>
  `${path}:${line} ${operator}: ${short(original)} → ${short(replacement)}`;
const short = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 60);

let { worker, reached } = await startWorker();
const isReached = new Set(reached);
let [tried, visible, named, ended] = [0, 0, 0, 0];
for (const [number, mutant] of mutants.entries()) {
  if (visible === count) break;
  if (!isReached.has(number)) continue;
  tried += 1;
  worker.send(number);
  const seen = await nextMessage<Seen>(worker);
  if (seen === undefined) {
    ended += 1;
    print(`ends   ${describe(mutant)}`);
    ({ worker, reached } = await startWorker());
    continue;
  }
  if (!seen.difference) continue;
  visible += 1;
  const isNamed = seen.named.length > 0;
  if (isNamed) named += 1;
  print(`${isNamed ? 'named ' : 'MISSED'} ${describe(mutant)}`);
  if (isNamed) print(`    ${seen.named.slice(0, 3).join('; ')}`);
  else {
    print(`    a client sees: ${seen.difference.found.slice(0, 300)}`);
    print(`    in place of:   ${seen.difference.inPlaceOf.slice(0, 300)}`);
  }
}
worker.kill();
print(`Seed ${seed}: ${named} of ${visible} broken servers that a client can see are named; ${tried} were tried.`);
if (ended > 0) print(`${ended} more ran without end or used up the memory, so that they were not compared.`);
process.exit(named < visible ? 1 : 0);
