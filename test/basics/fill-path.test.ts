import { expect, test } from 'vitest';
import { fillPath } from '../../src/basics/fill-path.ts';

const fill = (id: unknown) => fillPath('/v1/inboxes/{id}/messages/{messageId}', (name) => (name === 'id' ? id : 'm'));

test.for([
  '%2e%2e',
  '%2E',
  '...',
  '.a',
  '/',
  '../..',
  'a/../b',
  '\\',
  '?a=b',
  '#',
  '\n',
  '\r\n',
  ' ',
  '\0',
  '%',
  '%zz',
  ';',
  '☃',
])('a parameter %j is one segment of the path, and arrives unchanged', (id) => {
  const { pathname, search, hash } = new URL(`http://localhost${fill(id)}`);
  const segments = pathname.split('/');
  expect(segments.map(decodeURIComponent)).toEqual(['', 'v1', 'inboxes', id, 'messages', 'm']);
  expect(search + hash).toBe('');
});

test.for<[value: unknown, problem: string]>([
  ['.', 'must not be ".", because a URL with it leads to another path'],
  ['..', 'must not be "..", because a URL with it leads to another path'],
  ['', 'must be a text that is not empty'],
  [undefined, 'must be a text, not undefined'],
  [['..'], 'must be a text, not a list'],
  [{ toString: () => '..' }, 'must be a text, not an object'],
  ['a\ud83d', 'must not have half of a surrogate pair, which no URL can contain'],
])('a parameter %j is refused', ([value, problem]) => {
  expect(() => fill(value)).toThrow(
    new TypeError(`The parameter id of /v1/inboxes/{id}/messages/{messageId} ${problem}.`),
  );
});
