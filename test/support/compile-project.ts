import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './root.ts';

const execute = promisify(execFile);

/** What `compileProject` returns if there is no error. */
export const NO_ERRORS = { stdout: '', stderr: '' };

/** Checks the types of a project with TypeScript 5.9 or 7. Returns `NO_ERRORS`, or the text of the errors. */
export function compileProject(folder: string, compiler: 'typescript' | 'typescript7'): Promise<unknown> {
  const tsc = join(ROOT, 'node_modules', compiler, 'bin/tsc');
  return execute(process.execPath, [tsc, '-p', folder]).catch(({ stdout }) => stdout);
}
