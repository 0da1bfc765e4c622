/** Writes a plain text as HTML. */
export function toHtml(text: string): string {
  return text === '' ? '' : `<p>${escapeHtml(text).replace(/\r?\n/g, '<br>')}</p>`;
}

/** Escapes the characters that have a meaning in HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
