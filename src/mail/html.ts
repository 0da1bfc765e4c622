/** Writes a plain text as HTML. */
export function toHtml(text: string): string {
  return text === '' ? '' : `<p>${escapeHtml(text).replace(/\r?\n/g, '<br>')}</p>`;
}

/** Escapes the characters that have a meaning in HTML. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
