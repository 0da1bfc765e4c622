import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type UserConfig } from 'tsdown';

type Plugin = Extract<UserConfig['plugins'], { name: string }>;

/** A comment behind the member before its own. */
const MISPLACED_COMMENT = /(?<=[;{]) ?(\/\*\*.*?\*\/)\s*/gs;

/** What `@mswjs/data` imports and the emulator never runs: request handlers of its own, logs, and most of two libraries. */
const UNUSED_MODULES: Readonly<Record<string, string>> = {
  './model/generateRestHandlers': 'export const generateRestHandlers = () => [];',
  './model/generateGraphQLHandlers':
    'export const generateGraphQLHandlers = () => []; export const generateGraphQLSchema = () => ({});',
  debug: 'export const debug = () => () => {};',
  'date-fns': "export { default as compareAsc } from 'date-fns/compareAsc';",
  lodash: "export { default as isFunction } from 'lodash/isFunction';",
};

/** Bundles `@mswjs/data` without 35 MB that it installs and the emulator never runs. */
const withoutUnusedModules: Plugin = {
  name: 'without-unused-modules',
  resolveId: {
    order: 'pre',
    handler: (source, importer) =>
      source in UNUSED_MODULES && importer?.includes('/node_modules/@mswjs/data/') ? `\0unused:${source}` : undefined,
  },
  load: (id) => (id.startsWith('\0unused:') ? UNUSED_MODULES[id.slice('\0unused:'.length)] : undefined),
};

/** Writes the licence of each bundled package into the package. */
const thirdPartyLicences: Plugin = {
  name: 'third-party-licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => ('moduleIds' in chunk ? chunk.moduleIds : []));
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []);
    const source = [...new Set(folders)]
      .sort()
      .map(describeLicence)
      .join(`\n\n${'-'.repeat(80)}\n\n`);
    if (source !== '') this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES', source });
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

export default defineConfig({
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  entry: {
    index: 'src/index.ts',
    server: 'src/server/index.ts',
    receiver: 'src/receiver/index.ts',
    main: 'src/cli/main.ts',
  },
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  dts: { entry: ['src/index.ts', 'src/server/index.ts', 'src/receiver/index.ts'] },
  fixedExtension: false,
  inputOptions: { resolve: { mainFields: ['module', 'main'] } },
  // The bundler of declarations writes some comments behind the member before, where no editor finds them.
  plugins: [
    {
      name: 'comments-before-members',
      renderChunk: (code, { fileName }) =>
        fileName.endsWith('.d.ts') ? code.replace(MISPLACED_COMMENT, '\n$1\n') : undefined,
    },
    withoutUnusedModules,
    thirdPartyLicences,
  ],
  // What is not a dependency of the package is bundled: @mswjs/data with what the emulator runs of it.
  deps: { neverBundle: [/^node:/] },
  // So that the types hold for a user whose `lib` does not know AsyncDisposable.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
});
