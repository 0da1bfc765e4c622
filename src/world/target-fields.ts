import { z } from 'zod';
import { lazy } from '../basics/lazy-schema.ts';
import { isKeyText, TIERS } from '../contract/tiers.ts';

/** The id of a tenant, in a control call. */
export const tenantField = lazy(() => z.guid('must be the UUID of a tenant').toLowerCase());

/** A `Date`, such as `clock.now()` returns. Parsing converts it to a text in ISO 8601. */
export const dateField = lazy(() => z.date().transform((date) => date.toISOString()));

/** The id of a webhook, in a control call. */
export const webhookField = lazy(() => z.guid('must be the UUID of a webhook').toLowerCase());

const KEY_RULE = 'must be an API key, such as tk_acme_tenant_key';

/** The key of the client to which a fault applies. */
export const keyField = lazy(() => z.string(KEY_RULE).refine(isKeyText, KEY_RULE));

/** The tier of the client to which a fault applies. */
export const tierField = lazy(() => z.enum(TIERS, `must be one of ${TIERS.join(', ')}`));

/** The maximum of `times` and of `after`. */
export const MAX_COUNT = 1_000_000;

/** A whole number in the body of a control call. */
export function wholeNumber(least: number, most: number) {
  const rule = `must be a whole number from ${least} to ${most}`;
  return z.int(rule).min(least, rule).max(most, rule);
}

/** The options that every fault has: the tenant, after how many events the fault happens, and how many times. */
export const planFields = () => ({
  /** The id of the tenant that the fault applies to. Default: any tenant. */
  tenant: tenantField().optional(),
  /** How many matching events the fault ignores before it happens, from 0 to 1,000,000. Default: 0. */
  after: wholeNumber(0, MAX_COUNT).optional(),
  /** How many times it happens, from 1 to 1,000,000. Default: 1. */
  times: wholeNumber(1, MAX_COUNT).optional(),
});

const count = () => z.int().min(0);

/** The fields that every fault has after it is set. */
export const faultFields = () => ({
  /** The id of the fault, a UUID, for `removeFault`. */
  id: z.string(),
  /** The id of the only tenant that the fault applies to; null for any. */
  tenantId: z.string().nullable().describe('The only tenant to which it applies; null for any.'),
  /** How many more matching events the fault ignores before it happens. */
  after: count().describe('How many more matching events it ignores before it happens.'),
  /** How many more times it will happen. */
  times: count().describe('How many more times it will happen.'),
});

/** The id of a new fault, and the tenant that it applies to. */
export interface FaultIdentity {
  readonly id: string;
  /** The id of the tenant; null for any. */
  readonly tenantId: string | null;
}

/** The options of a fault after they are parsed. */
export type ParsedOptions<Own extends () => z.ZodRawShape> = Readonly<
  z.output<z.ZodObject<ReturnType<Own> & ReturnType<typeof planFields>>>
> & { readonly after: number; readonly times: number };

/**
 * Defines a target, which is what a fault can affect, such as a request or a delivery. Returns the schemas of the
 * options and of the fault, and the function that creates the fault.
 */
export function defineTarget<Options extends () => z.ZodRawShape, Fields extends () => z.ZodRawShape, Created>(
  ownOptions: Options,
  ownFields: Fields,
  create: (options: ParsedOptions<Options>) => Created,
) {
  type AllOptions = ReturnType<Options> & ReturnType<typeof planFields>;
  type AllFields = ReturnType<Fields> & ReturnType<typeof faultFields>;
  return {
    options: lazy(() => z.strictObject({ ...ownOptions(), ...planFields() } as AllOptions)),
    fault: lazy(() => z.strictObject({ ...ownFields(), ...faultFields() } as AllFields)),
    create,
  };
}
