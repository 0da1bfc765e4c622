import type { Expected } from './candidates.ts';
import { isPlain } from './find-matches.ts';

/** The fields that each matcher knows. */
const FIELDS = {
  toHaveReceivedRequest: ['operation', 'method', 'path', 'status', 'code', 'key', 'query', 'headers', 'body', 'times'],
  toHaveDelivered: ['event', 'to', 'state', 'payload', 'times'],
  toHaveSentMail: ['to', 'subject', 'from', 'plainBody', 'htmlBody', 'headers', 'attachments', 'times'],
  toHaveSentOnce: ['to', 'subject', 'from', 'plainBody', 'htmlBody', 'headers', 'attachments'],
  toHaveNoUnexpectedRefusals: ['except'],
  toHaveStopped: ['quietMs'],
} as const;

/** The name of a matcher with fields. */
type Matcher = keyof typeof FIELDS;

/** What is expected, and how often. */
export type Parsed = { readonly expected: Expected; readonly times: number | undefined };

/**
 * Checks what `toHaveReceivedRequest` was given. With `item`, checks the item with this index in the field `except` of
 * `toHaveNoUnexpectedRefusals`.
 */
export function parseRequest(given: unknown, item?: number): Parsed {
  const name = item === undefined ? 'toHaveReceivedRequest' : `except[${item}] of toHaveNoUnexpectedRefusals`;
  const { expected, times } = parseExpected('toHaveReceivedRequest', given, name);
  const masked = ['query', 'headers', 'body'].find((field) => hasSecret(expected[field]));
  if (masked === undefined) return { expected, times };
  throw new TypeError(
    `The field ${masked} of ${name} has a key, secret or login, which the journal masks; write it as the journal ` +
      'shows it, such as tk_acme_….',
  );
}

/** Splits what is expected into fields and `times`. @throws {TypeError} for an unknown field or invalid `times`. */
export function parseExpected(matcher: Matcher, given: unknown, name: string = matcher): Parsed {
  const title = `The ${name === matcher ? 'matcher' : 'field'} ${name}`;
  if (!isPlain(given)) throw new TypeError(`${title} needs an object of fields.`);
  const known: readonly string[] = FIELDS[matcher];
  const unknown = Object.keys(given).find((field) => !known.includes(field));
  if (unknown !== undefined) throw new TypeError(`${title} has no field ${unknown}; ${listFields(known)}.`);
  const { times, headers, ...fields } = given;
  if (times !== undefined && !(Number.isSafeInteger(times) && Number(times) >= 0)) {
    throw new TypeError(`The field times of ${name} must be a whole number from 0, not ${String(times)}.`);
  }
  const all: Expected = { ...fields, headers: isPlain(headers) ? withLowerCaseNames(headers) : headers };
  const wanted = known.filter((field) => all[field] !== undefined).map((field) => [field, all[field]]);
  return { expected: Object.fromEntries(wanted), times: times as number | undefined };
}

/** Checks what `toHaveDelivered` was given. */
export function parseDelivery(given: unknown): Parsed {
  const { expected, times } = parseExpected('toHaveDelivered', given);
  return { expected: { ...expected, state: expected.state ?? 'delivered' }, times };
}

/** Checks the options of `toHaveNoUnexpectedRefusals`, and returns the exceptions. */
export function parseExceptions(options: unknown): Parsed[] {
  const { except = [] } = parseExpected('toHaveNoUnexpectedRefusals', options).expected;
  if (Array.isArray(except)) return except.map(parseRequest);
  throw new TypeError('The field except of toHaveNoUnexpectedRefusals must be an array of requests.');
}

function listFields(names: readonly string[]): string {
  const list = names.join(', ').replace(/, (\w+)$/, ' and $1');
  return `its ${names.length === 1 ? 'only field is' : 'fields are'} ${list}`;
}

function withLowerCaseNames(headers: Expected): Expected {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A key or a secret in full, or the login of a URL. The journal shows `…` in its place. */
const MASKED = /(?:sa|tk|wk|ak)_[\w-]{10,}|whsec_[\w+/=-]|\/\/[^/@\s…]+@/;

/** Returns whether a value has a text that the journal never shows, so that nothing could match it. */
function hasSecret(value: unknown): boolean {
  if (typeof value === 'string') return MASKED.test(value);
  if (Array.isArray(value)) return value.some(hasSecret);
  return isPlain(value) && Object.values(value).some(hasSecret);
}
