import { type GivenFlag, quote, UsageError } from './command.ts';

/** Returns the text of a flag; `undefined` if the flag is not set. */
export function textOf(flag: GivenFlag | undefined): string | undefined {
  return flag && String(flag.value);
}

/** Parses each text of a repeatable flag; returns an empty list if the flag is not set. */
export function parseEach<Item>(flag: GivenFlag | undefined, parse: (text: string, source: string) => Item): Item[] {
  const { value, source } = flag ?? { value: [], source: '' };
  return Array.isArray(value) ? value.map((text: string) => parse(text, source)) : [];
}

/**
 * Parses `name=value`; the value may contain `=` too.
 *
 * @throws {UsageError} if the name or the `=` is missing; the message shows `form`, such as `<id>=<value>`.
 */
export function parsePair(text: string, source: string, form: string): [name: string, value: string] {
  const [name, value] = text.split(/=(.*)/s);
  if (name && value !== undefined) return [name, value];
  throw new UsageError(`${source} must be ${form}, not ${quote(text)}.`);
}
