import { readdirSync, readFileSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const TEST = fileURLToPath(new URL('..', import.meta.url));

/** What a test imports that needs more than the process of the test: another process, a browser, or the build. */
const OUTSIDE = /^node:child_process$|^playwright-core$|\/support\/dist\.ts$/;

/** Every file with tests, as `test/…`. */
export const TEST_FILES: readonly string[] = readdirSync(TEST, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `test/${file.split(sep).join('/')}`);

/** Returns the text of a file with tests. */
export function readTest(file: string): string {
  return readFileSync(resolve(TEST, '..', file), 'utf8');
}

/**
 * Returns whether a file with tests needs a process, a browser or the built package: it imports what starts or finds
 * them, itself or through another file of `test/`. Only `npm run test:all` runs such a file.
 */
export function needsOutside(file: string): boolean {
  return importsOutside(resolve(TEST, '..', file), new Set());
}

function importsOutside(path: string, seen: Set<string>): boolean {
  if (seen.has(path)) return false;
  seen.add(path);
  const imported = [...readFileSync(path, 'utf8').matchAll(/^(?:\} from|import .*from|import) '([^']+)';$/gm)];
  return imported.some(([line, name = '']) => {
    if (OUTSIDE.test(name)) return true;
    const next = resolve(path, '..', name);
    return name.startsWith('.') && !line.startsWith('import type') && next.startsWith(TEST) && /\.ts$/.test(next)
      ? importsOutside(next, seen)
      : false;
  });
}
