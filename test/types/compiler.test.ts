import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { HOVERS, MISTAKES, openEditor } from '../support/editor.ts';
import { collectFieldProblems, collectRefusals } from '../support/refusals.ts';
import { ROOT } from '../support/root.ts';

const ENTRIES = [
  ...['src/mailbox/index.ts', 'src/server/index.ts', 'src/server/express.ts', 'src/testing/receiver/index.ts'],
  'src/testing/client/index.ts',
  'src/testing/matchers/index.ts',
  'src/testing/samples/index.ts',
  'src/verify/index.ts',
  'src/evaluate/index.ts',
  'src/testing/vitest/index.ts',
  'src/testing/playwright/index.ts',
];

/** All packages but zod: their types make no difference here, like those of the DOM. They would be most of the text. */
const UNREAD = /\/node_modules\/(?!zod\/|typescript\/)/;
const LIB = ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'];

// The compiler reads the source once for all tests of this file.
const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ['src/**/*.ts'] }, ts.sys, ROOT);
const editor = openEditor(join(ROOT, 'test/types'), { ...options, lib: LIB }, fileNames, UNREAD);
const { program } = editor;
const checker = program.getTypeChecker();

/** Texts that only complete the sentence of another, and those of the library by which receivers verify. */
const PARTS: ReadonlySet<string> = new Set([
  'domain with this name',
  'The path',
  'duplicate key … at …',
  'Missing required headers',
  'No matching signature found',
  'it has a mail of …, and the limit is …',
  'must be the path of a mail or of an mbox: …',
  'BADCHARSET (US-ASCII UTF-8)',
  'there is no experiment for this behaviour',
  // The names of options follow.
  'An option',
  'The option',
  'The options',
  // They follow "cannot be read as YAML:".
  'it has more than one document',
  'its references repeat too many parts',
  "must be in quotes: '{{…}}'",
  // They follow "The state file … cannot be loaded:".
  'it is empty',
  'it has … rows instead of …',
  'line … is not JSON (…)',
  'line … has no place in the state',
  'its first line must have the type "…"; a fixture is loaded by --fixtures, not by --state',
]);

/** The files whose errors are reasons, which complete a sentence that begins with what was not compared. */
const isOfReasons = (file: string) =>
  /^src\/verify\/(?:recording|targets|verify-session|observe-.*|.*experiments)\.ts$/.test(file);

const REFUSALS = collectRefusals(program).filter(({ file, message }) => !PARTS.has(message) && !isOfReasons(file));

/** Unclear words, each with the words to use instead. */
const UNCLEAR_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:hears?|told|tells?|whom|nobody|somebody|lest|whatever)\b/i, 'plain verbs'],
  [/(?<!there )\bis no\b/i, 'is not a'],
  [/\bthere (?:is|are) .* already\b/i, 'already exists'],
  [/\b(?:broke off|stands there|lies|lives)\b/i, 'truncated, duplicate, is in'],
];

test('every error message in the source is collected', () => {
  expect(REFUSALS.length).toBeGreaterThan(120);
});

test('every error message is one plain sentence', () => {
  const bad = REFUSALS.filter(
    ({ message }) => !/^(?:\d\.\d\.\d )?[A-Z"…](?:.*[.…])?$/s.test(message) || /[.!?] [a-z]/.test(message),
  );
  expect(bad).toEqual([]);
});

test('no error message has a word from the list of unclear words', () => {
  const bad = REFUSALS.flatMap(({ file, message }) =>
    UNCLEAR_WORDS.filter(([riddle]) => riddle.test(message)).map(([, instead]) => `${file}: ${message} → ${instead}`),
  );
  expect(bad).toEqual([]);
});

test('no two error messages word the same error differently', () => {
  const wordings = new Map<string, Set<string>>();
  for (const { message } of REFUSALS) {
    const words = message.toLowerCase().match(/[a-z]{3,}/g) ?? [];
    const key = [...words].sort().join(' ');
    wordings.set(key, (wordings.get(key) ?? new Set()).add(words.join(' ')));
  }
  expect([...wordings.values()].filter((same) => same.size > 1)).toEqual([]);
});

test('a problem of a field is worded as the end of a sentence that begins with the field', () => {
  expect(collectFieldProblems(program).length).toBeGreaterThan(60);
  expect(
    collectFieldProblems(program).filter(
      ({ message }) => !/^(?:must |is |has )[^.]*$/.test(message.replace(/\d\.\d|\.com|\.test|\d\.\d/g, '')),
    ),
  ).toEqual([]);
});

test.each(HOVERS)('an editor shows the comment on a property of %s: %s', (type, marked, comment) => {
  expect(editor.hover(type, marked)).toContain(comment);
});

test.each(MISTAKES)('a compiler names the part of %s that is wrong: %s', (type, marked, message) => {
  expect(editor.problem(type, marked)).toContain(message);
});

test.for(ENTRIES)('everything that %s exports has a doc comment, members at any depth included', (entry) => {
  expect(findUndocumented(entry)).toEqual([]);
});

/** Methods whose lists are in no order of time. */
const WITHOUT_ORDER = ['receiveMessage', 'exposures'];

test('each method of a mailbox that returns a list says on its first line in which order', () => {
  const module = checker.getSymbolAtLocation(
    program.getSourceFile(join(ROOT, 'src/mailbox/index.ts')) as ts.SourceFile,
  );
  const mailbox = checker.getExportsOfModule(module as ts.Symbol).find(({ name }) => name === 'Mailbox') as ts.Symbol;
  const members = checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(mailbox)).getProperties();
  const isList = (member: ts.Symbol) => {
    const [signature] = checker.getTypeOfSymbol(member).getCallSignatures();
    const name = signature && checker.typeToString(signature.getReturnType());
    return name !== undefined && /\[\]>?$|^AsyncIterable|Page$/.test(name) && !WITHOUT_ORDER.includes(member.name);
  };
  const firstLineOf = (member: ts.Symbol) =>
    ts.displayPartsToString(member.getDocumentationComment(checker)).split('\n')[0] ?? '';
  const lists = members.filter(isList);
  expect(lists.length).toBeGreaterThan(12);
  expect(lists.filter((member) => !/\bfirst\b/.test(firstLineOf(member))).map(({ name }) => name)).toEqual([]);
});

/** Returns the paths of exported symbols and of their members that have no doc comment. */
function findUndocumented(entry: string): string[] {
  const module = checker.getSymbolAtLocation(program.getSourceFile(join(ROOT, entry)) as ts.SourceFile) as ts.Symbol;
  const visited = new Set<ts.Symbol | ts.Type>();
  const undocumented: string[] = [];

  function visitSymbol(symbol: ts.Symbol, path: string): void {
    if (visited.has(symbol) || isForeign(symbol)) return;
    visited.add(symbol);
    if (symbol.declarations && symbol.getDocumentationComment(checker).length === 0) undocumented.push(path);
    for (const type of typesOf(symbol)) visitType(type, path);
  }

  function visitType(type: ts.Type, path: string): void {
    if (visited.has(type)) return;
    visited.add(type);
    for (const part of partsOf(type)) visitType(part, path);
    if (!(type.flags & ts.TypeFlags.Object)) return;
    for (const member of type.getProperties()) visitSymbol(member, `${path}.${member.name}`);
  }

  for (const symbol of checker.getExportsOfModule(module)) {
    visitSymbol(symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol, symbol.name);
  }
  return undocumented;
}

/** Dependencies document what they declare. A member of a mapped type has no declaration, but its type can be ours. */
function isForeign({ declarations }: ts.Symbol): boolean {
  return declarations?.[0]?.getSourceFile().fileName.startsWith(join(ROOT, 'src')) === false;
}

/** Returns the types that a type is made of: parts of a union, items of an array, arguments, values of a record. */
function partsOf(type: ts.Type): readonly ts.Type[] {
  if (type.isUnionOrIntersection()) return type.types;
  if (!(type.flags & ts.TypeFlags.Object)) return [];
  const values = checker.getIndexInfosOfType(type).map((info) => info.type);
  return [...checker.getTypeArguments(type as ts.TypeReference), ...values];
}

function typesOf(symbol: ts.Symbol): ts.Type[] {
  const isType = symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class);
  if (isType) return [checker.getDeclaredTypeOfSymbol(symbol)];
  return symbol.flags & ts.SymbolFlags.Property ? [checker.getTypeOfSymbol(symbol)] : [];
}
