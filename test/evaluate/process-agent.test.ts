import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { AgentPorts } from '../../src/evaluate/process-agent.ts';

test('the ports of agents differ, are free, and are none that the system gives to connections', async ({
  onTestFinished,
}) => {
  const ports = new AgentPorts();
  const first = await ports.take();
  const taken = createServer().listen(first + 1, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await Promise.race([once(taken, 'listening'), once(taken, 'error')]);
  const others = [await ports.take(), await ports.take()];
  expect(new Set([first, ...others])).toHaveProperty('size', 3);
  expect(others).not.toContain((taken.address() as AddressInfo | null)?.port ?? first + 1);
  for (const port of [first, ...others]) expect(port >= 20_000 && port < 32_000, `${port}`).toBe(true);
});
