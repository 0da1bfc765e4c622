import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';
import { ROOMS } from './rooms.ts';
import { ROOT } from './root.ts';

/** What stands for the name of a module that only the running program knows. */
export const COMPUTED = 'a computed module';

/** An import of a source file. */
export interface Import {
  readonly from: string;
  /** A file of ours as `src/…`, or the name of a package. */
  readonly to: string;
  readonly typesOnly: boolean;
}

/** The path of every file of the source, as `src/…`. */
export const PATHS: readonly string[] = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.\w+$/.test(file))
  .map((file) => `src/${file.split(sep).join('/')}`);

/** Every file of the source that has code. */
export const FILES: readonly ts.SourceFile[] = PATHS.filter((file) => /\.tsx?$/.test(file)).map((path) =>
  parseText(path, readFileSync(join(ROOT, path), 'utf8')),
);

/** Every import of the source. */
export const IMPORTS: readonly Import[] = FILES.flatMap(importsOf);

/** The imports of files of our own that are in a room behind that of the file that imports them. */
export const UPWARD_IMPORTS: readonly Import[] = IMPORTS.filter(
  ({ from, to }) => to.startsWith('src/') && orderOf(to) > orderOf(from),
);

/** The room of a file. */
export function roomOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function orderOf(path: string): number {
  return Object.keys(ROOMS).indexOf(roomOf(path));
}

/** Parses a file without its comments, which take as long as the rest. */
export function parseText(path: string, text: string): ts.SourceFile {
  const jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  return ts.createSourceFile(path, text, { languageVersion: ts.ScriptTarget.ES2022, jsDocParsingMode }, true);
}

/** A node, and every node below it. */
export function nodesOf(node: ts.Node): ts.Node[] {
  const nodes = [node];
  // The list grows while it is read.
  for (const each of nodes) {
    ts.forEachChild(each, (child) => {
      nodes.push(child);
    });
  }
  return nodes;
}

/** Every import of a file: static, re-exporting, dynamic, and inside a type. */
function importsOf(file: ts.SourceFile): Import[] {
  return nodesOf(file).flatMap((node) => {
    const specifier = specifierOf(node);
    if (specifier === undefined) return [];
    return [{ from: file.fileName, to: resolve(file.fileName, specifier), typesOnly: isTypesOnly(node) }];
  });
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : undefined;
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isDynamic ? (textOf(node.arguments[0]) ?? COMPUTED) : undefined;
}

function isTypesOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  return ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return relative(ROOT, join(ROOT, dirname(from), specifier))
    .split(sep)
    .join('/');
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node && ts.isStringLiteralLike(node) ? node.text : undefined;
}
