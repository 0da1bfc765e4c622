/**
 * How people paste headers: as an object of JSON, JavaScript or Python; as Go prints them; one on each line, also as
 * options of curl. The first form that finds a header is used.
 */
const FORMS: readonly RegExp[] = [
  /['"]([\w-]+)['"]\s*:\s*(?:\[\s*)?['"]([^'"]*)['"]/g,
  /(?<![\w-])([\w-]+):\[([^[\]]*)\]/g,
  /^[ \t]*(?:(?:-H|--header)[ \t]*)?['"]?([\w-]+)['"]?[ \t]*:(.*)$/gm,
];

/** Reads pasted headers, in any common form, by lower-case name. */
export function parseHeaders(text: string): ReadonlyMap<string, string> {
  const found = FORMS.map((form) => [...text.matchAll(form)]).find(({ length }) => length > 0) ?? [];
  return new Map(found.map(([, name = '', value = '']) => [name.toLowerCase(), withoutEnd(value)]));
}

/** Removes the quote and the backslash with which an option of curl ends. */
function withoutEnd(value: string): string {
  return value.trim().replace(/\\$/, '').trimEnd().replace(/['"]$/, '');
}
