/** Escapes a text for the content of HTML, and for an attribute in double quotation marks. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/**
 * Escapes a text for the content of XML 1.0, and for an attribute in double quotation marks. A character that XML cannot
 * have, such as a control character, becomes U+FFFD.
 */
export function escapeXml(text: string): string {
  return escapeHtml(text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD'));
}
