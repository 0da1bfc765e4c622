import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

export default defineConfig({
  root,
  resolve: {
    alias: {
      'agent-mailbox-mock/server': `${root}src/adapters/server/index.ts`,
      'agent-mailbox-mock': `${root}src/index.ts`,
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    sequence: { shuffle: true, concurrent: true },
    typecheck: { enabled: true, include: ['test/types/*.test-d.ts'], tsconfig: './tsconfig.json' },
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
