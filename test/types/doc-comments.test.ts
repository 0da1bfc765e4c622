import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRIES = [
  ...['src/index.ts', 'src/server/index.ts', 'src/server/express.ts', 'src/receiver/index.ts'],
  'src/matchers/index.ts',
  'src/samples/index.ts',
  'src/vitest/index.ts',
  'src/playwright/index.ts',
];

const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
const program = ts.createProgram(
  ENTRIES.map((entry) => join(ROOT, entry)),
  options,
);
const checker = program.getTypeChecker();

test.for(ENTRIES)('everything that %s exports has a doc comment, members at any depth included', (entry) => {
  expect(findUndocumented(entry)).toEqual([]);
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
