import { z } from 'zod';
import type { InputOf } from '../../basics/input-of.ts';
import { lazy } from '../../basics/lazy.ts';
import { OPERATION_IDS } from '../../contract/operations.ts';
import { wholeNumber } from '../../contract/query.ts';
import { dateField, tenantField } from '../../world/target-fields.ts';

const STATUS_RULE = 'must be a status from 100 to 599';
const SINCE_RULE = 'must be a time such as 2026-01-05T09:00:00.000Z';

/** The highest `limit`, which is more than a journal keeps. */
const MAX_LIMIT = 1_000_000_000;

const timeText = () => z.iso.datetime({ offset: true, error: SINCE_RULE });

const filterFields = () => ({
  /** Only what came by this protocol: `http`, `smtp` or `imap`. */
  protocol: z.enum(['http', 'smtp', 'imap'], 'must be http, smtp or imap').optional(),
  /** Only requests for this operation, such as `createWebhook`. */
  operation: z
    .string('must be the name of an operation')
    .refine(
      (id) => OPERATION_IDS.some((known) => known === id),
      'must be the name of an operation, such as createWebhook',
    )
    .optional(),
  /** Only requests with this status, from 100 to 599. */
  status: z.int(STATUS_RULE).min(100, STATUS_RULE).max(599, STATUS_RULE).optional(),
  /** Only requests with this API key, given as it is or as the journal shows it. */
  key: z.string('must be an API key').optional(),
  /** Only requests since this time, by the clock of the tenant: ISO 8601, or in code a `Date`. */
  since: z.union([timeText(), dateField()], SINCE_RULE).optional(),
  /** Only requests with a key of the tenant with this id. */
  tenant: tenantField().optional(),
  /** Only requests after the one with this id, such as `req_12`, to read a long journal in parts. */
  after: z
    .string('must be the id of a request')
    .regex(/^req_\d{1,15}$/, 'must be the id of a request, such as req_12')
    .optional(),
  /** At most this many requests, the oldest that match. Default: all. */
  limit: wholeNumber(1, MAX_LIMIT).optional(),
});

/** The schema of a request filter. */
export const requestFilter = lazy(() => z.strictObject(filterFields(), 'must be an object'));

/** The schema of a request filter in a query, where all values are texts. */
export const requestQuery = () =>
  requestFilter().extend({
    status: z.preprocess((value) => (/^\d{3}$/.test(String(value)) ? Number(value) : value), filterFields().status),
    since: timeText().optional(),
    format: z.enum(['har', 'summary'], 'must be har or summary').optional(),
  });

/** Selects requests. A request must match every field that is given; without fields, all match. */
export type RequestFilter = InputOf<ReturnType<typeof filterFields>>;

/** A request filter after its parsing. */
export type ParsedRequestFilter = z.output<ReturnType<typeof requestFilter>>;
