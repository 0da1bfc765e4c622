/** The beginning of a text, up to a length, without half of a character at its end. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
}
