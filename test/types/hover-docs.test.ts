import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMPORTS = "import type * as library from 'agent-mailbox-mock';\n";

const inAnInbox = (part: string) => `{ tenants: { a: { workspaces: { w: { inboxes: { i: ${part} } } } } } }`;

/** What a user writes with a type of the library, a mark `|` where the pointer is, and what an editor shows there. */
const HOVERS = [
  ['ComposedMessage', "{ |to: 'a@b.test', from: 'c@d.test' }", 'Who gets it'],
  ['IncomingAttachment', "{ filename: 'a', |text: 'b' }", 'The content as text'],
  ['TriggerOptions', "{ |messageId: 'x' }", 'The message it is about'],
  ['SettledOptions', '{ |timeout: 5 }', 'In real time'],
  ['DeliveryFilter', "{ |state: 'held' }", 'Where they stand'],
  ['FixtureInput', inAnInbox("{ messages: [{ |threadId: 'x' }] }"), 'a thread of its own'],
  ['FixtureInput', '{ |operator: {}, tenants: {} }', 'sa_platform_operator_key'],
] as const;

/** What a user gets wrong, and what a compiler says of it. */
const MISTAKES = [
  [
    'FixtureInput',
    inAnInbox("{ messages: [{ subjct: 'x' }] }"),
    "'FixtureMessageInput'. Did you mean to write 'subject'?",
  ],
  ['FixtureInput', inAnInbox('{ isPausd: true }'), "'FixtureInboxInput'. Did you mean to write 'isPaused'?"],
  ['FixtureInput', '{ tenants: { a: { webhooks: { w: {} } } } }', "required in type 'FixtureWebhookInput'"],
  ['FixtureInput', '{ tenant: {} }', "'FixtureInput'. Did you mean to write 'tenants'?"],
] as const;

const PROBES = [...HOVERS, ...MISTAKES].map(([type, marked], index) => ({
  file: join(ROOT, `test/types/probe-${index}.ts`),
  text: `${IMPORTS}export const value: library.${type} = ${marked}`,
}));

/** A language service, as editors use it, over each probe as a file of its own. */
function createService(): ts.LanguageService {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
  return ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getCompilationSettings: () => options,
    getScriptFileNames: () => PROBES.map(({ file }) => file),
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const probe = PROBES.find(({ file }) => file === name);
      const source = probe ? probe.text.replace('|', '') : ts.sys.readFile(name);
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source);
    },
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
}

const service = createService();

test.each(HOVERS)(
  'an editor shows the comment on a property of %s: %s',
  { timeout: 120_000 },
  (type, marked, comment) => {
    const probe = findProbe(type, marked);
    const info = service.getQuickInfoAtPosition(probe.file, probe.text.indexOf('|'));
    expect(ts.displayPartsToString(info?.documentation)).toContain(comment);
  },
);

test.each(MISTAKES)(
  'a compiler names the part of %s that is wrong: %s',
  { timeout: 120_000 },
  (type, marked, message) => {
    const [problem] = service.getSemanticDiagnostics(findProbe(type, marked).file);
    expect(ts.flattenDiagnosticMessageText(problem?.messageText, '\n')).toContain(message);
  },
);

function findProbe(type: string, marked: string) {
  const probe = PROBES.find(({ text }) => text.endsWith(`library.${type} = ${marked}`));
  if (!probe) throw new Error(`There is no probe for ${type}.`);
  return probe;
}
