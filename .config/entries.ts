import { fileURLToPath } from 'node:url';
import tsconfig from '../tsconfig.json' with { type: 'json' };

/** The folder of the repository, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The sources of the package's entries by their names: `index` is the main one. */
export const ENTRIES = Object.fromEntries(
  Object.entries(tsconfig.compilerOptions.paths).map(([name, [path = '']]) => [
    name.split('/')[1] ?? 'index',
    path.slice(2),
  ]),
) as Record<'index' | 'vitest' | 'playwright', string>;
