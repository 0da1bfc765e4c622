import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBlocks, PAGES } from './readme.ts';
import { ROOT } from './root.ts';

/**
 * Fills an empty folder as a reader of the pages would have it: with their files, these files, and the packages that they
 * import, ours as built.
 */
export function fillReaderFolder(folder: string, files: Readonly<Record<string, string>>): void {
  const onPages = PAGES.flatMap(findBlocks).flatMap(({ file, text }) => (file ? [[file, text]] : []));
  const all: Record<string, string> = {
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    ...files,
    ...Object.fromEntries(onPages),
  };
  for (const [name, content] of Object.entries(all)) writeFileSync(join(folder, name), content, { mode: 0o755 });
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  }
  symlinkSync(ROOT, join(packages, 'agent-mailbox-mock'));
}
