/** A text of a scenario in which each `*` stands for any characters. Matchers accept it as an asymmetric matcher. */
export class TextPattern {
  readonly #pattern: string;
  readonly #ignoresCase: boolean;

  constructor(pattern: string, ignoresCase: boolean) {
    this.#pattern = pattern;
    this.#ignoresCase = ignoresCase;
  }

  /** Returns whether a value is a text that matches. The work is proportional to the text for each `*`. */
  asymmetricMatch(value: unknown): boolean {
    if (typeof value !== 'string') return false;
    const text = this.#ignoresCase ? value.toLowerCase() : value;
    const pattern = this.#ignoresCase ? this.#pattern.toLowerCase() : this.#pattern;
    const parts = pattern.split('*');
    const [first = '', ...middle] = parts;
    const last = middle.pop();
    if (last === undefined) return text === pattern;
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let from = first.length;
    for (const part of middle) {
      const at = text.indexOf(part, from);
      if (at < 0) return false;
      from = at + part.length;
    }
    return from <= text.length - last.length;
  }

  toString(): string {
    return JSON.stringify(this.#pattern);
  }
}

/** Matches a regular expression that is written as a text: `/regex/` with flags. */
const WRITTEN_REGEX = /^\/(.+)\/((?:i|m|s|u)*)$/s;

/**
 * Returns what a text of an expectation means: a text with `*` is a pattern, `/regex/` a regular expression, and any
 * other text itself.
 *
 * @throws {SyntaxError} for an invalid regular expression.
 */
export function readTextPattern(text: string, isAddress: boolean): string | RegExp | TextPattern {
  const [, source, flags = ''] = WRITTEN_REGEX.exec(text) ?? [];
  if (source !== undefined) return new RegExp(source, isAddress && !flags.includes('i') ? `${flags}i` : flags);
  return text.includes('*') ? new TextPattern(text, isAddress) : text;
}

/** Returns whether a text of an expectation is a pattern or a regular expression, which `readTextPattern` reads. */
export function isPattern(text: string): boolean {
  return WRITTEN_REGEX.test(text) || text.includes('*');
}

/** The fields of expectations that are addresses, in which letter case does not count. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['to', 'recipients', 'cc', 'bcc', 'from']);

/** Replaces each text in a value, at any depth, by what it means; see {@link readTextPattern}. */
export function readPatterns(value: unknown, isAddress = false): unknown {
  if (typeof value === 'string') return readTextPattern(value, isAddress);
  if (Array.isArray(value)) return value.map((item) => readPatterns(item, isAddress));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, readPatterns(item, isAddress || ADDRESS_FIELDS.has(name))]),
  );
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
