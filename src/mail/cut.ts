/** Cuts a text to at most `maxLength` UTF-16 code units, without splitting a surrogate pair. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
}
