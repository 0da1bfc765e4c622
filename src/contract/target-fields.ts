import { z } from 'zod';

/** The id of a tenant, in a control call. */
export const tenantField = z.guid('must be the UUID of a tenant').toLowerCase();

/** The id of a webhook, in a control call. */
export const webhookField = z.guid('must be the UUID of a webhook').toLowerCase();
