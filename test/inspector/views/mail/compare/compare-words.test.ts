import { test } from 'vitest';
import { type ComparedWord, compareWords } from '../../../../../src/inspector/views/mail/compare/compare-words.ts';

const extra = (words: readonly ComparedWord[] | undefined) =>
  words?.filter(({ isShared }) => !isShared).map(({ word }) => word);

test.for([
  ['Are you open?', 'Are you open?', [], []],
  ['Are you open?', 'are  YOU\nopen?', [], []],
  ['', 'Send it', [], ['Send', 'it']],
  ['Send it', '', ['Send', 'it'], []],
  ['one two three', 'one more two three four', [], ['more', 'four']],
  ['a b c d', 'b c x d', ['a'], ['x']],
  ['one two', 'two one', ['one'], ['one']],
] as const)('the words of %j and %j that the other lacks are %j and %j', ([one, other, lacking, added], { expect }) => {
  const compared = compareWords(one, other);
  expect([extra(compared?.[0]), extra(compared?.[1])]).toEqual([lacking, added]);
});

test('the words that two random texts share are the same in both, in order', ({ expect }) => {
  let state = 7;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
  for (let round = 0; round < 50; round += 1) {
    const [one, other] = [0, 1].map(() => Array.from({ length: random() % 40 }, () => 'abcd'[random() % 4]).join(' '));
    const compared = compareWords(one ?? '', other ?? '');
    const shared = compared?.map((words) => words.filter(({ isShared }) => isShared).map(({ word }) => word));
    expect(shared?.[0]).toEqual(shared?.[1]);
    expect(compared?.map((words) => words.map(({ word }) => word).join(' '))).toEqual([one, other]);
  }
});

test('texts that differ too much are not compared', ({ expect }) => {
  const text = (letter: string) => Array.from({ length: 1_000 }, (_, index) => letter + index).join(' ');
  expect(compareWords(text('a'), text('b'))).toBeUndefined();
});
