// Compiles and runs programs whose fixture is a JSON file, with `node16`.
import { execFileSync } from 'node:child_process';

const FLAGS = ['--module', 'node16', '--resolveJsonModule', '--target', 'es2022', '--strict', '--types', 'node'];
const run = (...args) => execFileSync(process.execPath, args, { encoding: 'utf8' });
try {
  run('../node_modules/typescript/bin/tsc', ...FLAGS, '--noUncheckedIndexedAccess', 'by-import.cts', 'by-require.mts');
} catch (error) {
  throw new Error(String(error.stdout));
}
for (const file of ['by-import.cjs', 'by-require.mjs']) run(file);
