import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { InlineConfig } from 'tsdown';

const root = fileURLToPath(new URL('..', import.meta.url));
const EVERYTHING = ['src', 'fixtures', '.config', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** The parts of `dist/`: what each is made of, what is removed before, and how tsdown is told to make it. */
const PARTS = {
  code: { sources: EVERYTHING, old: 'dist', options: { dts: false } },
  types: { sources: EVERYTHING, old: 'dist/.types', options: { filter: 'types' } },
  inspector: {
    sources: ['src/inspector', '.config', 'package-lock.json'],
    old: 'dist/inspector',
    options: { filter: 'inspector' },
  },
} satisfies Record<string, { sources: readonly string[]; old: string; options: InlineConfig }>;

type Part = keyof typeof PARTS;

/** Builds a part of the package if its sources have changed since it was built. The code contains the inspector. */
export async function buildPart(part: Part): Promise<void> {
  const { sources, old, options } = PARTS[part];
  const stamp = `${root}dist/.${part}`;
  const state = hashOf(sources);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  rmSync(root + old, { recursive: true, force: true });
  const { build } = await import('tsdown');
  await build({ config: `${root}.config/tsdown.config.ts`, logLevel: 'warn', ...options });
  if (part === 'code') writeFileSync(`${root}dist/llms.txt`, listPages());
  writeFileSync(stamp, state);
  if (part === 'code') writeFileSync(`${root}dist/.inspector`, hashOf(PARTS.inspector.sources));
}

function hashOf(sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(filesBelow).sort()) hash.update(file).update(readFileSync(root + file));
  return hash.digest('hex');
}

/** Lists the pages of the package for language models, each with its title and its first paragraph. */
function listPages(): string {
  const pages = [
    'README.md',
    ...readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).map((file) => `src/${file}`),
  ];
  const lines = pages
    .filter((page) => page.endsWith('.md') && !/^src\/(?:basics|world|service|mailbox|testing)\/README/.test(page))
    .map((page) => {
      const text = readFileSync(root + page, 'utf8').replace(/<!--.*?-->/gs, '');
      const [, title = '', first = ''] = /^# (.*)\n+([^\n]*)/m.exec(text) ?? [];
      return `- [${title}](../${page}): ${first.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')}`;
    });
  return `# agent-mailbox-mock\n\n> A local emulator of an Agent Mailbox Service.\n\n## Pages\n\n${lines.join('\n')}\n`;
}

/** Pages for people are not built. */
function filesBelow(path: string): string[] {
  if (!statSync(root + path).isDirectory()) return /\.(?:md|png)$/.test(path) ? [] : [path];
  return readdirSync(root + path).flatMap((name) => filesBelow(`${path}/${name}`));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const part of process.argv.slice(2)) await buildPart(part as Part);
}
