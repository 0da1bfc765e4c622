import { expect, test, vi } from 'vitest';
import { coverParts } from './draw.ts';
import { classOf } from './not-yet.ts';
import { runCases } from './run.ts';
import { describeWrong } from './wrong.ts';

vi.setConfig({ testTimeout: 240_000 });

test('every verdict about an agent whose deeds are known is true, with each of its parts at least once', async () => {
  const { wrong, broken, verdicts } = await runCases(coverParts(1));
  const unknown = wrong.filter((each) => classOf(each) === undefined);
  expect(broken.join('\n')).toBe('');
  expect(unknown.map(describeWrong).join('\n')).toBe('');
  expect(verdicts).toBeGreaterThan(1_000);
});
