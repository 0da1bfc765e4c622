import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type UserConfig } from 'tsdown';
import { isBytes, toBase64 } from '../src/contract/base64.ts';
import { checkedDefaultFixture } from '../src/fixture/checked-default-fixture.ts';
import { defaultRows } from '../src/store/default-rows.ts';
import { expandSchemaTypes } from './expand-schema-types.ts';

type Plugin = Extract<UserConfig['plugins'], { name: string }>;

const root = fileURLToPath(new URL('..', import.meta.url));

/** A comment behind the member before its own. */
const MISPLACED_COMMENT = /(?<=[;{]) ?(\/\*\*.*?\*\/)\s*/gs;

/** The bundler of declarations writes some comments behind the member before, where no editor finds them. */
const commentsBeforeMembers: Plugin = {
  name: 'comments-before-members',
  renderChunk: (code, { fileName }) =>
    /\.d\.[cm]?ts$/.test(fileName) ? code.replace(MISPLACED_COMMENT, '\n$1\n') : undefined,
};

/** Writes out the types that come from zod schemas, because users of the package have no zod. */
const typesWithoutZod: Plugin = {
  name: 'types-without-zod',
  generateBundle({ dir = '' }, bundle) {
    for (const chunk of Object.values(bundle)) {
      if ('code' in chunk && /from ["']zod["']/.test(chunk.code)) {
        chunk.code = expandSchemaTypes(chunk.code, join(dir, chunk.fileName));
      }
    }
  },
};

/** Ignores the errors of the types for a test runner that a project does not have; the bundler drops such comments. */
const missingRunnersIgnored: Plugin = {
  name: 'missing-runners-ignored',
  renderChunk: (code, { fileName }) =>
    fileName.endsWith('.d.ts') ? code.replace(/^declare module /gm, '// @ts-ignore\n$&') : undefined,
};

/** Writes the declarations a second time, for `require`. */
const declarationsForRequire: Plugin = {
  name: 'declarations-for-require',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (!('code' in chunk) || !chunk.fileName.endsWith('.d.ts')) continue;
      const fileName = chunk.fileName.replace(/ts$/, 'cts');
      const source = chunk.code.replace(/(["']\.\/[^"']+)\.js(["'])/g, '$1.cjs$2');
      this.emitFile({ type: 'asset', fileName, source });
    }
  },
};

/**
 * What replaces modules of bundled packages, by package and module: parts that the emulator never runs, such as the logs
 * and relations of `@mswjs/data` and the parsers of express, and the seventy files behind two functions of lodash.
 */
const REPLACED_MODULES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@mswjs/data': {
    debug: 'export const debug = () => () => {};',
    lodash: "export const isFunction = (value) => typeof value === 'function';",
    'lodash/isFunction': "module.exports = (value) => typeof value === 'function';",
    // The paths are lists of the property names of a model.
    'lodash/get': 'module.exports = (object, path) => path.reduce((part, name) => part?.[name], object);',
    'lodash/set': `module.exports = (object, [name, ...below], value) => {
      if (below.length === 0) object[name] = value;
      else module.exports((object[name] ??= {}), below, value);
    };`,
    './relations/Relation': 'export class Relation {}',
    '../relations/Relation': 'export class Relation {}',
    './defineRelationalProperties': 'export const defineRelationalProperties = () => {};',
  },
  express: {
    'body-parser': 'module.exports = {};',
    'serve-static': 'module.exports = {};',
    send: 'module.exports = {};',
    qs: 'module.exports = {};',
  },
  'mime-types': { 'mime-db': 'module.exports = {};' },
  // The bundler keeps the constants of SHA-512, which nothing uses, and computes them where the signing of deliveries is
  // loaded: with a page, or at the first delivery.
  '@noble/hashes': {
    './_u64.js': `export * from '${root}node_modules/@noble/hashes/_u64.js'; export const split = () => [[], []];`,
  },
  // A delivery is sent over HTTP/1.1, and its body is bytes.
  undici: { './client-h2.js': 'module.exports = {};', '../web/fetch/body.js': 'module.exports = {};' },
};

/** Replaces modules of bundled packages. */
const replaceModules: Plugin = {
  name: 'replace-modules',
  resolveId: {
    order: 'pre',
    handler(source, importer) {
      const [, name = ''] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(importer ?? '') ?? [];
      return REPLACED_MODULES[name]?.[source] === undefined ? undefined : `\0replaced:${name}:${source}`;
    },
  },
  load(id) {
    const [, name = '', source = ''] = /^\0replaced:([^:]*):(.*)/.exec(id) ?? [];
    return REPLACED_MODULES[name]?.[source];
  },
};

/** Takes only the parser of addresses and of encoded words from their files, because mail is parsed by our own code. */
const addressParserAlone: Plugin = {
  name: 'address-parser-alone',
  resolveId: {
    order: 'pre',
    handler: (source) => (source === 'postal-mime' ? '\0address-parser' : undefined),
  },
  load(id) {
    if (id !== '\0address-parser') return undefined;
    const folder = `${root}node_modules/postal-mime/dist/esm`;
    return `
      export { default as addressParser } from '${folder}/address-parser.js';
      export { decodeWords } from '${folder}/decode-strings.js';`;
  },
};

/** Takes only the agent and the request function of undici, because its own entry also loads fetch, caches and mocks. */
const undiciClientAlone: Plugin = {
  name: 'undici-client-alone',
  resolveId: {
    order: 'pre',
    handler: (source) => (source === 'undici' ? '\0undici-client' : undefined),
  },
  load(id) {
    if (id !== '\0undici-client') return undefined;
    const folder = `${root}node_modules/undici/lib`;
    return `
      import request from '${folder}/api/api-request.js';
      import Agent from '${folder}/dispatcher/agent.js';
      const send = (url, { dispatcher, ...options }) => {
        const { origin, pathname, search } = new URL(url);
        return request.call(dispatcher, { ...options, origin, path: pathname + search });
      };
      export { Agent, send as request };`;
  },
};

/** The constants that are computed once by the build, by the file that computes them. */
const BUILT_CONSTANTS = {
  '/src/fixture/checked-default-fixture.ts': { checkedDefaultFixture },
  '/src/store/default-rows.ts': { defaultRows },
};

/** Replaces each of these files by its result. */
const constantsComputedNow: Plugin = {
  name: 'constants-computed-now',
  load(id) {
    const found = Object.entries(BUILT_CONSTANTS).find(([path]) => id.endsWith(path));
    if (!found) return undefined;
    const [[name, value] = []] = Object.entries(found[1]);
    const json = JSON.stringify(value, (_, part) => (isBytes(part) ? { base64: toBase64(part) } : part));
    return `import { fromBase64 } from '${root}src/contract/base64.ts';
      import { freezeDeep } from '${root}src/fixture/freeze-deep.ts';
      const read = (_, part) => (typeof part?.base64 === 'string' ? fromBase64(part.base64) : part);
      export const ${name} = freezeDeep(JSON.parse(${JSON.stringify(json)}, read));`;
  },
};

/**
 * What many processes never need, as the modules of files of their own, which are read when something in them is first
 * used. What these modules export must not be used while a file is loaded, and must not be an export of the package.
 */
const LOADED_WHEN_USED: Readonly<Record<string, readonly string[]>> = {
  'fixture-reader': ['src/fixture/parse-fixture.ts'],
  'control-schemas': [
    'src/contract/incoming-message.ts',
    'src/control/mail-filter.ts',
    'src/control/mail-search.ts',
    'src/control/sandbox-options.ts',
    'src/control/trigger.ts',
    'src/correspondents/correspondent.ts',
    'src/faults/fault.ts',
    'src/journal/request-filter.ts',
  ],
  deliver: ['src/delivery/request.ts', 'src/delivery/attempt-sender.ts'],
  openapi: ['src/openapi/create-openapi.ts'],
  answer: ['src/correspondents/compose-answers.ts'],
};

/** Returns the name of such a file by the path of one of its modules. */
function fileWith(module: string | undefined): string | undefined {
  return Object.entries(LOADED_WHEN_USED).find(([, paths]) => paths.some((path) => module === root + path))?.[0];
}

/** The line at the top of a file that loads another one. */
const LOADING = /^(?:let|const) (\w+) = require\("\.\/([\w-]+)\.cjs"\);$/gm;

/** Makes these files, and replaces the lines that load them by functions that do. */
const loadedWhenUsed: Plugin = {
  name: 'loaded-when-used',
  resolveId: {
    order: 'pre',
    async handler(source, importer, options) {
      if (source in LOADED_WHEN_USED) return `\0used:${source}`;
      if (!importer || importer.startsWith('\0used:') || !source.startsWith('.')) return undefined;
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      const name = fileWith(resolved?.id);
      return name && name !== fileWith(importer) ? { id: `./${name}.cjs`, external: 'absolute' } : undefined;
    },
  },
  load(id) {
    const paths = LOADED_WHEN_USED[id.replace('\0used:', '')];
    return id.startsWith('\0used:') ? paths?.map((path) => `export * from '${root}${path}';`).join('\n') : undefined;
  },
  renderChunk(code, { fileName }) {
    return [...code.matchAll(LOADING)].reduce((text, [line, variable, name = '']) => {
      if (!(name in LOADED_WHEN_USED)) return text;
      if (fileName === `${name}.cjs`)
        this.error(`A module of ${fileName} that LOADED_WHEN_USED does not list needs it.`);
      const load = `var ${variable}_;\nfunction ${variable}() {\n\treturn ${variable}_ ??= require("./${name}.cjs");\n}`;
      return text.replace(line, load).replaceAll(new RegExp(`\\b${variable}\\.`, 'g'), `(${variable}()).`);
    }, code);
  },
};

/** Writes the licence of each bundled package into a file of the package. */
const thirdPartyLicences = (fileName: string): Plugin => ({
  name: 'third-party-licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => ('moduleIds' in chunk ? chunk.moduleIds : []));
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []);
    const source = [...new Set(folders)]
      .sort()
      .map(describeLicence)
      .join(`\n\n${'-'.repeat(80)}\n\n`);
    this.emitFile({ type: 'asset', fileName, source });
  },
});

/** Copies the files of the inspector that need no bundler. */
const inspectorFiles: Plugin = {
  name: 'inspector-files',
  generateBundle() {
    for (const name of ['index.html', 'inspector.css', 'icon.svg']) {
      const source = readFileSync(`${root}src/inspector/${name}`, 'utf8');
      this.emitFile({ type: 'asset', fileName: `inspector/${name}`, source });
    }
  },
};

function describeLicence(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = existsSync(folder) && readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file
    ? readFileSync(`${folder}/${file}`, 'utf8').trim()
    : 'The package names this licence, and has no file with its text.';
  return `${name} ${version}, ${license}\n\n${text}`;
}

/** The files that import msw or a test runner's ES modules; they take all else from the CommonJS build. */
const FILES_WITH_PEERS = /\/src\/(?:(?:index|create-mailbox|adapters\/msw)|(?:vitest|playwright)\/[\w-]+)\.ts$/;

/** Returns the name of the CommonJS file that has what an ES module imports from a source file. */
function commonJsFileOf(file: string, importer: string): string {
  const entry = Object.entries(ENTRIES_FOR_REQUIRE).find(([, path]) => dirname(`${root}${path}`) === dirname(file));
  if (importer.endsWith('/src/index.ts')) return 'without-msw';
  return entry && entry[0] !== 'index' ? entry[0] : 'handler-parts';
}

/** Makes ES modules for Node that share all code with the CommonJS build, so that a process has one copy of it. */
const fromCommonJs: Plugin = {
  name: 'from-common-js',
  resolveId: {
    order: 'pre',
    async handler(source, importer, options) {
      if (source.endsWith('.cjs')) return { id: source, external: 'absolute' };
      if (!importer || !source.startsWith('.')) return undefined;
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      if (!resolved || FILES_WITH_PEERS.test(resolved.id)) return resolved;
      return { id: `./${commonJsFileOf(resolved.id, importer)}.cjs`, external: 'absolute' };
    },
  },
  load(id) {
    const entry = Object.entries(ENTRIES_FOR_REQUIRE).find(([name, path]) => name !== 'index' && id.endsWith(path));
    return entry && `export * from './${entry[0]}.cjs';`;
  },
};

/** A start loads these three files, each with what its modules import, instead of thirty; the first one is enough for help. */
const FILES_OF_A_START = [
  {
    name: 'command',
    test: /\/src\/(?:cli\/(?:run|read-flag|write-error|example-keys)|control\/control-path)\.ts$|\/usingCtx\.js$/,
    priority: 3,
  },
  { name: 'library', test: /\/src\/mailbox\.ts$/, priority: 2 },
  { name: 'start', test: /\/src\/(?:cli\/start|server\/start-server)\.ts$/, priority: 1 },
];

const BUNDLED = [constantsComputedNow, addressParserAlone, undiciClientAlone, replaceModules];

const ENTRIES = {
  index: 'src/index.ts',
  server: 'src/server/index.ts',
  express: 'src/server/express.ts',
  receiver: 'src/receiver/index.ts',
  matchers: 'src/matchers/index.ts',
  samples: 'src/samples/index.ts',
  vitest: 'src/vitest/index.ts',
  playwright: 'src/playwright/index.ts',
};

/** vitest and @msw/playwright are ES modules, and so is what imports them. */
const { vitest: _, playwright: __, ...ENTRIES_FOR_REQUIRE } = ENTRIES;

const COMMON: UserConfig = {
  cwd: root,
  target: 'es2022',
  fixedExtension: false,
  clean: false,
  inputOptions: {
    resolve: {
      mainFields: ['module', 'main'],
      // The build of uuid for Node loads `node:crypto`, which takes a start longer than SHA-1 in JavaScript.
      alias: { uuid: `${root}node_modules/uuid/dist/index.js` },
    },
  },
  // Everything but msw and the test runners is bundled, so that the package has no dependencies.
  deps: { neverBundle: [/^node:/, /^(?:msw|vitest|@playwright\/test|@msw\/playwright)(\/|$)/], onlyBundle: false },
};

const CODE: UserConfig[] = [
  {
    ...COMMON,
    entry: {
      ...ENTRIES_FOR_REQUIRE,
      ...Object.fromEntries(Object.keys(LOADED_WHEN_USED).map((name) => [name, name])),
      'without-msw': 'src/without-msw.ts',
      'handler-parts': 'src/handler-parts.ts',
      main: 'src/cli/main.ts',
    },
    format: 'cjs',
    platform: 'node',
    dts: false,
    minify: true,
    outputOptions: { codeSplitting: { groups: FILES_OF_A_START } },
    plugins: [...BUNDLED, loadedWhenUsed, thirdPartyLicences('THIRD-PARTY-LICENSES')],
  },
  {
    ...COMMON,
    entry: {
      'index.node': ENTRIES.index,
      server: ENTRIES.server,
      express: ENTRIES.express,
      receiver: ENTRIES.receiver,
      'samples.node': ENTRIES.samples,
      vitest: ENTRIES.vitest,
      playwright: ENTRIES.playwright,
    },
    format: 'esm',
    platform: 'node',
    dts: false,
    plugins: [fromCommonJs],
  },
  {
    ...COMMON,
    entry: { index: ENTRIES.index, matchers: ENTRIES.matchers, samples: ENTRIES.samples },
    format: 'esm',
    platform: 'neutral',
    dts: false,
    minify: true,
    plugins: BUNDLED,
  },
  {
    ...COMMON,
    name: 'inspector',
    entry: { 'inspector/inspector': 'src/inspector/main.tsx' },
    format: 'esm',
    platform: 'browser',
    dts: false,
    minify: true,
    plugins: [inspectorFiles, thirdPartyLicences('inspector/THIRD-PARTY-LICENSES')],
  },
];

const TYPES: UserConfig = {
  ...COMMON,
  entry: ENTRIES,
  format: 'esm',
  platform: 'neutral',
  dts: { emitDtsOnly: true },
  deps: { neverBundle: [/^node:/, 'msw', 'zod', 'vitest', 'expect', '@playwright/test'] },
  plugins: [commentsBeforeMembers, missingRunnersIgnored, typesWithoutZod, declarationsForRequire],
  // So that the types hold for a user whose `lib` does not know AsyncDisposable.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
};

/** Without `dts`, as the tests build it, the types are left out. */
export default defineConfig(({ dts }) => (dts === false ? CODE : [...CODE, TYPES]));
