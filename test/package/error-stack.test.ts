import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DIST } from '../support/dist.ts';

const require = createRequire(import.meta.url);

test('the stack of an error names each function of the package, down to the call of the user', () => {
  const { createMailbox } = require(join(DIST, 'index.require.cjs')) as typeof import('agent-mailbox-mock');
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
