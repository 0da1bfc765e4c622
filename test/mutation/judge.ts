import type { CopiedTests } from './copied-tests.ts';
import type { Mutant } from './operators.ts';

/** Whether a test notices a mutant. */
export interface Verdict {
  /** The place of the mutant in the list. */
  readonly number: number;
  readonly mutant: Mutant;
  /** The test that failed first, or that the tests did not end; nothing if all passed. */
  readonly noticedBy: string | undefined;
  /** How many files with tests reach it, and how many of them ran with it. */
  readonly reachedBy: number;
  readonly asked: number;
}

/** What each start of the test runner takes, on a machine that others use too. */
const STARTS_WITHIN_MS = 120_000;

/**
 * Runs with each mutant the tests that reach it, the nearest first, as long as they need no more than this time. Yields a
 * sentence for whoever waits, or the verdict about a mutant.
 */
export async function* judge(
  tests: CopiedTests,
  mutants: readonly Mutant[],
  limitMs: number,
): AsyncGenerator<string | Verdict> {
  const { run, reached } = await tests.findReached([...new Set(mutants.map(({ path }) => path))]);
  // A file that fails with no mutant on says nothing; most of these read the source.
  const failing = run.files.filter(({ failed }) => failed.length > 0);
  for (const { file, failed } of failing) yield `Not asked, because it fails without a mutant: ${file} (${failed[0]})`;
  const able = run.files.filter(({ failed }) => failed.length === 0);
  yield `${able.length} files with tests can be asked, which took ${Math.round(able.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000)} s.`;
  const loaded = new Set([...reached.values()].flatMap(({ whileLoading }) => whileLoading));

  for (const [number, mutant] of mutants.entries()) {
    // What a module does when it is loaded, or at its first use, is reached by the first file of a worker alone.
    const isNear = (file: string) => file.startsWith(`${mirroredFolder(mutant.path)}/`);
    const reaching = able
      .filter(({ file }) => loaded.has(number) || isNear(file) || reached.get(file)?.inTests.includes(number))
      .sort((a, b) => nearness(mutant.path, b.file) - nearness(mutant.path, a.file) || a.durationMs - b.durationMs);
    const [near, far] = divide(reaching, limitMs);
    let noticedBy: string | undefined;
    for (const files of [near, far].filter(({ length }) => length > 0)) {
      const durationMs = files.reduce((sum, file) => sum + file.durationMs, 0);
      const result = await tests.runWith(
        number,
        files.map(({ file }) => file),
        STARTS_WITHIN_MS + 3 * durationMs,
      );
      if (result.ending === 'passed') continue;
      const failed = result.files.find((file) => file.failed.length > 0);
      noticedBy = failed
        ? `${failed.file}: ${failed.failed[0]}`
        : result.ending === 'late'
          ? 'it does not end'
          : 'it crashes';
      break;
    }
    const isReached = loaded.has(number) || [...reached.values()].some(({ inTests }) => inTests.includes(number));
    yield {
      number,
      mutant,
      noticedBy,
      reachedBy: isReached ? reaching.length : 0,
      asked: near.length + far.length,
    };
  }
}

/** Divides files into the nearest, which likely notice, and those of the others for which there is time. */
function divide<File extends { readonly durationMs: number }>(
  files: readonly File[],
  limitMs: number,
): [File[], File[]] {
  let sum = 0;
  const within = files.filter(({ durationMs }, index) => {
    sum += durationMs;
    return index === 0 || sum <= limitMs;
  });
  return [within.slice(0, 6), within.slice(6)];
}

function mirroredFolder(path: string): string {
  return path.replace(/^src\//, 'test/').replace(/\/[^/]*$/, '');
}

/** How many characters the path of a test and that of a file of the source have in common from the start. */
function nearness(path: string, test: string): number {
  const [a, b] = [path.slice('src/'.length), test.slice('test/'.length)];
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
