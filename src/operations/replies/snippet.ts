/** The most characters of a snippet. */
const MAX_SNIPPET_LENGTH = 160;

/** The most characters of HTML that are looked at, so that a row of a list costs little whatever the mail. */
const MAX_HTML_LENGTH = 100_000;

/** What of HTML is no text: scripts, styles, titles, comments and tags. What is not closed reaches to the end. */
const MARKUP = /<(script|style|title)\b[\s\S]*?(?:<\/\1\s*>|$)|<!--[\s\S]*?(?:-->|$)|<[/!?a-z][^>]*(?:>|$)/gi;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** The beginning of what a message says, on one line: of its plain body, or else of the text of its HTML. */
export function snippetOf({ plainBody, htmlBody }: { readonly plainBody: string; readonly htmlBody: string | null }) {
  return beginningOf(plainBody) || beginningOf(textOf(htmlBody ?? ''));
}

/** Folds white space, and looks no further than needed. */
function beginningOf(text: string): string {
  let beginning = '';
  for (const [word] of text.matchAll(/\S+/g)) {
    beginning += `${beginning && ' '}${word.slice(0, 2 * MAX_SNIPPET_LENGTH)}`;
    if (beginning.length > 2 * MAX_SNIPPET_LENGTH) break;
  }
  // By code points, so that no character is cut in two.
  return [...beginning].slice(0, MAX_SNIPPET_LENGTH).join('').trimEnd();
}

function textOf(html: string): string {
  return html
    .slice(0, MAX_HTML_LENGTH)
    .replace(MARKUP, ' ')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, decode);
}

function decode(entity: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
