import { expect, test, vi } from 'vitest';
import { runShipped } from './shipped.ts';

vi.setConfig({ testTimeout: 480_000 });

test('each scenario of the package passes its right agents, and fails its guilty ones', async () => {
  const { agents, wrong } = await runShipped(1, { right: 2, guilty: 3 });
  expect(wrong.join('\n')).toBe('');
  expect(agents).toBe(24 * 5);
});
