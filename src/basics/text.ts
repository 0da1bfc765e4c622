/** Compares two texts by their characters, for `sort`. It also sorts times of one format, such as ISO 8601 in UTC. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Converts a name to a slug: "Acme Corp" becomes `acme-corp` (reference). `fallback` replaces one without ASCII. */
export function slugOf(name: string, maxLength: number, fallback: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || fallback;
  return slug.slice(0, maxLength).replace(/-$/, '');
}

/** Cuts a text to at most `maxLength` UTF-16 code units, without splitting a surrogate pair. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
}
