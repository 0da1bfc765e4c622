import type { Environment } from 'agent-mailbox-mock';

/** Creates an environment that gives two mailboxes the same ids, keys, secrets and times for the same requests. */
export function createRepeatableEnvironment(): Partial<Environment> {
  let calls = 0;
  return {
    now: () => new Date('2026-02-01T12:00:00.000Z'),
    randomBytes(length) {
      calls += 1;
      const [low, high] = [calls, calls >> 8];
      return Uint8Array.from({ length }, (_, index) => (index % 2 === 0 ? low : high));
    },
  };
}
