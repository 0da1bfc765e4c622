import { z } from 'zod';
import type { Choose } from './behaviours.ts';
import { timestamp } from './schemas.ts';

const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;
const MAX_OFFSET = 1_000_000_000;

/** A number as a query carries it: digits, and nothing that only looks like a number. */
function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.preprocess(toNumber, z.int(message).min(least, message).max(most, message));
}

function toNumber(value: unknown): unknown {
  return isDigits(value) && value.length <= 15 ? Number(value) : value;
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^\d+$/.test(value);
}

const AT_LEAST_ONE = 'must be a whole number from 1';

const LIMITS = {
  // Any number of digits is taken, so the document must not name the greatest number that is exact.
  clamped: z.preprocess(
    (value) => (isDigits(value) ? Math.min(Number(value), MAX_LIMIT) : value),
    z.int(AT_LEAST_ONE).min(1, AT_LEAST_ONE).meta({ maximum: undefined }),
  ),
  invalid: wholeNumber(1, MAX_LIMIT),
};

/** The parameters by which a list is paged. */
export function pageQuery(choose: Choose) {
  choose('messages.list.pagination');
  return z.object({
    limit: LIMITS[choose('messages.list.over-limit')]
      .default(DEFAULT_LIMIT)
      .meta({ description: `How many to return at most; ${MAX_LIMIT} is the most there is.` }),
    offset: wholeNumber(0, MAX_OFFSET).default(0).meta({ description: 'How many to pass over first.' }),
  });
}

/** Where a page lies in its list. */
export const pagination = z.strictObject({ total: z.int(), limit: z.int(), offset: z.int() });

/** A switch in a query. */
export const queryFlag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((value) => value === 'true')
  .meta({ type: 'boolean' });

/** A moment in a query: a whole timestamp, or a day in UTC, which stands for its beginning or its end. */
export function moment(day: 'begin' | 'end') {
  return z
    .union([timestamp, z.iso.datetime({ offset: true }), z.iso.date()], {
      error: 'must be a time such as 2026-01-05T09:00:00.000Z or a day such as 2026-01-05',
    })
    .transform((value) => (value.length === DAY.length ? value + TIMES[day] : value))
    .refine((value) => /^(?!0000)\d{4}-/.test(new Date(value).toISOString()), 'must be in the years 0001 to 9999')
    .transform((value) => new Date(value).toISOString())
    .meta({
      type: 'string',
      description: `A time in ISO 8601, or a day, which stands for its ${day === 'begin' ? 'beginning' : 'end'}.`,
    });
}

const DAY = 'YYYY-MM-DD';
const TIMES = { begin: 'T00:00:00.000Z', end: 'T23:59:59.999Z' };
