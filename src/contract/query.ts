import { z } from 'zod';
import { lazy } from '../basics/lazy-schema.ts';
import type { ReadBehaviour } from './behaviours.ts';
import { timestamp } from './schemas.ts';

/** The highest limit of a page; what a higher one means is decided by `messages.list.over-limit`. */
export const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;
const MAX_OFFSET = 1_000_000_000;

/** A whole number in a query. It must be digits only, because `Number` also accepts texts such as `1e3`. */
export function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  const toNumber = (value: unknown) => (isDigits(value) && value.length <= 15 ? Number(value) : value);
  return z.preprocess(toNumber, z.int(message).min(least, message).max(most, message));
}

/** Returns whether a value is a text of digits. */
export function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^\d+$/.test(value);
}

const AT_LEAST_ONE = 'must be a whole number from 1';

const limits = lazy(() => ({
  // There is no maximum, so the OpenAPI document must not contain the maximum that Zod has for integers.
  clamped: z.preprocess(
    (value) => (isDigits(value) ? Math.min(Number(value), MAX_LIMIT) : value),
    z.int(AT_LEAST_ONE).min(1, AT_LEAST_ONE).meta({ maximum: undefined }),
  ),
  invalid: wholeNumber(1, MAX_LIMIT),
}));

/** The paging parameters of a list. */
export function pageQuery(readBehaviour: ReadBehaviour) {
  return z.object({
    limit: limits()
      [readBehaviour('messages.list.over-limit')].default(DEFAULT_LIMIT)
      .meta({ description: `Maximum number of items to return, at most ${MAX_LIMIT}.` }),
    offset: wholeNumber(0, MAX_OFFSET).default(0).meta({ description: 'Number of items to skip.' }),
  });
}

/** The part of a list reply that says which page it is. */
export const pagination = () =>
  z.strictObject({ total: z.int(), limit: z.int(), offset: z.int() }).meta({ id: 'Pagination' });

/** A text `true` or `false` in a query. Parsing converts it to a boolean. */
export const queryFlag = lazy(() =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .transform((value) => value === 'true')
    .meta({ type: 'boolean' }),
);

/**
 * A time in a query: a timestamp, seconds or milliseconds since 1970, or a day in UTC. `day` says whether a day means
 * its beginning or its end.
 */
export function moment(day: 'begin' | 'end') {
  return z
    .union([timestamp(), z.iso.datetime({ offset: true }), z.iso.date(), z.string().regex(/^\d{1,15}$/)], {
      error:
        'must be a time such as 2026-01-05T09:00:00.000Z, a day such as 2026-01-05, or seconds or milliseconds ' +
        'since 1970 such as 1767603600',
    })
    .transform((value) => toDate(value, TIMES_OF_DAY[day]).toISOString())
    .refine((time) => /^(?!0000)\d{4}-/.test(time), 'must be in the years 0001 to 9999')
    .meta({
      type: 'string',
      description:
        'A time in ISO 8601; or the time since 1970 as a whole number: seconds if it is below 100,000,000,000, ' +
        'otherwise milliseconds; or a day, which means the ' +
        `${day === 'begin' ? 'beginning' : 'end'} of that day in UTC.`,
    });
}

function toDate(text: string, timeOfDay: string): Date {
  const number = Number(text);
  if (Number.isNaN(number)) return new Date(text.includes('T') ? text : text + timeOfDay);
  return new Date(number < LEAST_MILLISECONDS ? number * 1000 : number);
}

const TIMES_OF_DAY = { begin: 'T00:00:00.000Z', end: 'T23:59:59.999Z' };

/**
 * The lowest number that is read as milliseconds since 1970; this number means a time in March 1973. A lower number is
 * read as seconds. Read as seconds, this number would mean a time in the year 5138.
 */
const LEAST_MILLISECONDS = 100_000_000_000;

/** The values that can be sent for a field of a query: the text, or the value that the text is parsed to. */
export type QueryValue<Input, Output> = unknown extends Input
  ? Output
  : Input | Output | (string extends Input ? Date : never);
