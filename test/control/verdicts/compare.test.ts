import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Candidate, CandidateField } from '../../../src/control/verdicts/candidate.ts';
import { type Comparison, findMatches, hasAmount } from '../../../src/control/verdicts/compare.ts';
import { lackOfMasked, NOT_KEPT } from '../../../src/control/verdicts/not-kept.ts';
import { isEqual } from '../../../src/evaluate/matcher-calls.ts';
import { TextPattern } from '../../../src/evaluate/text-pattern.ts';

const CONTEXT = { equals: isEqual };

/** Returns whether a field is as expected; undefined if that cannot be told. */
function compare(field: CandidateField, expected: unknown): boolean | undefined {
  const { matching, misses } = findMatches(CONTEXT, [{ label: '', fields: { field } }], { field: expected });
  if (matching.length > 0) return true;
  return misses.length > 0 ? false : undefined;
}

/** Patterns for a text, each with what it says of a whole text. */
function patternsFor(text: string): unknown[] {
  return [
    text,
    new RegExp(text),
    new RegExp(`${text}$`),
    new RegExp(`^${text}`),
    new RegExp(`^(?!.*${text})`),
    new RegExp(`${text}(?!a)`),
    expect.stringContaining(text),
    expect.not.stringContaining(text),
    new TextPattern(`*${text}*`),
    new TextPattern(`${text}*`),
    new TextPattern(`*${text}`),
  ];
}

const letters = (max: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: max });

test('says of the start of a text only what is true of the whole, and what is found in the start', () => {
  fc.assert(
    fc.property(letters(6), letters(4), letters(3), (kept, rest, wanted) => {
      const field: CandidateField = { shown: kept, lackOf: () => ['rest'] };
      const whole = `${kept}c${rest}`;
      for (const expected of patternsFor(wanted)) {
        const told = compare(field, expected);
        if (told !== undefined) expect([expected, told]).toEqual([expected, compare({ shown: whole }, expected)]);
      }
      if (kept.includes(wanted)) {
        expect(compare(field, expect.stringContaining(wanted))).toBe(true);
        expect(compare(field, expect.not.stringContaining(wanted))).toBe(false);
        expect(compare(field, new RegExp(wanted))).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test('says of a masked text only what is true of the text', () => {
  fc.assert(
    fc.property(letters(3), letters(3), letters(3), (before, after, wanted) => {
      const field: CandidateField = { shown: `${before} tk_…${after}`, lackOf: lackOfMasked };
      const whole = `${before} tk_abab${after}`;
      for (const expected of patternsFor(wanted)) {
        const told = compare(field, expected);
        const isPattern = typeof expected !== 'string';
        if (told === false || (told && isPattern && !/[$^!]/.test(String(expected))))
          expect([expected, told]).toEqual([expected, compare({ shown: whole }, expected)]);
      }
    }),
    { numRuns: 300 },
  );
});

test.for([
  [{ a: 'x', b: NOT_KEPT }, { a: 'x' }, true],
  [{ a: 'x', b: NOT_KEPT }, { a: 'y' }, false],
  [{ a: 'x', b: NOT_KEPT }, { b: 'y' }, undefined],
  [{ a: 'x', b: NOT_KEPT }, { a: 'y', b: 'y' }, false],
  [[{ b: NOT_KEPT }], [{ b: 'x' }], undefined],
  [[{ b: NOT_KEPT }], [], false],
  [{ a: { b: NOT_KEPT } }, expect.objectContaining({ a: { b: 'x' } }), undefined],
  [NOT_KEPT, { a: 'x' }, undefined],
] as const)('compares %j with %j, of which a part was not kept', ([shown, expected, told]) => {
  expect(compare({ shown }, expected)).toBe(told);
});

test.for([
  ['tk_acme_…', 'tk_acme_…', true],
  ['tk_acme_…', /acme/, true],
  ['tk_acme_…', /tenant/, undefined],
  ['tk_acme_…', 'other', false],
  ['http://…@127.0.0.1/in', 'http://127.0.0.1/in', false],
  ['http://…@127.0.0.1/in', /^http:\/\/u:p@/, undefined],
  ['Wait … what', /code/, false],
  ['and so on…', /code/, false],
  ['…', 7, false],
] as const)('compares the text %s, whose secrets are masked, with %s', ([shown, expected, told]) => {
  expect(compare({ shown, lackOf: lackOfMasked }, expected)).toBe(told);
});

test('decides on an amount exactly if every way in which the open ones may be leads to the same', () => {
  const few = fc.integer({ min: 0, max: 3 });
  const amount = fc.record({
    times: fc
      .record({ min: fc.integer({ min: 0, max: 7 }), more: fc.constantFrom(0, 1, 2, Number.POSITIVE_INFINITY) })
      .map(({ min, more }) => ({ min, max: min + more })),
    only: fc.boolean(),
  });
  fc.assert(
    fc.property(few, few, few, few, amount, (matching, misses, unknown, lost, { times, only }) => {
      const some = <Each>(count: number, each: Each) => Array.from({ length: count }, () => each);
      const candidate: Candidate = { label: '', fields: {} };
      const miss = { candidate, differences: [] };
      const comparison: Comparison = {
        matching: some(matching, candidate),
        misses: some(misses, miss),
        unknown: some(unknown, miss),
      };
      const open = unknown + lost;
      const ways = Array.from({ length: open + 1 }, (_, more) => {
        const isEnough = times.min <= matching + more && matching + more <= times.max;
        return isEnough && (!only || misses + open - more === 0);
      });
      const told = ways.every((way) => way === ways[0]) ? ways[0] : undefined;
      expect(hasAmount(comparison, { times, only }, lost)).toBe(told);
    }),
    { numRuns: 2_000 },
  );
});
