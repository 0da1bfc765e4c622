import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { PARTS } from './readme-parts.ts';
import { ROOMS_WITHOUT_PAGE } from './rooms.ts';
import { ROOT } from './root.ts';

/** The pages for those who work on the source, which the package does not have. */
const PAGES_OF_ROOMS = ROOMS_WITHOUT_PAGE.map((room) => `src/${room}/README.md`);

/** The pages for those who work on the project, or report something, which have no generated parts. */
export const PROJECT_PAGES: readonly string[] = ['.github/CONTRIBUTING.md', '.github/SECURITY.md', 'src/AGENTS.md'];

/** The pages that the package ships: the README, and those in the folders of the source. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join('src', file.replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.md') && !PAGES_OF_ROOMS.includes(file) && !PROJECT_PAGES.includes(file))
    .sort(),
];

/** The pages that have generated parts. */
export const GENERATED_PAGES: readonly string[] = [...PAGES, ...PAGES_OF_ROOMS, '.github/CONTRIBUTING.md'];

/** The text of a page as it is on disk. */
export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

const GENERATED = /(<!-- generated:([\w-]+) -->\n)[\s\S]*?(<!-- \/generated -->)/g;

/** Returns a page with its generated parts updated from the code. */
export function renderPage(page: string): string {
  return readPage(page).replace(GENERATED, (_, opening: string, name: string, closing: string) => {
    const part = PARTS[name];
    if (!part) throw new Error(`${page} asks for a part "${name}"; there are: ${Object.keys(PARTS).join(', ')}.`);
    return `${opening}\n${part()}\n\n${closing}`;
  });
}

/** The generated parts that no page has. */
export function findUnusedParts(): string[] {
  const used = GENERATED_PAGES.flatMap((page) => [...readPage(page).matchAll(GENERATED)].map(([, , name]) => name));
  return Object.keys(PARTS).filter((name) => !used.includes(name));
}

/** A fenced block: its page and line, what it is written in, the file that it stands for if any, and its text. */
export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
}

/** Finds every fenced block of a page, in order. */
export function findBlocks(page: string): Block[] {
  const source = readPage(page);
  return [...source.matchAll(/^```(\w*)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: source.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    file: match[2],
    text: match[3] ?? '',
  }));
}

/** Finds the links of a Markdown file that lead to no file, to no heading, or to a file that `isReachable` refuses. */
export function findDeadLinks(page: string, isReachable: (file: string) => boolean): string[] {
  const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links.filter((target) => !/^https?:/.test(target) && !leadsSomewhere(page, target, isReachable));
}

function leadsSomewhere(page: string, target: string, isReachable: (file: string) => boolean): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : posix.join(dirname(page), path);
  if (!existsSync(join(ROOT, file)) || !isReachable(file)) return false;
  return anchor === undefined || anchorsOf(file).includes(anchor);
}

/** The anchors of the headings of a page, as GitHub writes them. */
function anchorsOf(page: string): string[] {
  const headings = [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** A page without its fenced blocks. */
function prose(page: string): string {
  return readPage(page).replace(/^```[\s\S]*?^```$/gm, '');
}
