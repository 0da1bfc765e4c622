import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A property of a type, at the mark `|`, and what its comment says. */
const CASES: readonly [type: string, value: string, comment: string][] = [
  ['ComposedMessage', "{ |to: 'a@b.test', from: 'c@d.test' }", 'Who gets it'],
  ['IncomingAttachment', "{ filename: 'a', |text: 'b' }", 'The content as text'],
  ['TriggerOptions', "{ |messageId: 'x' }", 'The message it is about'],
  ['SettledOptions', '{ |timeout: 5 }', 'In real time'],
];

/** A program that uses the library, by the name of its file, with the mark. */
const PROGRAMS = new Map(
  CASES.map(([type, value]) => [
    join(ROOT, `test/types/hover-${type}.ts`),
    `import type { ${type} } from 'agent-mailbox-mock';\nexport const value: ${type} = ${value};\n`,
  ]),
);

/** What an editor asks; one for all programs, because reading the library takes most of the time. */
const SERVICE = createService();

function createService(): ts.LanguageService {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
  return ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getCompilationSettings: () => options,
    getScriptFileNames: () => [...PROGRAMS.keys()],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const source = PROGRAMS.get(name)?.replace('|', '') ?? ts.sys.readFile(name);
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source);
    },
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
}

test.each(CASES)('an editor shows the comment on a property of %s', { timeout: 120_000 }, (type, _value, comment) => {
  const file = join(ROOT, `test/types/hover-${type}.ts`);
  const info = SERVICE.getQuickInfoAtPosition(file, PROGRAMS.get(file)?.indexOf('|') ?? -1);
  expect(ts.displayPartsToString(info?.documentation)).toContain(comment);
});
