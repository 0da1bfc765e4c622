import { z } from 'zod';
import type { EventKind } from '../contract/events.ts';
import type { InputOf } from '../contract/input-of.ts';
import { parseOrRefuse } from '../contract/invalid.ts';
import { tenantField, webhookField } from '../contract/target-fields.ts';
import type { Delivery, DeliveryLosses } from '../delivery/delivery.ts';
import { type DeliveryFilter, deliveryFilter } from '../delivery/delivery-filter.ts';
import type { Dispatcher } from '../delivery/dispatcher.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import { findWorlds } from './find-worlds.ts';
import type { TenantOption } from './mailbox-clock.ts';
import { type TriggerOptions, trigger } from './trigger.ts';

/** The control methods for webhook deliveries. */
export interface DeliveryControls {
  /**
   * Returns the deliveries of every event to every webhook, oldest first, with each attempt.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid filter.
   * @example
   * const [delivery] = mailbox.deliveries({ webhookId, state: 'delivered' });
   */
  deliveries(filter?: DeliveryFilter): Delivery[];
  /** Returns one delivery. @throws {ApiError} NOT_FOUND if the log does not contain it. */
  delivery(id: string): Delivery;
  /** Returns how many deliveries were removed because a delivery log was full, for all tenants or for one. */
  losses(options?: TenantOption): DeliveryLosses;
  /**
   * Sends a delivery again, immediately, with the same id and a new signature. It may be in any state, but no attempt
   * of it may be running. If the new attempt fails, the retries start again from the first delay.
   *
   * @throws {ApiError} NOT_FOUND if the log does not contain the delivery; CONFLICT while it is being sent, or if its
   *   webhook was deleted.
   */
  redeliver(id: string): Delivery;
  /**
   * Triggers an event and returns the deliveries that it created.
   *
   * @throws {ApiError} VALIDATION_ERROR for an unknown kind or an invalid payload, NOT_FOUND for an unknown tenant,
   *   webhook or inbox. After an error no event is triggered.
   * @example
   * mailbox.trigger('message.bounced', { inboxId, subject: 'Invoice 12' });
   */
  trigger(kind: EventKind, options?: TriggerOptions): Delivery[];
  /**
   * Sends deliveries that a fault has held back, at most `count`, and returns them. The order is tenant by tenant,
   * oldest first.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid count, NOT_FOUND for an unknown tenant or webhook.
   * @example
   * mailbox.release({ webhookId, count: 1 });
   */
  release(options?: ReleaseOptions): Delivery[];
}

const COUNT_RULE = 'must be a whole number from 1 to 1000000';

const releaseFields = {
  /** Release only deliveries of the tenant with this id. */
  tenant: tenantField.optional(),
  /** Release only deliveries to the webhook with this id. */
  webhookId: webhookField.optional(),
  /** Maximum number of deliveries to release. Default: all. */
  count: z.int(COUNT_RULE).min(1, COUNT_RULE).max(1_000_000, COUNT_RULE).optional(),
};

/** The schema of the options of `release`. */
export const releaseOptions = z.strictObject(releaseFields, 'must be an object');

/** The options of `release`: which held deliveries to send. */
export type ReleaseOptions = InputOf<typeof releaseFields>;

/** Creates the delivery controls of a mailbox. */
export function createDeliveryControls(
  worlds: ReachableWorlds,
  events: EventBus,
  dispatcher: Dispatcher,
): DeliveryControls {
  return {
    deliveries: (filter = {}) => dispatcher.list(worlds.all(), parseOrRefuse('The filter', deliveryFilter, filter)),
    delivery: (id) => dispatcher.find(worlds.all(), id).delivery,
    losses({ tenant } = {}) {
      const id = tenant?.toLowerCase();
      return dispatcher.losses(worlds.all().filter((world) => id === undefined || world.id === id));
    },
    redeliver(id) {
      const { delivery, schedule } = dispatcher.find(worlds.all(), id);
      schedule.redeliver(delivery);
      return dispatcher.find(worlds.all(), id).delivery;
    },
    trigger: (kind, options) => dispatcher.deliveriesCreatedBy(() => trigger({ worlds, events }, kind, options)),
    release(options = {}) {
      const { count = Number.POSITIVE_INFINITY, ...target } = parseOrRefuse(
        'The input of release',
        releaseOptions,
        options,
      );
      const released: Delivery[] = [];
      for (const world of findWorlds(worlds, target)) {
        released.push(...dispatcher.scheduleOf(world).release(count - released.length, target.webhookId));
      }
      return released;
    },
  };
}
