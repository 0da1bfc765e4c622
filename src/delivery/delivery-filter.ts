import { z } from 'zod';
import { EVENT_KINDS } from '../contract/events.ts';
import type { InputOf } from '../contract/input-of.ts';
import { tenantField, webhookField } from '../contract/target-fields.ts';
import { DELIVERY_STATES } from './delivery.ts';

const filterFields = {
  /** Only deliveries of the tenant with this id. */
  tenant: tenantField.optional(),
  /** Only deliveries to the webhook with this id. */
  webhookId: webhookField.optional(),
  /** Only deliveries of events of this kind. */
  event: z.enum(EVENT_KINDS, `must be one of ${EVENT_KINDS.join(', ')}`).optional(),
  /** Only deliveries in this state. */
  state: z.enum(DELIVERY_STATES, `must be one of ${DELIVERY_STATES.join(', ')}`).optional(),
};

/** The schema of a delivery filter. */
export const deliveryFilter = z.strictObject(filterFields, 'must be an object');

/** Selects deliveries. A delivery must match every field that is given; without fields, all match. */
export type DeliveryFilter = InputOf<typeof filterFields>;
