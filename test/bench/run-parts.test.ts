import { expect, test } from 'vitest';
import type { Row } from './measure.ts';
import { runParts } from './run-parts.ts';

const row = (what: string, met = true): Row => ({ what, figure: '1', target: '1', met });

test('a part of the bench that fails is named with its reason, and the next part is measured', async () => {
  const shown: Row[] = [];
  const result = await runParts(
    [
      ['start', async () => [row('first')]],
      ['memory', () => Promise.reject(new Error('The server ended with 1.\n    at startPeer'))],
      ['trace', async () => [row('last', false)]],
    ],
    (each) => shown.push(each),
  );
  expect(shown).toEqual([
    row('first'),
    { what: 'memory: failed', figure: 'The server ended with 1.', target: '', met: false },
    row('last', false),
  ]);
  expect(result).toEqual({ missed: 1, failed: ['memory'] });
});
