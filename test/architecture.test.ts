import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { OPERATION_IDS } from '../src/contract/operations.ts';
import { OPERATION_FUNCTIONS } from '../src/operations/index.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The layers, lowest first: each file belongs to the longest entry that its path starts with. */
const LAYERS = [
  'src/receiver/',
  'src/contract/',
  'src/version.ts',
  'src/fixture/',
  'src/openapi/',
  'src/fetch-through-sockets.ts',
  'src/fetch-in-process.ts',
  'src/environment.ts',
  'src/seeded-randomness.ts',
  'src/clock/',
  'src/faults/',
  'src/store/',
  'src/events/',
  'src/access/',
  'src/mail/',
  'src/correspondents/',
  'src/delivery/',
  'src/stream/',
  'src/operations/',
  'src/pipeline/',
  'src/journal/',
  'src/state/',
  'src/adapters/',
  'src/samples/',
  'src/control/',
  'src/mailbox.ts',
  'src/option-names.ts',
  'src/handler-parts.ts',
  'src/without-msw.ts',
  'src/create-mailbox.ts',
  'src/index.ts',
  'src/matchers/',
  'src/vitest/',
  'src/server/',
  'src/playwright/',
  'src/cli/',
  'src/inspector/',
];

/** What stands for the name of a module that only the running program knows. */
const COMPUTED = 'a computed module';

/** The folders that may import each package; `types` means that only type imports are allowed. */
const PACKAGE_RULES: readonly { packages: RegExp; allowed: readonly string[]; types?: readonly string[] }[] = [
  {
    packages: /^node:/,
    allowed: ['src/server/', 'src/cli/', 'src/receiver/'],
    types: ['src/fetch-through-sockets.ts'],
  },
  { packages: /^(express|@mswjs\/http-middleware)$/, allowed: ['src/server/http/user-handlers.ts'] },
  { packages: /^smtp-server$/, allowed: ['src/server/smtp/'] },
  { packages: /^@mswjs\/data(\/|$)/, allowed: ['src/store/database.ts', 'src/store/models.ts'] },
  { packages: /^uuid$/, allowed: ['src/fixture/'] },
  { packages: /^jsonc-parser$/, allowed: ['src/cli/'] },
  { packages: /^postal-mime$/, allowed: ['src/contract/email-address.ts', 'src/mail/mime/decode.ts'] },
  { packages: /^@noble\/hashes(\/|$)/, allowed: ['src/delivery/request.ts', 'src/inspector/'] },
  { packages: /^(undici|ipaddr\.js|ws)$/, allowed: ['src/server/'] },
  { packages: /^standardwebhooks$/, allowed: ['src/receiver/verify.ts'] },
  { packages: new RegExp(`^${COMPUTED}$`), allowed: ['src/cli/load-handlers.ts'] },
  { packages: /^ms$/, allowed: ['src/clock/duration.ts'] },
  { packages: /^vitest$/, allowed: ['src/vitest/'] },
  { packages: /^@(?:playwright\/test|msw\/playwright)$/, allowed: ['src/playwright/'] },
  { packages: /^(preact|openapi-fetch)(\/|$)/, allowed: ['src/inspector/'] },
  { packages: /^msw\/node$/, allowed: ['src/vitest/'] },
  {
    packages: /^msw$/,
    allowed: ['src/adapters/', 'src/server/http/user-handlers.ts'],
    types: ['src/vitest/mailbox-router.ts', 'src/control/mailbox-interface.ts', 'src/server/start-server.ts'],
  },
];

/** Files that are one table of data, where a limit on lines says nothing. */
const DATA_TABLES = [
  'src/contract/behaviours/',
  'src/contract/operations/',
  'src/control/table.ts',
  'src/fixture/schema.ts',
];

/** Files of the tests that may be long: what a generator wrote. */
const LONG_TEST_FILES: readonly string[] = ['generated-client/schema.d.ts'];

/** The longest that a function may be, methods and arrow functions too. */
const MAX_FUNCTION_LINES = 40;

/** Folders with a file for each resource, which has the same name in each. */
const RESOURCE_FOLDERS = [
  'src/contract/operations/',
  'src/contract/replies/',
  'src/contract/behaviours/',
  'src/operations/',
];

/** Names that several files have nevertheless, with the reason; the files of resources count as one. */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  'behaviours.ts': 'the ledger, and the command that shows it',
  'index.ts': 'the entries of the package, and what joins the operations',
  'service.ts': 'what the pipeline answers with, and the operations that are about the service itself',
  'stream.ts': 'the behaviours of the event stream, and a stream',
  'trigger.ts': 'an event fired by hand, and the command that does it',
};

/** Files outside the contract that know where the service's paths begin, with the reason. */
const PATHS_ELSEWHERE: Readonly<Record<string, string>> = {
  'src/server/http/app.ts': 'lets pages call /v1, but not the control plane',
};

interface Import {
  readonly from: string;
  /** A file of ours as `src/…`, or the name of a package. */
  readonly to: string;
  readonly typesOnly: boolean;
}

const FILES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('control-plane.d.ts'))
  .map((file) => parseFile(`src/${file.split(sep).join('/')}`));

const IMPORTS = FILES.flatMap(importsOf);

test('every source file belongs to a layer', () => {
  expect(FILES.map(({ fileName }) => fileName).filter((file) => layerOf(file) === -1)).toEqual([]);
});

test('imports point up the list of layers only', () => {
  const upward = IMPORTS.filter(({ to }) => to.startsWith('src/')).filter(
    ({ from, to }) => layerOf(to) > layerOf(from),
  );
  expect(upward.map(show)).toEqual([]);
});

test('no file imports itself by way of others, types included', () => {
  const importsOfFile = (file: string) => IMPORTS.filter(({ from, to }) => from === file && to.startsWith('src/'));
  const isReachable = (file: string, wanted: string, seen = new Set<string>()): boolean =>
    importsOfFile(file).some(({ to }) => {
      if (to === wanted) return true;
      if (seen.has(to)) return false;
      seen.add(to);
      return isReachable(to, wanted, seen);
    });
  expect(FILES.map(({ fileName }) => fileName).filter((file) => isReachable(file, file))).toEqual([]);
});

test('the contract imports nothing of ours', () => {
  const outside = IMPORTS.filter(({ from, to }) => from.startsWith('src/contract/') && !isIn(to, ['src/contract/']));
  expect([...new Set(outside.map(({ to }) => to))].sort()).toEqual(['postal-mime', 'zod']);
});

test('the inspector imports only types from other layers', () => {
  const values = IMPORTS.filter(
    ({ from, to, typesOnly }) =>
      isIn(from, ['src/inspector/']) && !typesOnly && to.startsWith('src/') && !isIn(to, ['src/inspector/']),
  );
  expect(values.map(show)).toEqual([]);
});

test('packages are imported only where they belong', () => {
  const misplaced = IMPORTS.filter((each) =>
    PACKAGE_RULES.some(({ packages, allowed, types = [] }) => {
      const place = each.typesOnly ? [...allowed, ...types] : allowed;
      return packages.test(each.to) && !isIn(each.from, place);
    }),
  );
  expect(misplaced.map(show)).toEqual([]);
});

test('every imported package is bundled, or one that the user gets', () => {
  const { dependencies, peerDependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  expect(dependencies).toBeUndefined();
  const imported = IMPORTS.map(({ to }) => to).filter(
    (to) => to !== COMPUTED && !/^(src\/|node:|package\.json|fixtures\/)/.test(to),
  );
  const names = new Set(imported.map((to) => /^(@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? to));
  const declared = Object.keys({ ...devDependencies, ...peerDependencies });
  expect([...names].filter((name) => !declared.includes(name))).toEqual([]);
});

test('no path of the service is written outside the contract', () => {
  const elsewhere = FILES.filter((file) => !file.fileName.startsWith('src/contract/') && namesPath(file));
  expect(elsewhere.map(({ fileName }) => fileName).sort()).toEqual(Object.keys(PATHS_ELSEWHERE));
});

test('no two files have one name, but for those of the same resource', () => {
  const files = FILES.map(({ fileName }) => ({
    name: fileName.slice(fileName.lastIndexOf('/') + 1),
    place: isIn(fileName, RESOURCE_FOLDERS) ? 'a resource' : fileName,
  }));
  const isShared = ({ name, place }: (typeof files)[number]) =>
    files.some((other) => other.name === name && other.place !== place);
  const shared = new Set(files.filter(isShared).map(({ name }) => name));
  expect([...shared].sort()).toEqual(Object.keys(SHARED_NAMES));
});

test('the files of operations export operations only', () => {
  expect(Object.keys(OPERATION_FUNCTIONS).sort()).toEqual([...OPERATION_IDS].sort());
});

test('nothing is kept in a variable at the top of a file', () => {
  const kept = FILES.flatMap((file) =>
    file.statements
      .filter(ts.isVariableStatement)
      .filter(({ declarationList }) => !(declarationList.flags & ts.NodeFlags.Const))
      .map((statement) => `${file.fileName}: ${statement.getText(file)}`),
  );
  expect(kept).toEqual([]);
});

test('no source file is longer than 250 lines', () => {
  const long = FILES.filter(({ fileName }) => !isIn(fileName, DATA_TABLES)).filter(
    ({ text }) => text.trimEnd().split('\n').length > 250,
  );
  expect(long.map(({ fileName }) => fileName)).toEqual([]);
});

test('no file of the tests is longer than 500 lines', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(ts|mjs)$/.test(file),
  );
  const long = files.filter(
    (file) =>
      readFileSync(join(ROOT, 'test', file), 'utf8')
        .trimEnd()
        .split('\n').length > 500,
  );
  expect(long.map((file) => file.split(sep).join('/')).filter((file) => !LONG_TEST_FILES.includes(file))).toEqual([]);
});

test(`no function is longer than ${MAX_FUNCTION_LINES} lines`, () => {
  const long = FILES.filter(({ fileName }) => !isIn(fileName, DATA_TABLES)).flatMap(longFunctionsIn);
  expect(long.map(({ name, lines }) => `${name}: ${lines}`)).toEqual([]);
});

test('nothing that is thrown is swallowed', () => {
  const swallowing = FILES.flatMap((file) => swallowersIn(file).map((code) => `${file.fileName}: ${code}`));
  expect(swallowing).toEqual([]);
});

test.for([
  ['try { a(); } catch {}', 1],
  ['try { a(); } catch (error) { /* never mind */ }', 1],
  ['a().catch(() => {});', 1],
  ['a().then(b, function () {});', 1],
  ['a().finally(() => {});', 0],
  ['try { a(); } catch { b(); }', 0],
  ['a().catch(() => undefined);', 0],
  ['a().catch(report);', 0],
] as const)('in %j, %i places swallow what is thrown', ([code, count], { expect }) => {
  expect(swallowersIn(parseText('src/x.ts', code))).toHaveLength(count);
});

function parseFile(path: string): ts.SourceFile {
  return parseText(path, readFileSync(join(ROOT, path), 'utf8'));
}

function parseText(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
}

/** The functions of a file that are too long, each as `file: name`. */
function longFunctionsIn(file: ts.SourceFile): { readonly name: string; readonly lines: number }[] {
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line;
  return nodesOf(file).flatMap((node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return [];
    const lines = lineAt(node.getEnd()) - lineAt(node.getStart(file)) + 1;
    const name = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
    return lines > MAX_FUNCTION_LINES
      ? [{ name: `${file.fileName}: ${name?.getText(file) ?? '(unnamed)'}`, lines }]
      : [];
  });
}

/** Every catch clause, and every function for a rejection, that does nothing. */
function swallowersIn(file: ts.SourceFile): string[] {
  const swallowers = nodesOf(file).filter((node) =>
    ts.isCatchClause(node) ? node.block.statements.length === 0 : isEmptyFunction(rejectionHandlerOf(node)),
  );
  return swallowers.map((node) => node.getText(file));
}

/** What a call such as `promise.catch(handler)` or `promise.then(next, handler)` does with a rejection. */
function rejectionHandlerOf(node: ts.Node): ts.Node | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const place = ['catch', 'then'].indexOf(node.expression.name.text);
  return place < 0 ? undefined : node.arguments[place];
}

function isEmptyFunction(node: ts.Node | undefined): boolean {
  if (!node || !(ts.isArrowFunction(node) || ts.isFunctionExpression(node))) return false;
  return ts.isBlock(node.body) && node.body.statements.length === 0;
}

function layerOf(path: string): number {
  const fits = LAYERS.filter((layer) => path.startsWith(layer)).sort((a, b) => b.length - a.length);
  return LAYERS.indexOf(fits[0] ?? '');
}

function isIn(path: string, places: readonly string[]): boolean {
  return places.some((place) => path.startsWith(place));
}

function show({ from, to, typesOnly }: Import): string {
  return `${from} imports ${typesOnly ? 'types of ' : ''}${to}`;
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

/** Returns whether a file's code, without its comments, contains a path of the service as a text or in a pattern. */
function namesPath(file: ts.SourceFile): boolean {
  return nodesOf(file).some((node) => {
    if (ts.isRegularExpressionLiteral(node)) return /\bv1\b/.test(node.text);
    return (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && /^\/(v1|health)\b/.test(node.text);
  });
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node && ts.isStringLiteralLike(node) ? node.text : undefined;
}

function nodesOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    children.push(...nodesOf(child));
  });
  return [node, ...children];
}
