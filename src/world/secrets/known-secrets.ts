import { NumberFilter } from './number-filter.ts';

/** Shorter secrets are not looked for by their value, because they are parts of ordinary words. */
export const MIN_SECRET_LENGTH = 6;

/** How many forms of secrets that nothing uses any more are remembered. A secret has up to four forms. */
const MAX_FORMER = 40_000;

/** A secret that was found in a text. */
export interface FoundSecret {
  /** Where it begins in the text. */
  readonly start: number;
  /** Where it ends: the index of the first character after it. */
  readonly end: number;
}

/**
 * The secrets that a mailbox knows: keys, passwords, webhook secrets, and the credentials in URLs of webhooks. It also
 * remembers those that were removed, at least the latest 10,000, because a journal can still show them.
 *
 * A search takes time in proportion to the text, for any number of secrets: only where a filter says that a secret may
 * begin, the secrets are looked up by their first characters.
 */
export class KnownSecrets {
  /** How many rows have a secret; 0 for a former one. */
  readonly #uses = new Map<string, number>();
  /** The forms of secrets that nothing uses any more, the oldest first. */
  readonly #former = new Set<string>();
  /** The secrets by their first characters: one, or several. */
  readonly #byStart = new Map<string, string | SecretGroup>();
  /** The first four characters of each secret, as one number with a byte for each. */
  readonly starts = new NumberFilter();
  /** The start of each secret in base64, as five digits. */
  readonly base64Starts = new NumberFilter();

  /** How often a form was added or forgotten, so that others know when what they remember is out of date. */
  version = 0;

  /** Adds a secret, in each form in which a text can contain it. Add it once for each row that has it. */
  add(secret: string): void {
    for (const form of formsOf(secret)) {
      const uses = this.#uses.get(form);
      if (uses === undefined) this.#index(form);
      if (uses === 0) this.#former.delete(form);
      this.#uses.set(form, (uses ?? 0) + 1);
    }
  }

  /** Notes that a row no longer has a secret. The secret is still found, as long as it is among the latest of these. */
  remove(secret: string): void {
    for (const form of formsOf(secret)) {
      const uses = (this.#uses.get(form) ?? 0) - 1;
      if (uses < 0) continue;
      this.#uses.set(form, uses);
      if (uses > 0) continue;
      this.#former.add(form);
      if (this.#former.size <= MAX_FORMER) continue;
      const [oldest = ''] = this.#former;
      this.#former.delete(oldest);
      this.#uses.delete(oldest);
      this.#unindex(oldest);
    }
  }

  /**
   * Finds the secrets in a text. Also finds the start of a secret at the end of the text, which may have been cut there.
   */
  find(text: string): FoundSecret[] {
    const found: FoundSecret[] = [];
    const { starts } = this;
    if (this.#byStart.size === 0) return found;
    let latest = 0;
    let searchedTo = 0;
    for (let index = 0; index < text.length; index += 1) {
      latest = (latest << 8) | (text.charCodeAt(index) & 0xff);
      if (!starts.mayHave(latest)) continue;
      const start = index - 3;
      if (start < searchedTo) continue;
      const known = this.#byStart.get(text.slice(start, start + MIN_SECRET_LENGTH));
      if (known === undefined) continue;
      const length = typeof known === 'string' ? lengthOfMatch(text, start, known) : known.lengthOfMatch(text, start);
      if (length === 0 || isPartOfWord(text, start, length)) continue;
      searchedTo = start + length;
      found.push({ start, end: searchedTo });
    }
    return found;
  }

  /** Returns whether `find` could find a secret in a text with a character for each of these bytes. */
  mayBeIn(bytes: Uint8Array): boolean {
    if (this.#byStart.size === 0) return false;
    let latest = 0;
    for (let index = 0; index < bytes.length; index += 1) {
      latest = (latest << 8) | (bytes[index] ?? 0);
      if (!this.starts.mayHave(latest) || index < 3) continue;
      if (this.#byStart.has(toByteText(bytes.subarray(index - 3, index - 3 + MIN_SECRET_LENGTH)))) return true;
    }
    return false;
  }

  #index(form: string): void {
    this.version += 1;
    const start = form.slice(0, MIN_SECRET_LENGTH);
    const known = this.#byStart.get(start);
    if (known === undefined) {
      this.#byStart.set(start, form);
      this.starts.add(toNumber(start.slice(0, 4)));
      for (const digits of base64DigitsOf(start)) this.base64Starts.add(digits);
    } else if (typeof known === 'string') this.#byStart.set(start, new SecretGroup().add(known).add(form));
    else known.add(form);
  }

  #unindex(form: string): void {
    this.version += 1;
    const start = form.slice(0, MIN_SECRET_LENGTH);
    const known = this.#byStart.get(start);
    const isLast = known === form || (known instanceof SecretGroup && known.remove(form) === 0);
    if (!isLast) return;
    this.#byStart.delete(start);
    this.starts.remove(toNumber(start.slice(0, 4)));
    for (const digits of base64DigitsOf(start)) this.base64Starts.remove(digits);
  }
}

/** Returns four characters as one number, as `find` compares them. Characters with the same last byte are the same. */
function toNumber(characters: string): number {
  let number = 0;
  for (let index = 0; index < characters.length; index += 1)
    number = (number << 8) | (characters.charCodeAt(index) & 0xff);
  return number;
}

/**
 * Returns five digits of base64 that are in each text in base64 that has these six characters: one number for each place
 * in a group of three bytes where they can begin. The first digit then encodes the bytes from the bit 0, 4 or 2 on.
 */
function base64DigitsOf(start: string): number[] {
  const codes = Array.from({ length: MIN_SECRET_LENGTH }, (_, index) => start.charCodeAt(index));
  // A text of bytes has no other characters.
  if (codes.some((code) => code > 0xff)) return [];
  const bits = codes.map((code) => code.toString(2).padStart(8, '0')).join('');
  return [0, 4, 2].map((first) => Number.parseInt(bits.slice(first, first + 30), 2));
}

/** Secrets with the same first characters, such as the keys of one tenant. They are found by their length. */
class SecretGroup {
  readonly #byLength = new Map<number, Set<string>>();

  add(secret: string): this {
    const ofLength = this.#byLength.get(secret.length) ?? new Set();
    this.#byLength.set(secret.length, ofLength.add(secret));
    return this;
  }

  /** Removes a secret, and returns how many lengths are left. */
  remove(secret: string): number {
    const ofLength = this.#byLength.get(secret.length);
    ofLength?.delete(secret);
    if (ofLength?.size === 0) this.#byLength.delete(secret.length);
    return this.#byLength.size;
  }

  /** Returns the length of the longest secret, or start of one, that is in the text at a place; 0 if none is. */
  lengthOfMatch(text: string, start: number): number {
    let longest = 0;
    for (const [length, secrets] of this.#byLength) {
      const slice = text.slice(start, start + length);
      if (length > longest && secrets.has(slice)) longest = length;
      else if (slice.length < length) {
        for (const secret of secrets) longest = Math.max(longest, lengthOfMatch(text, start, secret));
      }
    }
    return longest;
  }
}

/** A text that was cut within a secret is hidden if it has so many of its characters. */
const MIN_CUT_LENGTH = 10;

/** Returns the length of a secret that is in the text at a place, or of its start at the end of the text; 0 if none is. */
function lengthOfMatch(text: string, start: number, secret: string): number {
  if (text.startsWith(secret, start)) return secret.length;
  const left = text.length - start;
  return left < secret.length && left >= MIN_CUT_LENGTH && secret.startsWith(text.slice(start)) ? left : 0;
}

/** The length up to which a secret must not be a part of a longer word, because it may be a word itself. */
const MAX_WORD_LENGTH = 9;

function isPartOfWord(text: string, start: number, length: number): boolean {
  if (length > MAX_WORD_LENGTH) return false;
  return /[a-z0-9]/i.test(text.charAt(start - 1)) || /[a-z0-9]/i.test(text.charAt(start + length));
}

/**
 * Returns the forms of a secret in which a decoded text can contain it: as it is, its bytes in UTF-8, with `+` for
 * spaces as in forms, and for a webhook secret also what comes after its prefix, and the bytes that this encodes.
 */
function formsOf(secret: string): Iterable<string> {
  const forms = new Set([secret]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: It matches what is not ASCII.
  if (/[^\x00-\x7f]/.test(secret)) forms.add(toByteText(new TextEncoder().encode(secret)));
  for (const form of forms) forms.add(form.replaceAll(' ', '+'));
  if (secret.startsWith('whsec_')) {
    const encoded = secret.slice('whsec_'.length);
    forms.add(encoded);
    const bytes = decodeBase64Text(encoded);
    if (bytes !== undefined) forms.add(bytes);
  }
  for (const form of forms) if (form.length < MIN_SECRET_LENGTH) forms.delete(form);
  return forms;
}

/** Returns a text with a character for each byte. */
export function toByteText(bytes: Uint8Array): string {
  let text = '';
  // The number of arguments of a function call is limited.
  for (let start = 0; start < bytes.length; start += 8192) {
    text += Reflect.apply(String.fromCharCode, null, bytes.subarray(start, start + 8192));
  }
  return text;
}

/** Decodes base64 to a text with a character for each byte; `undefined` if it is not base64. */
export function decodeBase64Text(base64: string): string | undefined {
  try {
    return atob(base64);
  } catch {
    return undefined;
  }
}
