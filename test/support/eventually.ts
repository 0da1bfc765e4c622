import { vi } from 'vitest';
import { PATIENCE_MS } from './patience.ts';

/** Calls a function until it does not throw, and returns its result. After a while it throws the last error. */
export function eventually<Result>(call: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(call, { timeout: PATIENCE_MS });
}
