import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILE = join(ROOT, 'test/types/hover.ts');

/** What an editor shows for the property at the mark `|` of a program that uses the library. */
function hoverAt(marked: string): string {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
  const text = marked.replace('|', '');
  const service = ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getCompilationSettings: () => options,
    getScriptFileNames: () => [FILE],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const source = name === FILE ? text : ts.sys.readFile(name);
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source);
    },
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
  const info = service.getQuickInfoAtPosition(FILE, marked.indexOf('|'));
  return ts.displayPartsToString(info?.documentation);
}

test.each([
  ['ComposedMessage', "{ |to: 'a@b.test', from: 'c@d.test' }", 'Who gets it'],
  ['IncomingAttachment', "{ filename: 'a', |text: 'b' }", 'The content as text'],
  ['TriggerOptions', "{ |messageId: 'x' }", 'The message it is about'],
  ['SettledOptions', '{ |timeout: 5 }', 'In real time'],
])('an editor shows the comment on a property of %s', { timeout: 120_000 }, (type, value, comment) => {
  const text = `import type { ${type} } from 'agent-mailbox-mock';\nexport const value: ${type} = ${value};\n`;
  expect(hoverAt(text)).toContain(comment);
});
