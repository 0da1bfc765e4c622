import { test } from 'vitest';
import { findConditions, parseTerms } from '../../../../src/inspector/views/mail/find-conditions.ts';

test.for([
  ['invoice overdue', []],
  ['"from:dana" x', []],
  ['from:dana invoice', [['from:dana', 'invoice']]],
  ['a inbox:billing  b', [['inbox:billing', 'a b']]],
  [
    'from:"Dana Reyes" is:sample',
    [
      ['from:"Dana Reyes"', 'is:sample'],
      ['is:sample', 'from:"Dana Reyes"'],
    ],
  ],
  ['is:unread is:unread', [['is:unread', 'is:unread']]],
  ['is:unreadable has:photos', []],
] as const)('the search %j has the conditions %j', ([search, conditions], { expect }) => {
  expect(findConditions(search).map(({ text, rest }) => [text, rest])).toEqual(conditions);
});

test.for([
  ['Invoice "Two Words" overdue', ['text invoice', 'text two words', 'text overdue']],
  ['inbox:Billing sandbox:"My Shop" is:sample', ['inbox: billing', 'sandbox: my shop', 'is:sample ']],
  ['from:"" "" x', ['text x']],
] as const)('the search %j has the parts %j', ([search, parts], { expect }) => {
  expect(parseTerms(search).map(({ field, text }) => `${field} ${text}`)).toEqual(parts);
});
