import { z } from 'zod';
import { lazy } from '../basics/lazy.ts';
import { isKeyText, TIERS } from '../contract/tiers.ts';

/** The id of a tenant, in a control call. */
export const tenantField = lazy(() => z.guid('must be the UUID of a tenant').toLowerCase());

/** A time as code has it, such as that of `clock.now()`; it becomes a text in ISO 8601. */
export const dateField = lazy(() => z.date().transform((date) => date.toISOString()));

/** The id of a webhook, in a control call. */
export const webhookField = lazy(() => z.guid('must be the UUID of a webhook').toLowerCase());

const KEY_RULE = 'must be an API key, such as tk_acme_tenant_key';

/** The key of the client to which a fault applies. */
export const keyField = lazy(() => z.string(KEY_RULE).refine(isKeyText, KEY_RULE));

/** The tier of the client to which a fault applies. */
export const tierField = lazy(() => z.enum(TIERS, `must be one of ${TIERS.join(', ')}`));
