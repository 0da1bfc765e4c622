import { expect, test } from 'vitest';
import { showJsonPath, toJsonPath } from '../../src/basics/json-path.ts';

test('a path has names behind a point, other texts in quotes, and places in brackets', () => {
  expect(toJsonPath(['tenants', 'a b', 'to', 0])).toBe('$.tenants["a b"].to[0]');
});

test('a message shows 200 characters of a name, and marks what it left out', () => {
  const name = 'a'.repeat(200);
  expect(showJsonPath(['tenants', name])).toBe(`$.tenants.${name}`);
  expect(showJsonPath(['tenants', `${name}a`])).toBe(`$.tenants["${name}…"]`);
});
