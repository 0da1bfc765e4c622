/** Writes a plain text as HTML. */
export function toHtml(text: string): string {
  return text === '' ? '' : `<p>${escapeHtml(text).replace(/\r?\n/g, '<br>')}</p>`;
}

/** Escapes the characters that have a meaning in HTML. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"' },
  ...{ apos: "'", '#39': "'", '#x27': "'", nbsp: ' ' },
};

/** Replaces the usual entities of HTML by their characters. */
export function unescapeHtml(text: string): string {
  return text.replace(/&(#?\w{2,4});/g, (entity, name: string) => ENTITIES[name.toLowerCase()] ?? entity);
}

/** Reads the text of HTML, with a line for each block. */
export function toPlainText(html: string): string {
  const text = html
    .replace(/<(?:style|script|title)\b[^<>]*>[^<]*/gi, '')
    .replace(/<(?:br|\/?(?:p|div|tr|li|h\d|pre|table|blockquote))\b[^<>]*>/gi, '\n')
    .replace(/<[^<>]*>/g, ' ');
  return unescapeHtml(text);
}
