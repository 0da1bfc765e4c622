import { join } from 'node:path';
import ts from 'typescript';

const IMPORTS = "import type * as library from 'agent-mailbox-mock';\n";

const inAnInbox = (part: string) => `{ tenants: { a: { workspaces: { w: { inboxes: { i: ${part} } } } } } }`;

/** A type, a value with a mark `|` where the pointer is, and a part of the comment that an editor shows there. */
export const HOVERS = [
  ['ComposedMessage', "{ |to: 'a@b.test', from: 'c@d.test' }", 'The recipients'],
  [
    'ComposedMessage',
    "{ to: 'a@b.test', from: 'c@d.test', attachments: [{ |filename: 'a' }] }",
    'file name on one line',
  ],
  ['IncomingAttachment', "{ filename: 'a', |text: 'b' }", 'The content as text'],
  ['TriggerOptions', "{ |messageId: 'x' }", 'The id of the message in the payload'],
  ['SettledOptions', '{ |timeout: 5 }', 'in real time'],
  ['FaultOptions', "{ on: 'delivery', kind: 'drop', |times: 2 }", 'How many times it happens'],
  ['FaultOptions', "{ on: 'delivery', kind: 'delay', |delay: '5m' }", 'the length of the delay'],
  ['FaultOptions', "{ on: 'request', |cut: true }", 'Whether the connection is cut'],
  ['FaultOptions', "{ on: 'request', latency: { |ms: 5 } }", 'The shortest wait'],
  ['FaultOptions', "{ on: 'smtp', |status: 451 }", 'The reply code'],
  ['DeliveryFilter', "{ |state: 'held' }", 'Only deliveries in this state'],
  ['FixtureInput', inAnInbox("{ messages: [{ |threadId: 'x' }] }"), 'otherwise a new thread'],
  ['FixtureInput', "{ tenants: { a: { key: { |name: 'x' } } } }", 'what the key is for'],
  ['FixtureInput', '{ |operator: {}, tenants: {} }', 'sa_platform_operator_key'],
] as const;

/** A mistake of a user in a value of a type, and the compiler's message. */
export const MISTAKES = [
  [
    'FixtureInput',
    inAnInbox("{ messages: [{ subjct: 'x' }] }"),
    "'FixtureMessageInput'. Did you mean to write 'subject'?",
  ],
  ['FixtureInput', inAnInbox('{ isPausd: true }'), "'FixtureInboxInput'. Did you mean to write 'isPaused'?"],
  ['FixtureInput', '{ tenants: { a: { webhooks: { w: {} } } } }', "required in type 'FixtureWebhookInput'"],
  ['FaultOptions', "{ on: 'request', stats: 503 }", "Did you mean to write 'status'?"],
  ['FaultOptions', "{ on: 'stream', kind: 'drop' }", '\'"drop"\' is not assignable to type'],
  ['FixtureInput', '{ tenant: {} }', "'FixtureInput'. Did you mean to write 'tenants'?"],
] as const;

/** The comments and errors that an editor shows for a value of a type; the mark `|` is the pointer. */
export interface Editor {
  /** The project as the compiler sees it. */
  readonly program: ts.Program;
  /** The comment at the pointer. */
  hover(type: string, marked: string): string;
  /** The first thing that is wrong. */
  problem(type: string, marked: string): string;
}

/** Opens an editor in a project that uses the library, and has more files. No `unread` file is found in it. */
export function openEditor(
  project: string,
  options: ts.CompilerOptions,
  files: readonly string[] = [],
  unread = /^$/,
): Editor {
  const probes = [...HOVERS, ...MISTAKES].map(([type, marked], index) => ({
    file: join(project, `probe-${index}.ts`),
    text: `${IMPORTS}export const value: library.${type} = ${marked}`,
  }));
  const service = ts.createLanguageService({
    fileExists: (file) => !unread.test(file) && ts.sys.fileExists(file),
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getCompilationSettings: () => options,
    getScriptFileNames: () => [...files, ...probes.map(({ file }) => file)],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const probe = probes.find(({ file }) => file === name);
      const source = probe ? probe.text.replace('|', '') : ts.sys.readFile(name);
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source);
    },
    getCurrentDirectory: () => project,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });

  function find(type: string, marked: string) {
    const probe = probes.find(({ text }) => text.endsWith(`library.${type} = ${marked}`));
    if (!probe) throw new Error(`There is no probe for ${type}.`);
    return probe;
  }

  const program = service.getProgram();
  if (!program) throw new Error('The compiler has no program.');
  return {
    program,
    hover(type, marked) {
      const { file, text } = find(type, marked);
      return ts.displayPartsToString(service.getQuickInfoAtPosition(file, text.indexOf('|'))?.documentation);
    },
    problem(type, marked) {
      const [problem] = service.getSemanticDiagnostics(find(type, marked).file);
      return ts.flattenDiagnosticMessageText(problem?.messageText, '\n');
    },
  };
}
