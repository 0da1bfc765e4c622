import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import type { TestCase, TestModule } from 'vitest/node';

/** Writes the artifacts of each test as JSON into the file that the environment variable names. */
const reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const shown = tests.map((each: TestCase) => [each.name, each.result().state, each.artifacts()]);
    writeFileSync(String(process.env.ARTIFACTS_FILE), JSON.stringify(shown));
  },
};

export default defineConfig({
  root: fileURLToPath(new URL('../../../..', import.meta.url)),
  resolve: { tsconfigPaths: true },
  test: { include: ['test/testing/vitest/specs/*.spec.ts'], reporters: ['default', reporter] },
});
