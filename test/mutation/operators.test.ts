import { readFileSync } from 'node:fs';
import { transformWithOxc } from 'vite';
import { expect, test } from 'vitest';
import { ROOT } from '../support/root.ts';
import { applyMutant, drawMutants, listMutants, withSwitches } from './operators.ts';

const SOURCE = [
  'service/pipeline/handle-request.ts',
  'service/access/principal.ts',
  'service/mail/outgoing/loop-guard.ts',
  'basics/duration.ts',
  'inspector/text.tsx',
].map((name) => ({ path: `src/${name}`, text: readFileSync(`${ROOT}src/${name}`, 'utf8') }));

/** What the mutants of a text are, each as `operator: text with it`. */
function changesOf(text: string): string[] {
  return listMutants({ path: 'a.ts', text }).map((mutant) => `${mutant.operator}: ${applyMutant(text, mutant)}`);
}

test.for([
  ['if (a) b();', ['condition is never true: if (false) b();', 'call removed: if (a) ;']],
  ['let r = a < b;', ['boundary moved: let r = a <= b;', 'boundary moved: let r = a >= b;']],
  ['let r = a ?? b;', ['default left out: let r = a;', 'default always taken: let r = b;']],
  ['let r = a?.b.c(d);', ['question mark removed: let r = a.b.c(d);']],
  ['let r = a.filter(b);', ['filter left out: let r = a;']],
  ['let r = a.some(b);', ['some becomes every: let r = a.every(b);']],
  ['let r = { a, b: 1 };', ['property left out: let r = { b: 1 };', 'property left out: let r = { a };']],
  ['const f = () => a === b;', ['result is undefined: const f = () => undefined;']],
  ['let r = /^a$/i;', ['expression without ^: let r = /a$/i;', 'expression heeds case: let r = /^a$/;']],
] as const)('the mutants of %s are among those of its operators', ([text, expected]) => {
  expect(changesOf(text)).toEqual(expect.arrayContaining([...expected]));
});

test.for([
  "import a from 'b';",
  "type A = 'b' | 1;",
  '[a.b, c] = d;',
  'for ([a.b] of c) d;',
  'interface A { b: true }',
  'for (const { 0: a } of b) c;',
])('%s stays as it is, but that a statement may be removed', (text) => {
  expect(changesOf(text).filter((change) => !change.startsWith('statement removed'))).toEqual([]);
});

test('a method of an object that every object has is no operator', () => {
  expect(changesOf('let r = a.toString();')).toEqual([]);
});

test('a seed draws the same mutants each time, another seed others, and no two change the same text', () => {
  const draw = (seed: number) => drawMutants(SOURCE, { seed, count: 50 });
  const drawn = draw(1);
  expect(draw(1)).toEqual(drawn);
  expect(draw(2)).not.toEqual(drawn);
  expect(drawn).toHaveLength(50);
  const pairs = drawn.flatMap((a, index) => drawn.slice(index + 1).map((b) => [a, b] as const));
  expect(pairs.filter(([a, b]) => a.path === b.path && a.start < b.end && b.start < a.end)).toEqual([]);
});

test('every mutant is TypeScript, alone and behind a switch', async () => {
  for (const mutant of drawMutants(SOURCE, { seed: 3, count: 100 })) {
    const text = SOURCE.find(({ path }) => path === mutant.path)?.text ?? '';
    const switched = withSwitches(text, [{ mutant, number: 1 }], (number) => `isOn(${number})`);
    for (const code of [applyMutant(text, mutant), switched]) {
      const read = transformWithOxc(code, mutant.path);
      await expect(read, `${mutant.path}:${mutant.line} ${mutant.operator}`).resolves.toBeDefined();
    }
  }
});

test('behind switches, each mutant runs only where its own is on', () => {
  const text = 'const size = (list) => { if (list.length > 2) return "large"; return "small"; };';
  const mutants = listMutants({ path: 'a.ts', text }).filter(({ operator }) =>
    ['number plus one', 'text is empty'].includes(operator),
  );
  const code = withSwitches(
    text,
    mutants.map((mutant, number) => ({ mutant, number })),
    (number) => `on === ${number}`,
  );
  const sizeOf = (on: number): string => new Function('on', `${code} return size([1, 2, 3]);`)(on);
  expect(mutants.map(({ original }) => original)).toEqual(['2', '"large"', '"small"']);
  expect([-1, 0, 1, 2].map(sizeOf)).toEqual(['large', 'small', '', 'large']);
});
