/** Converts a name to a slug: "Acme Corp" becomes `acme-corp` (reference). `fallback` is for a name without ASCII. */
export function slugOf(name: string, maxLength: number, fallback: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || fallback;
  return slug.slice(0, maxLength).replace(/-$/, '');
}
