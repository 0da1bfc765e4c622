import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type UserConfig } from 'tsdown';
import ts from 'typescript';
import tsconfig from '../tsconfig.json' with { type: 'json' };
import { expandSchemaTypes } from './expand-schema-types.ts';

type Plugin = Extract<UserConfig['plugins'], { name: string }>;

const root = fileURLToPath(new URL('..', import.meta.url));

/** The bundler of declarations writes some comments behind the member before, where no editor finds them. */
const MISPLACED_COMMENT = /(?<=[;{]) ?(\/\*\*.*?\*\/)\s*/gs;

/** A project may lack msw and the types of a test runner; the bundler drops the comments that ignore these errors. */
const OF_OPTIONAL_PACKAGE = /^(?:declare module |import .* from ["']msw["'])/gm;

/** The entries that have only ES modules. */
const ENTRIES_FOR_IMPORT = ['vitest.d.ts', 'playwright.d.ts'];

/**
 * Corrects what the bundler of declarations writes, and writes the declarations for `require`.
 *
 * A file that uses the types of another package is written twice, because that package has other types for `import`
 * than for `require`. All other files are written for `require` only, which an ES module may import, too; the largest is
 * one of them.
 */
const correctDeclarations: Plugin = {
  name: 'correct-declarations',
  generateBundle({ dir = '' }, bundle) {
    const files = new Map(
      Object.values(bundle)
        .flatMap((chunk) => ('code' in chunk && chunk.fileName.endsWith('.d.ts') ? [chunk] : []))
        .map((chunk) => [chunk.fileName, chunk]),
    );
    for (const [fileName, chunk] of files) {
      const code = chunk.code.replace(MISPLACED_COMMENT, '\n$1\n').replace(OF_OPTIONAL_PACKAGE, '// @ts-ignore\n$&');
      // Users of the package have no zod.
      chunk.code = /from ["']zod["']/.test(code) ? expandSchemaTypes(code, join(dir, fileName)) : code;
    }
    const usesPackage = (fileName: string): boolean => {
      const code = files.get(fileName)?.code ?? '';
      const imported = [...code.matchAll(/ from ["']([^"']+)["']/g)].map(([, source = '']) => source);
      return (
        /^declare module /m.test(code) ||
        imported.some((source) => !source.startsWith('.') || usesPackage(source.slice(2).replace(/js$/, 'd.ts')))
      );
    };
    const shared = [...files.keys()].filter((fileName) => !usesPackage(fileName));
    for (const [fileName, chunk] of files) {
      const forRequire = chunk.code.replace(/(["']\.\/[^"']+)\.js(["'])/g, '$1.cjs$2');
      if (!ENTRIES_FOR_IMPORT.includes(fileName)) {
        this.emitFile({ type: 'asset', fileName: fileName.replace(/ts$/, 'cts'), source: forRequire });
      }
      if (!shared.includes(fileName)) {
        chunk.code = chunk.code.replace(/(["']\.\/([^"']+))\.js(["'])/g, (all, path, name, quote) =>
          shared.includes(`${name}.d.ts`) ? `${path}.cjs${quote}` : all,
        );
      } else if (chunk.isEntry) {
        chunk.code = `export * from './${fileName.replace(/d\.ts$/, 'cjs')}';\n`;
      } else {
        delete bundle[fileName];
      }
    }
  },
};

/**
 * Writes the licences of the bundled packages, and of the folders `others`, into a file of the package: a text that
 * several have, only once.
 */
const thirdPartyLicences = (fileName: string, ...others: readonly string[]): Plugin => ({
  name: 'third-party-licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => ('moduleIds' in chunk ? chunk.moduleIds : []));
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []);
    const packagesByText = new Map<string, string[]>();
    for (const folder of [...new Set([...folders, ...others])].sort()) {
      const { title, copyright, text } = readLicence(folder);
      packagesByText.set(text, [...(packagesByText.get(text) ?? []), [title, ...copyright].join('\n')]);
    }
    const parts = [...packagesByText].map(([text, packages]) => `${packages.join('\n\n')}\n\n${text}`);
    this.emitFile({ type: 'asset', fileName, source: parts.join(`\n\n${'-'.repeat(80)}\n\n`) });
  },
});

/** Reads the licence of a package: the lines about its copyright, and the rest with single spaces between the words. */
function readLicence(folder: string): { title: string; copyright: readonly string[]; text: string } {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const title = `${name} ${version}, ${license}`;
  if (!file) return { title, copyright: [], text: 'The package names this licence, and has no file with its text.' };
  const lines = readFileSync(`${folder}/${file}`, 'utf8')
    .split('\n')
    .map((line) => line.trim());
  const isCopyright = (line: string) => /^(?:copyright\b|\(c\))/i.test(line);
  const paragraphs = lines
    .filter((line) => !isCopyright(line))
    .join('\n')
    .split(/\n{2,}/);
  const text = paragraphs
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join('\n\n');
  return { title, copyright: lines.filter(isCopyright), text };
}

/** Removes the indentation of the code, a twentieth of its size, but not that of texts. */
const withoutIndentation: Plugin = {
  name: 'without-indentation',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if ('code' in chunk) chunk.code = removeIndentation(chunk.code);
    }
  },
};

const FONT_FOLDER = `${root}node_modules/@fontsource-variable/inter`;

/** Adds the font of the inspector. */
const fontOfInspector: Plugin = {
  name: 'font-of-inspector',
  generateBundle() {
    const source = readFileSync(`${FONT_FOLDER}/files/inter-latin-wght-normal.woff2`);
    this.emitFile({ type: 'asset', fileName: 'inspector/inter.woff2', source });
  },
};

/** Adds the style of the inspector without its comments and white space, a fifth of its size. */
const styleOfInspector: Plugin = {
  name: 'style-of-inspector',
  generateBundle() {
    const style = readFileSync(`${root}src/inspector/inspector.css`, 'utf8');
    const source = style
      .replace(/("[^"]*")|\/\*.*?\*\//gs, (_comment, text = '') => text)
      .replace(/("[^"]*")|\s*([{};,])\s*|(:) +|\s+/g, (_space, text, mark, colon) => text ?? mark ?? colon ?? ' ')
      .replaceAll(';}', '}');
    this.emitFile({ type: 'asset', fileName: 'inspector/inspector.css', source: source.trim() });
  },
};

function removeIndentation(code: string): string {
  const source = ts.createSourceFile('chunk.js', code, ts.ScriptTarget.ESNext, false, ts.ScriptKind.JS);
  const texts: { readonly start: number; readonly end: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateLiteralToken(node) || ts.isStringLiteral(node)) {
      texts.push({ start: node.getStart(source), end: node.end });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  let next = 0;
  return code.replace(/^\t+/gm, (tabs, index: number) => {
    while ((texts[next]?.end ?? Number.POSITIVE_INFINITY) <= index) next++;
    return index > (texts[next]?.start ?? Number.POSITIVE_INFINITY) ? tabs : '';
  });
}

/**
 * Makes an expression for these files and folders of the source, without their extension. A name that is no longer
 * there fails the build: otherwise a renamed file would be bundled elsewhere, and nobody would see it.
 */
function matchFiles(names: readonly string[]): RegExp {
  for (const name of names) {
    const isThere = ['', '.ts', '.tsx'].some((extension) => existsSync(`${root}src/${name}${extension}`));
    if (!isThere)
      throw new Error(`.config/tsdown.config.ts names src/${name}, which does not exist: correct the list.`);
  }
  return new RegExp(`/src/(?:${names.join('|')})(?:/[\\w-]+)?\\.tsx?$`);
}

/**
 * The files that import msw or a test runner's ES modules, and the clients of the control calls, which only the test
 * runners need; they take all else from the CommonJS build.
 */
const FILES_WITH_PEERS = matchFiles([
  'control/webhook-receiver',
  'control/table/client',
  'control/table/calls',
  'control/table/control-path',
  'control/table/place',
  'mailbox/index',
  'mailbox/index-import',
  'mailbox/create-mailbox',
  'mailbox/msw',
  'testing/vitest',
  'testing/playwright',
]);

/** Returns the name of the CommonJS file that has what an ES module imports from a source file. */
function commonJsFileOf(file: string): string {
  if (file.endsWith('/without-msw.ts')) return 'without-msw';
  const { index: _, ...others } = ENTRIES_FOR_REQUIRE;
  return Object.entries(others).find(([, path]) => dirname(root + path) === dirname(file))?.[0] ?? 'handler-parts';
}

/** Leaves the import of a built file as it is. */
const filesBeside: Plugin = {
  name: 'files-beside',
  resolveId: (source) => (source.endsWith('.cjs') ? { id: source, external: 'absolute' } : undefined),
};

/** Makes ES modules for Node that share all code with the CommonJS build, so that a process has one copy of it. */
const fromCommonJs: Plugin = {
  name: 'from-common-js',
  async resolveId(source, importer, options) {
    if (!importer || !source.startsWith('.')) return undefined;
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
    if (!resolved || FILES_WITH_PEERS.test(resolved.id)) return resolved;
    return { id: `./${commonJsFileOf(resolved.id)}.cjs`, external: 'absolute' };
  },
  load(id) {
    const entry = Object.entries(ENTRIES_FOR_REQUIRE).find(([name, path]) => name !== 'index' && id.endsWith(path));
    return entry && `export * from './${entry[0]}.cjs';`;
  },
};

/**
 * Reads the modules of Node that debug, a part of `@mswjs/data`, loads. esbuild cannot keep a `require` in an ES module,
 * so the library has none.
 */
const builtinsOfDebug: Plugin = {
  name: 'builtins-of-debug',
  resolveId: (source, importer = '') =>
    isBuiltin(source) && /\/node_modules\/(?:debug|supports-color|has-flag)\//.test(importer)
      ? `\0builtin:${source}`
      : undefined,
  load: (id) => {
    const [, name] = /^\0builtin:(.*)/.exec(id) ?? [];
    return name && `module.exports = process.getBuiltinModule('${name}');`;
  },
};

/**
 * Leaves out the tables of iconv-lite for Chinese, Japanese and Korean, which are 214 kB. The parsers of express, which
 * alone use this library here, refuse every charset but `utf-…` before they decode a body.
 */
const withoutTablesOfIconv: Plugin = {
  name: 'without-tables-of-iconv',
  load: (id) => (/\/node_modules\/iconv-lite\/encodings\/dbcs-data\.js$/.test(id) ? 'module.exports = {};' : undefined),
};

/**
 * A start loads these five files, each with what its modules import, instead of thirty. The first three are enough for
 * help. What the library shares with the command is in `options`, so that the library does not reach the command, and
 * no module of Node: those that the command and the server share are in `settings`.
 */
const FILES_OF_A_START = [
  {
    name: 'options',
    test: [
      matchFiles([
        'basics/duration',
        'basics/json-path',
        'basics/nearest',
        'basics/number-options',
        'basics/size',
        'basics/text',
        'basics/version',
        'control/table/control-path',
        'fixture/fixture-part',
      ]),
      // What the compiler adds for `using`.
      /\/usingCtx\.js$/,
    ],
    priority: 4,
  },
  {
    name: 'settings',
    test: matchFiles(['server/loopback', 'server/regular-file', 'server/server-settings']),
    priority: 4,
  },
  {
    name: 'command',
    test: matchFiles(['cli/run', 'cli/command', 'cli/files', 'cli/commands/connection-variables']),
    priority: 3,
  },
  {
    name: 'library',
    test: matchFiles(['mailbox/mailbox', 'mailbox/handler-parts', 'mailbox/without-msw']),
    priority: 2,
  },
  { name: 'start', test: matchFiles(['cli/commands/start', 'server/start-server']), priority: 1 },
].map(({ test, ...group }) => ({
  ...group,
  test: (id: string) => [test].flat().some((expression) => expression.test(id)),
}));

const { paths } = tsconfig.compilerOptions;

/** The entries of the package by their names, with `index` for the main one. */
const ENTRIES = Object.fromEntries(
  Object.entries(paths).map(([name, [path]]) => [name.split('/')[1] ?? 'index', path.slice(2)]),
) as Record<
  | 'index'
  | 'client'
  | 'server'
  | 'express'
  | 'receiver'
  | 'matchers'
  | 'samples'
  | 'verify'
  | 'evaluate'
  | 'vitest'
  | 'playwright',
  string
>;

/**
 * vitest and @msw/playwright are ES modules, and so is what imports them. The client is built on its own, so that it
 * loads nothing of the emulator.
 */
const { vitest: _, playwright: __, client: ___, ...ENTRIES_FOR_REQUIRE } = ENTRIES;

const USED_BY_DATA = `${root}.config/used-by-data.js`;
const RESOLVE = {
  mainFields: ['module', 'main'],
  // lodash-es has the functions of lodash in files of their own.
  alias: { lodash$: USED_BY_DATA, 'date-fns$': USED_BY_DATA, lodash: 'lodash-es' },
};

/** The licences are in a file of their own. */
const COMMENTS = { jsdoc: false, annotation: false, legal: false };

/** No comments that name the source file of each piece of code. */
const WITHOUT_REGIONS = { attachDebugInfo: 'none' } as const;

const COMMON: UserConfig = {
  ...{ cwd: root, target: 'es2022', fixedExtension: false, clean: false, dts: false },
  // With line breaks, because Node prints the line of an uncaught error.
  minify: { mangle: { keepNames: true }, compress: true, codegen: false },
  outputOptions: { comments: COMMENTS },
  inputOptions: { resolve: RESOLVE, experimental: WITHOUT_REGIONS },
  // Everything but msw and the test runners is bundled, so that the package has no dependencies.
  deps: { neverBundle: [/^node:/, /^(?:msw|vitest|@playwright\/test|@msw\/playwright)(\/|$)/], onlyBundle: false },
};

const CODE: UserConfig[] = [
  {
    ...COMMON,
    entry: {
      ...ENTRIES_FOR_REQUIRE,
      index: 'src/mailbox/index-require.ts',
      msw: 'src/mailbox/msw.ts',
      'without-msw': 'src/mailbox/without-msw.ts',
      'handler-parts': 'src/mailbox/handler-parts.ts',
      main: 'src/cli/main.ts',
    },
    format: 'cjs',
    platform: 'node',
    outputOptions: { comments: COMMENTS, codeSplitting: { groups: FILES_OF_A_START } },
    plugins: [
      filesBeside,
      builtinsOfDebug,
      withoutTablesOfIconv,
      withoutIndentation,
      thirdPartyLicences('THIRD-PARTY-LICENSES'),
    ],
  },
  {
    ...COMMON,
    entry: {
      'index.node': ENTRIES.index,
      'index.import': 'src/mailbox/index-import.ts',
      server: ENTRIES.server,
      express: ENTRIES.express,
      receiver: ENTRIES.receiver,
      'samples.node': ENTRIES.samples,
      verify: ENTRIES.verify,
      evaluate: ENTRIES.evaluate,
      vitest: ENTRIES.vitest,
      playwright: ENTRIES.playwright,
    },
    format: 'esm',
    platform: 'node',
    minify: 'dce-only',
    plugins: [filesBeside, fromCommonJs, withoutIndentation],
  },
  {
    ...COMMON,
    entry: {
      index: ENTRIES.index,
      matchers: ENTRIES.matchers,
      samples: ENTRIES.samples,
      'vitest.browser': 'src/testing/vitest/index-browser.ts',
    },
    format: 'esm',
    platform: 'neutral',
    inputOptions: {
      resolve: { ...RESOLVE, mainFields: ['browser', 'module', 'main'] },
      experimental: WITHOUT_REGIONS,
    },
    plugins: [withoutIndentation],
  },
  {
    ...COMMON,
    entry: { client: ENTRIES.client },
    format: ['esm', 'cjs'],
    platform: 'neutral',
    plugins: [withoutIndentation],
  },
  {
    ...COMMON,
    name: 'inspector',
    entry: { 'inspector/inspector': 'src/inspector/main.tsx' },
    format: 'esm',
    platform: 'browser',
    // Its errors are shown to nobody by their stack.
    minify: true,
    outputOptions: { comments: COMMENTS, chunkFileNames: 'inspector/[name].js' },
    copy: { from: ['src/inspector/*.{html,svg}', 'src/inspector/font.css'], to: 'dist/inspector' },
    plugins: [
      withoutIndentation,
      styleOfInspector,
      fontOfInspector,
      thirdPartyLicences('inspector/THIRD-PARTY-LICENSES', FONT_FOLDER),
    ],
  },
];

/**
 * What several entries share is in one file, because a type that is derived from a schema is written out only in the
 * file that has the schema. The file has no types of msw, which users of the client need not have.
 */
const SHARED_TYPES = {
  name: 'types.d',
  test: /\/src\/(?:basics|contract|fixture|world|service|control)\/(?!mailbox-interface|client\/index)/,
};

const TYPES: UserConfig = {
  ...COMMON,
  name: 'types',
  entry: ENTRIES,
  format: 'esm',
  platform: 'neutral',
  dts: { emitDtsOnly: true },
  outputOptions: { codeSplitting: { groups: [SHARED_TYPES] } },
  deps: { neverBundle: [/^node:/, 'msw', 'zod', 'vitest', 'expect', '@playwright/test'] },
  plugins: [correctDeclarations],
  // So that the types hold for a user whose `lib` does not know AsyncDisposable.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
};

/** Without `dts`, as the tests build it, the types are left out. */
export default defineConfig(({ dts }) => (dts === false ? CODE : [...CODE, TYPES]));
