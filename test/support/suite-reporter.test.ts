import { expect, type TaskMeta, test } from 'vitest';
import { OPERATION_IDS } from '../../src/contract/operations.ts';
import { LENIENCIES } from './leniencies.ts';
import { findMissing, findStale, type RanTest } from './suite-reporter.ts';

const RUNTIMES = ['in process', 'http'];

const ran = (name: string, meta: TaskMeta): RanTest => ({ name, meta: () => meta });

test('an operation that succeeds in one runtime only is missing in the other', () => {
  const [first = '', ...others] = OPERATION_IDS;
  const tests = [
    ran('all (in process)', { succeeded: [...OPERATION_IDS] }),
    ran('most (http)', { succeeded: others }),
    ran(`${first} by another way`, { succeeded: [first] }),
  ];
  expect(findMissing(tests, RUNTIMES)).toEqual([`No test calls ${first} with success (http).`]);
});

test('nothing is missing when every operation succeeds in every runtime', () => {
  const tests = RUNTIMES.flatMap((runtime) =>
    OPERATION_IDS.map((id) => ran(`${id} (${runtime})`, { succeeded: [id] })),
  );
  expect(findMissing(tests, RUNTIMES)).toEqual([]);
});

test('a leniency that no request needs is stale', () => {
  const [first = '', ...others] = LENIENCIES.map(({ reason }) => reason);
  const tests = [ran('requests (http)', { checked: { replies: 1, refusals: 1, leniencies: others } })];
  expect(findStale(tests)).toEqual([`No test needs: ${first}`]);
});
