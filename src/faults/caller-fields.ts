import { z } from 'zod';
import { isKeyText, TIERS } from '../contract/tiers.ts';

const KEY_RULE = 'must be an API key, such as tk_acme_tenant_key';

/** The key of the client to which a fault applies. */
export const keyField = z.string(KEY_RULE).refine(isKeyText, KEY_RULE);

/** The tier of the client to which a fault applies. */
export const tierField = z.enum(TIERS, `must be one of ${TIERS.join(', ')}`);
