import { builtinModules } from 'node:module';
import { esmExternalRequirePlugin } from 'rolldown/plugins';
import licences, { type Dependency } from 'rollup-plugin-license';
import { defineConfig, type UserConfig } from 'tsdown';
import { ENTRIES, ROOT } from './entries.ts';

/** These two are for test runners that load ES modules. */
const { vitest, playwright, ...others } = ENTRIES;

const forData = (name: string) => `${ROOT}.config/for-data/${name}`;

/** What @mswjs/data imports of other packages; the files of `for-data/` say why each is not the package itself. */
const alias = {
  lodash$: forData('lodash.js'),
  // lodash-es has the functions of lodash in files of their own.
  lodash: 'lodash-es',
  'date-fns$': forData('date-fns.js'),
  debug$: forData('debug.cjs'),
};

const COMMON: UserConfig = {
  cwd: ROOT,
  target: 'es2022',
  platform: 'node',
  fixedExtension: false,
  inputOptions: { resolve: { mainFields: ['module', 'main'], alias }, experimental: { attachDebugInfo: 'none' } },
  // ws looks for two packages that make it faster, if they are there.
  define: { 'process.env.WS_NO_BUFFER_UTIL': '1', 'process.env.WS_NO_UTF_8_VALIDATE': '1' },
  // All packages are bundled, except the peer dependencies, of which a user has a copy.
  deps: { onlyBundle: false },
  // With names and line breaks, because Node prints the stack of an uncaught error, and the line of its code.
  minify: { mangle: { keepNames: true }, compress: true, codegen: false },
  // Editors show the comments of the declarations, and the licences are in a file of their own.
  outputOptions: { comments: false },
  // `rollup.config.ts` writes the declarations.
  dts: false,
};

/**
 * The mailbox, with what it needs, is one file: nearly each entry needs all of it, and it would be sixty files. The
 * client and the room of small helpers come first, because they are also used without it.
 */
const FILES: UserConfig['outputOptions'] = {
  comments: false,
  codeSplitting: {
    groups: [
      { name: 'client', test: /[\\/]client[\\/](?:create-client|mailbox-client)\.ts$/ },
      { name: 'basics', test: /[\\/]src[\\/]basics[\\/]/ },
      // Help shows the options of a mailbox, and must not load the library.
      { name: 'options', test: /[\\/]mailbox-options\.ts$/ },
      { name: 'library', test: /[\\/]mailbox[\\/]mailbox\.ts$/ },
    ],
  },
};

/** Writes the licences of the bundled packages. */
const writeLicences = (file: string) =>
  licences({
    thirdParty: { output: { file: `${ROOT}dist/${file}`, template: (all) => all.map(describe).join('\n\n') } },
  });

function describe({ name, version, license, licenseText }: Dependency): string {
  return `${name} ${version}, ${license}\n\n${licenseText ?? 'The package has no file with the text of its licence.'}\n`;
}

export default defineConfig([
  {
    ...COMMON,
    name: 'code',
    format: 'esm',
    clean: ['dist/*.js'],
    // The main entry is for browsers, too, so no file of it may begin with an import of `node:module`.
    platform: 'neutral',
    entry: {
      ...others,
      'index.node': `${ROOT}.config/main-entries/index-import.ts`,
      vitest,
      'vitest.browser': 'src/testing/vitest/index-browser.ts',
      playwright,
    },
    outputOptions: FILES,
    // Bundled CommonJS requires these modules, which an ES module cannot.
    plugins: [esmExternalRequirePlugin({ external: ['msw', /^node:/, ...builtinModules] })],
  },
  {
    ...COMMON,
    name: 'code',
    format: 'cjs',
    clean: ['dist/*.cjs'],
    entry: { ...others, 'index.require': `${ROOT}.config/main-entries/index-require.ts`, main: 'src/cli/main.ts' },
    outputOptions: FILES,
    plugins: [writeLicences('THIRD-PARTY-LICENSES')],
  },
  {
    ...COMMON,
    name: 'inspector',
    entry: { inspector: 'src/inspector/main.tsx' },
    outDir: 'dist/inspector',
    format: 'esm',
    platform: 'browser',
    minify: true,
    outputOptions: { comments: false, chunkFileNames: '[name].js' },
    copy: [
      'src/inspector/*.{html,svg,css}',
      { from: 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2', rename: 'inter.woff2' },
      { from: 'node_modules/@fontsource-variable/inter/LICENSE', rename: 'inter.LICENSE' },
    ],
    plugins: [writeLicences('inspector/THIRD-PARTY-LICENSES')],
  },
]);
