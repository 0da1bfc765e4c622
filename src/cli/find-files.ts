import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';

/**
 * Finds the files that a glob names, in order of their names: `*` and `?` stay within a folder, `**` does not, and
 * `{a,b}` is one of several. A folder stands for the .eml and mbox files in it and below, and a Maildir for its mails.
 */
export async function findFiles(glob: string): Promise<string[]> {
  const kind = await stat(glob).catch(() => undefined);
  if (kind?.isDirectory()) {
    const files = await findFiles(join(glob, '**', '*'));
    return files.filter((file) => MAIL_FILE.test(resolve(file).split(sep).join('/')));
  }
  if (kind) return [glob];
  const pattern = glob.split(sep).join('/');
  const folder = dirname(`${pattern.split(/[*?{]/, 1)[0]}x`);
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const expression = toExpression(folder === '.' ? pattern.replace(/^\.\//, '') : pattern);
  return files.filter((file) => expression.test(file.split(sep).join('/'))).sort();
}

/** A mail file, by its ending or in a Maildir, where its name begins with the time of its delivery. */
const MAIL_FILE = /\.(?:eml|mbox)$|\/(?:cur|new)\/\d[^/]*$/;

const SIGNS: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

function toExpression(pattern: string): RegExp {
  const source = pattern.replace(/\{[^{}]*\}|\*\*\/|\*\*|[*?]|[\\^$.|+()[\]{}]/g, (sign) => {
    if (sign.length > 1 && sign.startsWith('{')) return `(?:${sign.slice(1, -1).split(',').map(escapeText).join('|')})`;
    return SIGNS[sign] ?? escapeText(sign);
  });
  return new RegExp(`^${source}$`);
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.|+()[\]{}*?]/g, '\\$&');
}
