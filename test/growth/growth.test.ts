// The one exception to the rule that no test looks at the time: what is compared is how it grows, not seconds, and it is
// the time of the processor, which other processes on the machine do not change.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';

/** Above 1, which is linear, because small inputs have costs of their own; twice the work for each letter gives 2. */
const LIMIT = 1.4;

test('work grows no faster than its input', async () => {
  // The work of the collector is noise: with more room for new objects, there is less of it.
  const args = ['--max-semi-space-size=64', '--import', 'tsx', 'test/growth/measure.ts'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exponents = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    // A row whose work does not end keeps this exponent.
    const { name, exponent = Number.POSITIVE_INFINITY } = JSON.parse(line) as { name: string; exponent?: number };
    exponents.set(name, exponent);
    clearTimeout(timer);
    timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  }
  clearTimeout(timer);
  const tooFast = [...exponents].filter(([, exponent]) => exponent >= LIMIT);
  expect(tooFast).toEqual([]);
  expect(exponents.size).toBeGreaterThan(1000);
});
