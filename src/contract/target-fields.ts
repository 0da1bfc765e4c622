import { z } from 'zod';

/** The id of a tenant, in a control call. */
export const tenantField = z.guid('must be the UUID of a tenant').toLowerCase();

/** A time as code has it, such as that of `clock.now()`; it becomes a text in ISO 8601. */
export const dateField = z.date().transform((date) => date.toISOString());

/** The id of a webhook, in a control call. */
export const webhookField = z.guid('must be the UUID of a webhook').toLowerCase();
