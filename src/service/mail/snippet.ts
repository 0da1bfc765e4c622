/** The maximum length of a snippet, in characters. */
const MAX_SNIPPET_LENGTH = 160;

/** The maximum length of HTML that is read, in characters, so that large mail does not slow down a list. */
const MAX_HTML_LENGTH = 100_000;

/** Matches scripts, styles, titles, comments and tags. Without its end, each extends to the end of the HTML. */
const MARKUP = /<(script|style|title)\b[\s\S]*?(?:<\/\1\s*>|$)|<!--[\s\S]*?(?:-->|$)|<[/!?a-z][^>]*(?:>|$)/gi;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Returns the beginning of the plain body on one line. If it is empty, returns that of the text of the HTML body. */
export function snippetOf({ plainBody, htmlBody }: { readonly plainBody: string; readonly htmlBody: string | null }) {
  return beginningOf(plainBody) || beginningOf(textOfHtml(htmlBody ?? ''));
}

/** Returns the first words of a text, separated by single spaces. Reads no more of the text than a snippet needs. */
function beginningOf(text: string): string {
  let beginning = '';
  for (const [word] of text.matchAll(/\S+/g)) {
    beginning += `${beginning && ' '}${word.slice(0, 2 * MAX_SNIPPET_LENGTH)}`;
    if (beginning.length > 2 * MAX_SNIPPET_LENGTH) break;
  }
  // Slicing by code points never splits a surrogate pair.
  return [...beginning].slice(0, MAX_SNIPPET_LENGTH).join('').trimEnd();
}

function textOfHtml(html: string): string {
  return html
    .slice(0, MAX_HTML_LENGTH)
    .replace(MARKUP, ' ')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, decodeEntity);
}

function decodeEntity(entity: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
