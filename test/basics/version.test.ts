import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkNodeVersion } from '../../src/basics/version.ts';

test.each(['20.19.0', '20.20.2', '21.0.0', '22.12.0', '100.1.0', undefined])(
  'Node %s may run the emulator',
  (version) => {
    expect(() => checkNodeVersion(version)).not.toThrow();
  },
);

test.each(['18.20.8', '20.18.3', '16.0.0', '0.12.18'])(
  'Node %s is refused with a sentence that names what is needed',
  (version) => {
    expect(() => checkNodeVersion(version)).toThrow(`Node 20.19 or newer is needed, and this is Node ${version}.`);
  },
);

test('the oldest Node is the one that package.json names', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(engines.node).toMatch(/^\^20\.19\.0 /);
});
