import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DIST } from '../support/dist.ts';

const require = createRequire(import.meta.url);

const FILES = readdirSync(DIST).filter((file) => file.endsWith('.js'));

test('an ES module imports from the CommonJS build only what that exports', () => {
  const imports = FILES.flatMap((file) => {
    const code = readFileSync(join(DIST, file), 'utf8');
    return [...code.matchAll(/^import \{ ([^}]+) \} from "\.\/([\w-]+\.cjs)";$/gm)].map(
      ([, names = '', from = '']) => ({ file, from, names: names.split(', ').map((name) => name.split(' as ')[0]) }),
    );
  });
  expect(imports.map(({ file }) => file)).toEqual(expect.arrayContaining(['vitest.js', 'playwright.js']));
  const missing = imports.flatMap(({ file, from, names }) => {
    const exported = Object.keys(require(join(DIST, from)));
    return names.filter((name = '') => !exported.includes(name)).map((name) => `${file}: ${name} of ${from}`);
  });
  expect(missing).toEqual([]);
});

test('the stack of an error names each function of the package, down to the call of the user', () => {
  const { createMailbox } = require(join(DIST, 'index.cjs')) as typeof import('agent-mailbox-mock');
  const addWrongFault = () => createMailbox().addFault({ on: 'nothing' } as never);
  const stackOf = () => {
    try {
      return String(addWrongFault());
    } catch (error) {
      return String((error as Error).stack);
    }
  };
  const frames: string[] = stackOf().match(/(?<=^ +at ).+(?= \()/gm) ?? [];
  const ours = frames.slice(0, frames.indexOf('addWrongFault'));
  expect(ours.length).toBeGreaterThan(1);
  expect(ours.filter((name) => !/\w{5,}$/.test(name))).toEqual([]);
});
