// Draws changes of the source by a seed, and says which of them no test notices: `npm run mutate -- service/access
// --seed 7 --count 20`. Without a room, it draws from each. It works on a copy; the files of the project stay as they are.
// The tests that reach a change run with it, the nearest first, for as many seconds as --seconds says. Tests that need a
// process, a browser or the built package do not run, so the share of `inspector` and of the commands is only that of others.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOMS } from '../support/rooms.ts';
import { CopiedTests } from './copied-tests.ts';
import { createMutantCopy, readSources } from './copy.ts';
import { judge, type Verdict } from './judge.ts';
import { drawMutants, type Mutant } from './operators.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '60' },
  },
});
const [seed, count, seconds] = [Number(values.seed), Number(values.count), Number(values.seconds)];
if (!Number.isSafeInteger(seed) || !(count >= 1) || !(seconds >= 1)) {
  throw new Error('Give a whole number for --seed, and one from 1 for --count and --seconds.');
}
const print = (line: string) => void process.stdout.write(`${line}\n`);
const rooms = positionals.length > 0 ? positionals : Object.keys(ROOMS);
const drawn = rooms.flatMap((room) =>
  drawMutants(readSources([`src/${room}`]), { seed, count }).map((mutant) => ({ room, mutant })),
);
const mutants = drawn.map(({ mutant }) => mutant);

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
  const verdicts: { room: string; verdict: Verdict }[] = [];
  for await (const verdict of judge(tests, mutants, seconds * 1000)) {
    if (typeof verdict === 'string') {
      print(verdict);
      continue;
    }
    const room = drawn[verdict.number]?.room ?? '';
    verdicts.push({ room, verdict });
    print(`${verdicts.length}/${mutants.length} ${verdict.noticedBy ? 'noticed' : 'SURVIVED'} ${describe(verdict)}`);
  }
  print('');
  for (const { verdict } of verdicts.filter(({ verdict: { noticedBy } }) => noticedBy === undefined)) {
    print(
      `${describe(verdict)}\n  - ${onOneLine(verdict.mutant.original)}\n  + ${onOneLine(verdict.mutant.replacement)}`,
    );
  }
  for (const room of rooms) {
    const own = verdicts.filter((each) => each.room === room);
    const noticed = own.filter(({ verdict }) => verdict.noticedBy !== undefined).length;
    print(`${room}: ${noticed} of ${own.length} noticed`);
  }
} finally {
  end();
}

function describe({ mutant, noticedBy, reachedBy, asked }: Verdict): string {
  const by = noticedBy ?? (reachedBy === 0 ? 'no test reaches it' : `${asked} of ${reachedBy} files that reach it ran`);
  return `${mutant.path}:${mutant.line} ${mutant.operator} (${by})`;
}

function onOneLine(text: Mutant['original']): string {
  return text.replace(/\s+/g, ' ').slice(0, 160);
}
