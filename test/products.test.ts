import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { PRODUCTS, type Product, PUBLIC_PLACES } from './support/products.ts';
import { ROOT } from './support/root.ts';
import { IMPORTS, nodesOf, PATHS, parseText } from './support/source.ts';

const ALL = Object.entries(PRODUCTS);

test.for(ALL)('%s imports from other rooms only what its list names', ([, product], { expect }) => {
  const allowed = [...PUBLIC_PLACES, ...product.imports, `src/${product.room}/`];
  const others = IMPORTS.filter(
    ({ from, to }) =>
      from.startsWith(`src/${product.room}/`) &&
      to.startsWith('src/') &&
      !allowed.some((place) => (place.endsWith('/') ? to.startsWith(place) : to === place)),
  );
  expect(others.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test('each place that the list of a product names is imported', () => {
  const unused = ALL.flatMap(([name, { room, imports }]) =>
    imports
      .filter((place) => !IMPORTS.some(({ from, to }) => from.startsWith(`src/${room}/`) && to.startsWith(place)))
      .map((place) => `${name}: ${place}`),
  );
  expect(unused).toEqual([]);
});

test.for(ALL)(
  'without %s and its rows, everything else still compiles',
  async ([, product], { expect, onTestFinished }) => {
    const copy = mkdtempSync(join(tmpdir(), 'product-'));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    for (const part of ['src', 'fixtures', '.config', 'package.json', 'tsconfig.json']) {
      cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    expect(removeProduct(copy, product)).toEqual(product.names.toSorted());
    const config = JSON.parse(readFileSync(join(copy, 'tsconfig.json'), 'utf8'));
    writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ ...config, include: ['src', '.config'] }));
    expect(await typeCheck(copy)).toBe('');
  },
);

test('a part of a product that something else needs is noticed', async ({ onTestFinished }) => {
  const copy = mkdtempSync(join(tmpdir(), 'product-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  cpSync(join(ROOT, 'src/basics'), join(copy, 'src'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  cpSync(join(ROOT, 'tsconfig.json'), join(copy, 'tsconfig.json'));
  rmSync(join(copy, 'src/objects.ts'));
  writeFileSync(
    join(copy, 'src/user.ts'),
    "import { isObject } from './objects.ts';\nexport const is = isObject({});\n",
  );
  expect(await typeCheck(copy)).toContain('src/user.ts');
});

/** Removes the files of a product and its rows in other files. Returns the names of the rows that were there, in order. */
function removeProduct(copy: string, { room, files, names }: Product): string[] {
  const isGone = (path: string) => path.startsWith(`src/${room}/`) || files.includes(path);
  rmSync(join(copy, 'src', room), { recursive: true });
  for (const file of files) rmSync(join(copy, file));
  const found = new Set<string>();
  const configs = ['tsconfig.json', '.config/build.ts', '.config/tsdown.config.ts'];
  for (const path of [...PATHS.filter((path) => /\.tsx?$/.test(path) && !isGone(path)), ...configs]) {
    const text = readFileSync(join(copy, path), 'utf8');
    // Most files have no row of the product, and to parse them all takes long.
    if (![...names, `${room}/`, ...files.map((file) => basename(file))].some((word) => text.includes(word))) continue;
    const rows = nodesOf(parseText(path, path.endsWith('.json') ? `(${text})` : text)).filter((node) => {
      if (isImportOf(node, path, isGone)) return true;
      const name = nameOfRow(node);
      if (name === undefined || !names.includes(name)) return false;
      found.add(name);
      return true;
    });
    if (rows.length > 0) writeFileSync(join(copy, path), withoutRows(text, rows, path.endsWith('.json') ? 1 : 0));
  }
  return [...found].sort();
}

/** Whether a node is a whole import, or export, of a file that is gone. */
function isImportOf(node: ts.Node, path: string, isGone: (path: string) => boolean): boolean {
  if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return false;
  const { moduleSpecifier } = node;
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return false;
  return isGone(normalize(join(dirname(path), moduleSpecifier.text)));
}

/** The name of a row: a property, a field of a type, a function, a constant, or a statement that calls one. */
function nameOfRow(node: ts.Node): string | undefined {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations[0]?.name.getText();
  if (ts.isIfStatement(node)) return /(?:\b|await )(\w+)\(\);?\s*\}?$/.exec(node.thenStatement.getText())?.[1];
  const isRow =
    ts.isPropertyAssignment(node) ||
    ts.isShorthandPropertyAssignment(node) ||
    ts.isPropertySignature(node) ||
    ts.isFunctionDeclaration(node);
  if (!isRow || node.name === undefined) return undefined;
  return ts.isStringLiteralLike(node.name) ? node.name.text : node.name.getText();
}

/** Removes rows, with the comma behind each. A row inside another is removed with it. `shift` is what stands before all. */
function withoutRows(text: string, rows: readonly ts.Node[], shift: number): string {
  const spans = rows
    .map((row) => [row.getStart() - shift, row.getEnd() - shift] as const)
    .filter(([start, end], _, all) => !all.some(([from, to]) => from <= start && end <= to && to - from > end - start))
    .toSorted(([one], [other]) => other - one);
  let left = text;
  for (const [start, end] of spans) left = left.slice(0, start) + left.slice(end).replace(/^\s*,/, '');
  return left.replace(/,(\s*\})/g, '$1');
}

/** Resolves with what the compiler reports of the source in a folder; an empty text if nothing. */
async function typeCheck(folder: string): Promise<string> {
  const compiler = join(ROOT, 'node_modules/typescript7/bin/tsc');
  return promisify(execFile)(process.execPath, [compiler, '--noEmit'], { cwd: folder }).then(
    () => '',
    ({ stdout, message }: { readonly stdout: string; readonly message: string }) => stdout || message,
  );
}
