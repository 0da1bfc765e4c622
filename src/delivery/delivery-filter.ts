import { z } from 'zod';
import { EVENT_KINDS } from '../contract/events.ts';
import type { InputOf } from '../contract/input-of.ts';
import { tenantField, webhookField } from '../contract/target-fields.ts';
import { DELIVERY_STATES } from './delivery.ts';

const filterFields = {
  /** The id of their tenant. */
  tenant: tenantField.optional(),
  /** The id of the webhook to which they go. */
  webhookId: webhookField.optional(),
  /** The kind of their event. */
  event: z.enum(EVENT_KINDS, `must be one of ${EVENT_KINDS.join(', ')}`).optional(),
  /** Where they stand. */
  state: z.enum(DELIVERY_STATES, `must be one of ${DELIVERY_STATES.join(', ')}`).optional(),
};

/** Which deliveries are wanted; each part that is left out admits all. */
export const deliveryFilter = z.strictObject(filterFields, 'must be an object');

/** Which deliveries are wanted; each part that is left out admits all. */
export type DeliveryFilter = InputOf<typeof filterFields>;
