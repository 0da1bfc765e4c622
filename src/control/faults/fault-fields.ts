import { z } from 'zod';
import { lazy } from '../../basics/lazy-schema.ts';
import { isKeyText, TIERS } from '../../contract/tiers.ts';
import type { FaultBasis } from '../../world/fault.ts';
import { MAX_COUNT, tenantField, wholeNumber } from '../call-fields.ts';

const KEY_RULE = 'must be an API key, such as tk_acme_tenant_key';

/** The key of the client to which a fault applies. */
export const keyField = lazy(() => z.string(KEY_RULE).refine(isKeyText, KEY_RULE));

/** The tier of the client to which a fault applies. */
export const tierField = lazy(() => z.enum(TIERS, `must be one of ${TIERS.join(', ')}`));

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

/** The schemas of what every fault has. */
export const basisFields = () => ({
  id: z.string(),
  tenantId: z.string().nullable().describe('The only tenant to which it applies; null for any.'),
  after: count().describe('How many more matching events it ignores before it happens.'),
  times: count().describe('How many more times it will happen.'),
});

/** The options of a fault after they are parsed. */
export type ParsedOptions<Own extends () => z.ZodRawShape> = Readonly<
  z.output<z.ZodObject<ReturnType<Own> & ReturnType<typeof planFields>>>
> & { readonly after: number; readonly times: number };

/** The id of a new fault, and the tenant that it applies to. */
export type FaultIdentity = Pick<FaultBasis, 'id' | 'tenantId'>;

/** A fault without its id and its tenant. */
export type WithoutIdentity<Each> = Omit<Each, keyof FaultIdentity>;
