import type { OutputOptions, RollupOptions } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { ENTRIES, ROOT } from './entries.ts';

/** The declarations for ES modules or for CommonJS: they differ only in the names of the files. */
const declarations = (extension: 'd.ts' | 'd.cts'): OutputOptions => ({
  dir: `${ROOT}dist`,
  entryFileNames: `[name].${extension}`,
  chunkFileNames: `[name]-[hash].${extension}`,
  // In a project without msw or vitest, their imports fail, and a `lib` may lack AsyncDisposable. Without this line,
  // `skipLibCheck: false` would show these errors. Mistakes in the files of the user are still found.
  banner: '// @ts-nocheck\n/// <reference lib="esnext.disposable" />',
});

/** Writes the declarations of the package. They have the types of zod in them, because users have no zod. */
export const DECLARATIONS = {
  input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, ROOT + path])),
  external: /^node:/,
  output: [declarations('d.ts'), declarations('d.cts')],
  plugins: [dts({ tsconfig: `${ROOT}tsconfig.json`, includeExternal: ['zod'] })],
} satisfies RollupOptions;
