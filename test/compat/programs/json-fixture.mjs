// Compiles and runs programs whose fixture is a JSON file, with `node16`.
import { execFileSync } from 'node:child_process';

// Under node16, the declarations of msw do not compile in CommonJS.
const MODULES = ['--module', 'node16', '--resolveJsonModule', '--skipLibCheck'];
const FLAGS = [...MODULES, '--target', 'es2022', '--strict', '--types', 'node'];
const run = (...args) => execFileSync(process.execPath, args, { encoding: 'utf8' });
try {
  run('../node_modules/typescript/bin/tsc', ...FLAGS, '--noUncheckedIndexedAccess', 'by-import.cts', 'by-require.mts');
} catch (error) {
  throw new Error(String(error.stdout));
}
for (const file of ['by-import.cjs', 'by-require.mjs']) run(file);
