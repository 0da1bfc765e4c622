import { describeValue } from '../../basics/check-options.ts';
import { isPlainObject } from '../../basics/objects.ts';
import { createMask } from '../../world/secrets/mask.ts';
import type { Expected } from '../verdicts/candidate.ts';
import { AT_LEAST_ONE, type Range } from '../verdicts/compare.ts';
import { foldText } from '../verdicts/mail-text.ts';

/** The fields of a mail. */
const MAIL_FIELDS = [
  'to',
  'recipients',
  'cc',
  'bcc',
  'subject',
  'from',
  'inReplyTo',
  'text',
  'plainBody',
  'htmlBody',
  'headers',
  'attachments',
] as const;

/** The fields that each matcher knows. */
export const MATCHER_FIELDS = {
  toHaveReceivedRequest: [
    'operation',
    'method',
    'command',
    'path',
    'status',
    'result',
    'code',
    'key',
    'query',
    'headers',
    'body',
    'times',
  ],
  toHaveDelivered: ['event', 'to', 'state', 'payload', 'times'],
  toHaveSentMail: [...MAIL_FIELDS, 'only', 'times'],
  toHaveSentOnce: MAIL_FIELDS,
  toHaveForwarded: ['to', 'recipients', 'cc', 'bcc', 'subject', 'text', 'plainBody', 'htmlBody', 'times'],
  toHaveDraft: ['to', 'recipients', 'cc', 'bcc', 'subject', 'text', 'plainBody', 'htmlBody', 'exists', 'times'],
  toHaveNoUnexpectedRefusals: ['except'],
  toHaveStopped: ['quietMs'],
  toHaveCreated: ['times'],
} as const;

/** The name of a matcher with fields. */
export type MatcherWithFields = keyof typeof MATCHER_FIELDS;

/** The kinds of object that `toHaveCreated` knows. */
export const CREATED_KINDS: readonly string[] = [
  'address',
  'contact',
  'domain',
  'draft',
  'inbox',
  'key',
  'list',
  'webhook',
  'workspace',
];

/** What is expected, and how often. */
export interface Expectation {
  readonly expected: Expected;
  readonly times: Range;
  /** Whether there may be nothing else. */
  readonly only?: boolean;
  /** Whether the object must still exist. */
  readonly exists?: boolean;
}

/** Checks the argument of `toHaveReceivedRequest`, or the request in `except` that has this index. */
export function parseRequest(given: unknown, index?: number): Expectation {
  const name = index === undefined ? 'toHaveReceivedRequest' : `except[${index}] of toHaveNoUnexpectedRefusals`;
  const { expected, times } = parseExpected('toHaveReceivedRequest', given, name);
  const maskedField = ['query', 'headers', 'body'].find((field) => hasSecret(field, expected[field]));
  if (maskedField === undefined) return { expected, times };
  throw new TypeError(
    `The field ${maskedField} of ${name} has a key, secret or login, which the journal masks; write it as the ` +
      'journal shows it, such as tk_acme_….',
  );
}

/**
 * Splits the argument of a matcher into fields and `times`. @throws {TypeError} on an unknown field or invalid `times`.
 */
export function parseExpected(matcher: MatcherWithFields, given: unknown, name: string = matcher): Expectation {
  const title = `The ${name === matcher ? 'matcher' : 'field'} ${name}`;
  if (!isPlainObject(given)) throw new TypeError(`${title} needs an object of fields.`);
  const known: readonly string[] = MATCHER_FIELDS[matcher];
  const unknown = Object.keys(given).find((field) => !known.includes(field));
  if (unknown !== undefined) throw new TypeError(`${title} has no field ${unknown}; ${listFields(known)}.`);
  const { times, headers, only, exists, ...fields } = given;
  checkFlag(name, 'only', only);
  checkFlag(name, 'exists', exists);
  checkText(name, given.text);
  const all: Expected = { ...fields, headers: isPlainObject(headers) ? withLowerCaseNames(headers) : headers };
  // If nothing matches, the order of the fields decides which candidate is the most similar.
  const expected = known.filter((field) => all[field] !== undefined).map((field) => [field, all[field]]);
  return {
    expected: Object.fromEntries(expected),
    times: parseTimes(name, times),
    only: only === true,
    exists: exists === true,
  };
}

function parseTimes(name: string, times: unknown): Range {
  const range = readTimes(times);
  if (range) return range;
  throw new TypeError(`The field times of ${name} must be ${TIMES_RULE}, not ${describeValue(times)}.`);
}

/** What the number of something that happened must be. */
export const TIMES_RULE = 'a whole number from 0, or an object with min, max or both';

/** Returns the range that a value of `times` says; undefined if the value is not valid, or if no number is in the range. */
export function readTimes(times: unknown): Range | undefined {
  if (times === undefined) return AT_LEAST_ONE;
  if (isCount(times)) return { min: times, max: times };
  if (!isPlainObject(times) || Object.keys(times).some((name) => name !== 'min' && name !== 'max')) return undefined;
  const { min = 0, max = Number.POSITIVE_INFINITY } = times;
  // A range of all numbers would always be met.
  const isRange = isCount(min) && (isCount(max) || (times.max === undefined && min > 0)) && min <= Number(max);
  return isRange ? { min, max: Number(max) } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function checkFlag(name: string, field: string, value: unknown): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw new TypeError(`The field ${field} of ${name} must be true or false, not ${describeValue(value)}.`);
}

/** Checks the field `text`: a text or a pattern, or several. An empty text would be in every mail. */
function checkText(name: string, text: unknown): void {
  if (text === undefined) return;
  const isValid = (each: unknown) =>
    typeof each === 'string'
      ? foldText(each) !== ''
      : typeof each === 'object' && each !== null && !isPlainObject(each);
  if (Array.isArray(text) ? text.length > 0 && text.every(isValid) : isValid(text)) return;
  throw new TypeError(
    `The field text of ${name} must be a text that is not empty, a regular expression, an asymmetric matcher or an array ` +
      `of these, not ${describeValue(text)}.`,
  );
}

/** Checks the arguments of `toHaveCreated`: the kind of object, and its fields. */
export function parseCreated(object: unknown, given: unknown = {}): Expectation {
  if (!CREATED_KINDS.includes(object as string)) {
    const kinds = CREATED_KINDS.join(', ');
    throw new TypeError(`The first argument of toHaveCreated must be one of ${kinds}, not ${describeValue(object)}.`);
  }
  if (!isPlainObject(given)) throw new TypeError('The second argument of toHaveCreated must be an object of fields.');
  const { times, exists, ...fields } = given;
  checkFlag('toHaveCreated', 'exists', exists);
  return { expected: { object, ...fields }, times: parseTimes('toHaveCreated', times), exists: exists === true };
}

/** Checks the argument of `toHaveDelivered`. */
export function parseDelivery(given: unknown): Expectation {
  const { expected, times } = parseExpected('toHaveDelivered', given);
  if (hasSecret('to', expected.to)) {
    throw new TypeError(
      'The field to of toHaveDelivered has a login or a token, which lists of deliveries mask; write it as ' +
        'mailbox.deliveries() shows it, such as http://…@127.0.0.1, or give the id of the webhook.',
    );
  }
  return { expected: { ...expected, state: expected.state ?? 'delivered' }, times };
}

/** Checks the options of `toHaveNoUnexpectedRefusals`, and returns the exceptions. */
export function parseExceptions(options: unknown): Expectation[] {
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

/** Returns whether a field has a text that the journal never shows, so that no request could match this value. */
function hasSecret(name: string, value: unknown): boolean {
  if (typeof value === 'string') return createMask().deep({ [name]: value })[name] !== value;
  if (Array.isArray(value)) return value.some((item) => hasSecret(name, item));
  return isPlainObject(value) && Object.entries(value).some(([field, each]) => hasSecret(field, each));
}
