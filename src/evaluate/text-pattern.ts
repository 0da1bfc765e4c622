import { isPlainObject } from '../basics/objects.ts';
import { type SandboxDomain, toSandbox, toWritten } from './sandbox-addresses.ts';

/** How a pattern is compared with a text. */
interface PatternOptions {
  /** Whether letter case does not count. Default: it counts. */
  readonly ignoresCase?: boolean;
  /** Whether a part of the text is enough. Default: a pattern with `*` describes the whole text. */
  readonly isAnywhere?: boolean;
  /** The domain of the sandbox. A text matches also if it does with the domain as the scenario has it. */
  readonly domain?: SandboxDomain | undefined;
}

/** Matches a regular expression that is written as a text: `/regex/` with flags. */
const WRITTEN_REGEX = /^\/(.+)\/((?:i|m|s|u)*)$/s;

/**
 * A text of a scenario that describes other texts: with `*` for any characters, or a regular expression such as
 * `/^Order/i`. Matchers accept it as an asymmetric matcher.
 */
export class TextPattern {
  readonly #written: string;
  readonly #domain: SandboxDomain | undefined;
  readonly #matches: (text: string) => boolean;
  /** Whether more text behind a text that matches could change that. */
  readonly dependsOnEnd: boolean;

  /** @throws {SyntaxError} for an invalid regular expression. */
  constructor(written: string, { ignoresCase = false, isAnywhere = false, domain }: PatternOptions = {}) {
    this.#written = written;
    this.#domain = domain;
    const [, source, flags = ''] = WRITTEN_REGEX.exec(written) ?? [];
    if (source !== undefined) {
      const regex = new RegExp(source, ignoresCase && !flags.includes('i') ? `${flags}i` : flags);
      this.#matches = (text) => regex.test(text);
      this.dependsOnEnd = /\$|\(\?<?!/.test(source);
      return;
    }
    const pattern = isAnywhere ? `*${written}*` : written;
    this.#matches = (text) =>
      ignoresCase ? matchesStars(pattern.toLowerCase(), text.toLowerCase()) : matchesStars(pattern, text);
    this.dependsOnEnd = !pattern.endsWith('*');
  }

  /** Returns whether a text of an expectation is a pattern. */
  static isPattern(text: string): boolean {
    return text.includes('*') || WRITTEN_REGEX.test(text);
  }

  /** Returns whether a value is a text that matches. */
  asymmetricMatch(value: unknown): boolean {
    if (typeof value !== 'string') return false;
    return this.#matches(value) || (this.#domain !== undefined && this.#matches(toWritten(value, this.#domain)));
  }

  /** Returns the text as it is in the scenario, for messages that show the object around it. */
  toJSON(): string {
    return this.#written;
  }

  toString(): string {
    return WRITTEN_REGEX.test(this.#written) ? this.#written : JSON.stringify(this.#written);
  }
}

/**
 * Returns whether a text is as a pattern says, in which each `*` stands for any characters. The work is proportional to
 * the text for each `*`.
 */
function matchesStars(pattern: string, text: string): boolean {
  const [first = '', ...middle] = pattern.split('*');
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

/** The fields of expectations that are addresses, in which letter case does not count. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['to', 'recipients', 'cc', 'bcc', 'from']);

/**
 * Replaces each text in the value of an expectation, at any depth, by what it means: a pattern, or a text in which the
 * addresses are those of the sandbox.
 *
 * @throws {SyntaxError} for an invalid regular expression.
 */
export function readPatterns(value: unknown, domain?: SandboxDomain): unknown {
  if (!isPlainObject(value)) return readAll(value, { domain });
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const isText = name === 'text';
      return [name, readAll(item, { domain, ignoresCase: isText || ADDRESS_FIELDS.has(name), isAnywhere: isText })];
    }),
  );
}

function readAll(value: unknown, options: PatternOptions): unknown {
  if (typeof value === 'string') return readText(value, options);
  if (Array.isArray(value)) return value.map((item) => readAll(item, options));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const ignoresCase = options.ignoresCase === true || ADDRESS_FIELDS.has(name);
      return [name, readAll(item, { ...options, ignoresCase })];
    }),
  );
}

function readText(text: string, options: PatternOptions): string | TextPattern {
  if (TextPattern.isPattern(text)) return new TextPattern(text, options);
  return options.domain ? toSandbox(text, options.domain) : text;
}
