/** Compares two texts by their characters, for `sort`. Times in ISO 8601 and UTC are then in order of time. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/**
 * Converts a name to a slug: "Acme Corp" becomes `acme-corp` (reference). If no ASCII letter or
 * digit is left after accents are removed, the slug is `fallback`.
 */
export function slugOf(name: string, maxLength: number, fallback: string): string {
  const plain = normaliseText(name, 'NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || fallback;
  return slug.slice(0, maxLength).replace(/-$/, '');
}

/** A part of a text that can be normalised alone. */
const NORMALISED_PART = /\P{M}*\p{M}{0,30}/gu;

/**
 * Returns the normal form of a text (Unicode Annex 15). For a long run of marks, `normalize` takes quadratic time, so only
 * 30 marks of a run are put in order together, as in the format of that annex for streams.
 */
export function normaliseText(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return text.replace(NORMALISED_PART, (part) => part.normalize(form));
}

/** Writes a number with its noun: `1 mail`, `3 mails`, `2 deliveries`. */
export function plural(
  count: number,
  noun: string,
  several: string = `${noun}s`.replace(/(?<![aeiou])ys$/, 'ies'),
): string {
  return `${count} ${count === 1 ? noun : several}`;
}

/** Shortens a text to at most `maxLength` UTF-16 code units, without splitting a surrogate pair. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  const isFirstHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isFirstHalf ? maxLength - 1 : maxLength);
}

const encoder = new TextEncoder();

/** Returns the size of a text in UTF-8, in bytes. Most texts are ASCII, which needs no encoding. */
export function byteLengthOf(text: string): number {
  return /[\u0080-\uffff]/.test(text) ? encoder.encode(text).byteLength : text.length;
}

/**
 * Removes the slashes at the end of a URL. The look-behind keeps the work linear: only the first of several slashes can
 * begin a match.
 */
export function trimEndSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

/** Maximum length of a URL, in characters. */
export const MAX_URL_LENGTH = 2048;

/**
 * Returns whether a text is an absolute URL of valid length whose scheme matches. The URL must have both slashes after
 * the scheme, and no characters that a URL parser would remove.
 */
export function isUrlWithScheme(url: string, schemePattern: RegExp): boolean {
  // `URL` takes quadratic time for a long host name of many different letters.
  if (url.length > MAX_URL_LENGTH) return false;
  const scheme = /^([a-z]+):\/\/[^\s/\\][^\s\\]*$/i.exec(url)?.[1];
  return scheme !== undefined && schemePattern.test(scheme.toLowerCase()) && URL.canParse(url);
}
