import ts from 'typescript';
import type { Environment } from './environments.ts';

/** Writes the story as a program or a test file of an environment. */
export function writeStory(source: string, { story, imports, checks, ending = '' }: Environment): string {
  const functions = checks.filter((check) => check !== 'command');
  const isTest = imports !== undefined;
  const calls = functions.map((check) => (isTest ? `test('${check}', ${check});` : `await ${check}();`));
  const code = [imports ?? '', source, ...calls, ending].join('\n');
  if (/\.[mc]?ts$/.test(story)) return code;
  const module = story.endsWith('.cjs') ? ts.ModuleKind.CommonJS : ts.ModuleKind.ESNext;
  return ts.transpileModule(code, { compilerOptions: { target: ts.ScriptTarget.ES2022, module } }).outputText;
}
