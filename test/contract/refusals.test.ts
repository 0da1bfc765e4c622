import { expect, test } from 'vitest';
import { collectFieldProblems, collectRefusals } from '../support/refusals.ts';

/** Texts that only complete the sentence of another, and those of the library by which receivers verify. */
const PARTS: ReadonlySet<string> = new Set([
  'domain with this name',
  'The path',
  'duplicate key … at …',
  'Missing required headers',
  'No matching signature found',
  'it has a mail of …, and the limit is …',
  'must be the path of a mail or of an mbox: …',
]);

const REFUSALS = collectRefusals().filter(({ message }) => !PARTS.has(message));

/** Unclear words, each with the words to use instead. */
const UNCLEAR_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:hears?|told|tells?|whom|nobody|somebody|lest|whatever)\b/i, 'plain verbs'],
  [/(?<!there )\bis no\b/i, 'is not a'],
  [/\bthere (?:is|are) .* already\b/i, 'already exists'],
  [/\b(?:broke off|stands there|lies|lives)\b/i, 'truncated, duplicate, is in'],
];

test('every error message in the source is collected', () => {
  expect(REFUSALS.length).toBeGreaterThan(120);
});

test('every error message is one plain sentence', () => {
  const bad = REFUSALS.filter(
    ({ message }) => !/^(?:\d\.\d\.\d )?[A-Z"…](?:.*[.…])?$/s.test(message) || /[.!?] [a-z]/.test(message),
  );
  expect(bad).toEqual([]);
});

test('no error message has a word from the list of unclear words', () => {
  const bad = REFUSALS.flatMap(({ file, message }) =>
    UNCLEAR_WORDS.filter(([riddle]) => riddle.test(message)).map(([, instead]) => `${file}: ${message} → ${instead}`),
  );
  expect(bad).toEqual([]);
});

test('no two error messages word the same error differently', () => {
  const wordings = new Map<string, Set<string>>();
  for (const { message } of REFUSALS) {
    const words = message.toLowerCase().match(/[a-z]{3,}/g) ?? [];
    const key = [...words].sort().join(' ');
    wordings.set(key, (wordings.get(key) ?? new Set()).add(words.join(' ')));
  }
  expect([...wordings.values()].filter((same) => same.size > 1)).toEqual([]);
});

test('a problem of a field is worded as the end of a sentence that begins with the field', () => {
  expect(collectFieldProblems().length).toBeGreaterThan(60);
  expect(
    collectFieldProblems().filter(
      ({ message }) => !/^(?:must |is |has )[^.]*$/.test(message.replace(/\d\.\d|\.com|\.test|\d\.\d/g, '')),
    ),
  ).toEqual([]);
});
