// Draws changes of the source by a seed, and says which of them no test notices: `npm run mutate -- service/access
// --seed 7 --count 20`, with paths below `src/`, of each of which it draws --count, and asks in turn until --minutes are
// over. Without a path, it draws from each room. With a change, the tests that reach it run, the nearest first, as many as
// need --seconds without it. Tests that need a process, a browser or the built package do not run, so what is said of the
// inspector and of the commands is only what the other tests notice. It works on a copy: the files of the project stay as
// they are.
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOMS } from '../support/rooms.ts';
import { ROOT } from '../support/root.ts';
import { CopiedTests } from './copied-tests.ts';
import { createMutantCopy, readSources } from './copy.ts';
import { judge, type Verdict } from './judge.ts';
import { drawMutants } from './operators.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '600' },
  },
});
const [seed, ...limits] = [values.seed, values.count, values.seconds, values.minutes].map(Number);
const [count = 0, seconds = 0, minutes = 0] = limits;
if (seed === undefined || !Number.isSafeInteger(seed) || limits.some((limit) => !(limit >= 1))) {
  throw new Error('Give a whole number for --seed, and one from 1 for --count, --seconds and --minutes.');
}
const rooms = positionals.length > 0 ? positionals : Object.keys(ROOMS);
for (const room of rooms) {
  if (!existsSync(join(ROOT, 'src', room))) throw new Error(`There is no src/${room}; give paths below src/.`);
  const outer = rooms.find((other) => room.startsWith(`${other}/`));
  if (outer !== undefined) throw new Error(`src/${room} is a part of src/${outer}; give only one of them.`);
}
const byRoom = rooms.map((room) => drawMutants(readSources([`src/${room}`]), { seed, count }));
// The first of each room, then the second of each: so each has its share when the time is over.
const mutants = Array.from({ length: count }, (_, index) => byRoom.flatMap((drawn) => drawn[index] ?? [])).flat();

const print = (line: string) => void process.stdout.write(`${line}\n`);
// The real path, because that is how the test runner names files.
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mutants-')));
const tests = new CopiedTests(folder);
const end = () => {
  tests.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    end();
    process.exit(1);
  });
}
try {
  createMutantCopy(folder, mutants);
  print(`Seed ${seed}: ${mutants.length} mutants of ${rooms.join(', ')}. First, which tests reach them.`);
  const endsAtMs = Date.now() + minutes * 60_000;
  const verdicts: Verdict[] = [];
  for await (const verdict of judge(tests, mutants, seconds * 1000)) {
    if (typeof verdict === 'string') {
      print(verdict);
      continue;
    }
    verdicts.push(verdict);
    print(`${verdicts.length}/${mutants.length} ${verdict.noticedBy ? 'noticed' : 'SURVIVED'} ${describe(verdict)}`);
    if (Date.now() >= endsAtMs) break;
  }
  print('');
  for (const verdict of verdicts.filter(({ noticedBy }) => noticedBy === undefined)) {
    const { original, replacement } = verdict.mutant;
    print(`${describe(verdict)}\n  - ${onOneLine(original)}\n  + ${onOneLine(replacement)}`);
  }
  for (const [index, room] of rooms.entries()) {
    const own = verdicts.filter(({ mutant }) => byRoom[index]?.includes(mutant));
    print(`${room}: ${own.filter(({ noticedBy }) => noticedBy !== undefined).length} of ${own.length} noticed`);
  }
} finally {
  end();
}

function describe({ mutant, noticedBy, reachedBy, asked }: Verdict): string {
  const by = noticedBy ?? (reachedBy === 0 ? 'no test reaches it' : `${asked} of ${reachedBy} files that reach it ran`);
  return `${mutant.path}:${mutant.line} ${mutant.operator} (${by})`;
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 160);
}
