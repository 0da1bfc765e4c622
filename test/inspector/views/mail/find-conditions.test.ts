import { test } from 'vitest';
import { findConditions } from '../../../../src/inspector/views/mail/find-conditions.ts';

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
