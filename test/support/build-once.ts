import { mkdtempSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder that the package was built into for this run. */
    dist: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the package once for all tests that start it as a process: from source, each start would compile it anew. */
export default async function buildOnce({ provide }: TestProject): Promise<() => Promise<void>> {
  // Below node_modules, so that what is built finds its dependencies.
  const parent = `${ROOT}node_modules/.cache/agent-mailbox-mock-`;
  await mkdir(`${ROOT}node_modules/.cache`, { recursive: true });
  const dist = mkdtempSync(parent);
  await build({ config: `${ROOT}.config/tsdown.config.ts`, outDir: dist, dts: false, logLevel: 'warn' });
  provide('dist', dist);
  return () => rm(dist, { recursive: true, force: true });
}
