// The tests of a copy with mutants: those of `npm test`, and a record of what each file reaches.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, mergeConfig } from 'vitest/config';
import ofTheProject from '../../.config/vitest.config.ts';

export default defineConfig(async (env) =>
  mergeConfig(await ofTheProject(env), {
    test: {
      setupFiles: ['test/mutation/record-reached.ts'],
      // `node_modules` of the copy leads to that of the project, in which nothing is to be changed.
      experimental: { fsModuleCachePath: process.env.MUTATION_CACHE ?? join(tmpdir(), 'mutation-cache') },
    },
  }),
);
