import { type Given, quote, UsageError } from './command.ts';

/** The text of a flag that takes one; `undefined` where it was not given. */
export function textOf(given: Given | undefined): string | undefined {
  return given && String(given.value);
}

/** Parses each text of a flag that is repeatable; there is none where it was not given. */
export function parseEach<Item>(given: Given | undefined, parse: (text: string, source: string) => Item): Item[] {
  const { value, source } = given ?? { value: [], source: '' };
  return Array.isArray(value) ? value.map((text: string) => parse(text, source)) : [];
}

/**
 * Parses a name and a value with `=` between them, which the value may have too.
 *
 * @throws {UsageError} without a name or without `=`, with the form that would be right, such as `<id>=<value>`.
 */
export function parsePair(text: string, source: string, form: string): [name: string, value: string] {
  const [name, value] = text.split(/=(.*)/s);
  if (name && value !== undefined) return [name, value];
  throw new UsageError(`${source} must be ${form}, not ${quote(text)}.`);
}
