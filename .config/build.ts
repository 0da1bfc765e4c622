import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { ROOT } from './entries.ts';

const SOURCES = ['src', 'fixtures', '.config', 'package.json', 'package-lock.json', 'tsconfig.json'];

type Part = 'package' | 'code' | 'inspector';

/** What each part consists of: `types` by `rollup.config.ts`, the others by their names in `tsdown.config.ts`. */
const PARTS: Record<Part, readonly string[]> = {
  package: ['types', 'code', 'inspector'],
  code: ['code', 'inspector'],
  inspector: ['inspector'],
};

/** Builds what of a part is not built from the sources as they are: a part imports files of many folders. */
export async function buildPart(part: Part): Promise<void> {
  const state = hashOf(SOURCES);
  const isBuilt = (name: string) => existsSync(stampOf(name)) && readFileSync(stampOf(name), 'utf8') === state;
  const missing = PARTS[part].filter((name) => !isBuilt(name));
  if (missing.length === 0) return;
  if (missing.includes('types')) await writeDeclarations();
  const filter = missing.filter((name) => name !== 'types');
  if (filter.length > 0) {
    const { build } = await import('tsdown');
    await build({ config: `${ROOT}.config/tsdown.config.ts`, logLevel: 'warn', filter });
  }
  if (missing.includes('inspector')) await writeEvaluateSchema();
  if (missing.includes('code')) writePageLists();
  for (const name of missing) writeFileSync(stampOf(name), state);
}

function stampOf(name: string): string {
  return `${ROOT}dist/.${name}`;
}

/** Writes the declarations for ES modules and for CommonJS, in place of those before. */
async function writeDeclarations(): Promise<void> {
  const [{ rollup }, { DECLARATIONS }] = await Promise.all([import('rollup'), import('./rollup.config.ts')]);
  const bundle = await rollup(DECLARATIONS);
  const before = existsSync(`${ROOT}dist`) ? readdirSync(`${ROOT}dist`) : [];
  for (const file of before.filter((name) => /\.d\.c?ts$/.test(name))) rmSync(`${ROOT}dist/${file}`);
  for (const output of DECLARATIONS.output) await bundle.write(output);
  await bundle.close();
}

/** Writes the JSON Schemas of scenarios and of reports, which servers send: they have no code that reads scenarios. */
async function writeEvaluateSchema(): Promise<void> {
  const { scenarioJsonSchema } = await import('../src/evaluate/scenario-schema.ts');
  const { evaluationJsonSchema } = await import('../src/evaluate/report-schema.ts');
  for (const [name, schema] of Object.entries({ scenario: scenarioJsonSchema(), evaluation: evaluationJsonSchema() })) {
    writeFileSync(`${ROOT}dist/inspector/${name}.schema.json.br`, brotliCompressSync(JSON.stringify(schema)));
  }
}

/** Returns a hash of the content of these files, and of those in these folders. */
export function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of paths.flatMap(filesBelow).sort()) hash.update(file).update(readFileSync(ROOT + file));
  return hash.digest('hex');
}

/** Writes the pages of the package for language models: a list with titles and first paragraphs, and their whole text. */
function writePageLists(): void {
  const inSource = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' }).map((file) => `src/${file}`);
  const isOfProject = /^src\/(?:AGENTS|(?:basics|world|service|mailbox|testing)\/README)/;
  const pages = ['README.md', ...inSource, 'CHANGELOG.md']
    .filter((page) => page.endsWith('.md') && !isOfProject.test(page))
    .map((page) => ({ page, text: readFileSync(ROOT + page, 'utf8').replace(/<!--.*?-->\n*/gs, '') }));
  const items = pages.map(({ page, text }) => {
    const [, title = '', first = ''] = /^# (.*)\n+([^\n]*)/m.exec(text) ?? [];
    return `- [${title}](../${page}): ${first.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')}`;
  });
  const head = '# agent-mailbox-mock\n\n> A local emulator of an Agent Mailbox Service.\n\n';
  writeFileSync(`${ROOT}dist/llms.txt`, `${head}## Pages\n\n${items.join('\n')}\n`);
  const texts = pages.map(({ page, text }) => `<page path="${page}">\n\n${text.trim()}\n\n</page>\n`);
  writeFileSync(`${ROOT}dist/llms-full.txt`, `${head}${texts.join('\n')}`);
}

/** Pages for people are not built. */
function filesBelow(path: string): string[] {
  if (!statSync(ROOT + path).isDirectory()) return /\.(?:md|png)$/.test(path) ? [] : [path];
  return readdirSync(ROOT + path).flatMap((name) => filesBelow(`${path}/${name}`));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const part of process.argv.slice(2)) await buildPart(part as Part);
}
