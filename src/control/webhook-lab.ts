import { z } from 'zod';
import type { EventKind } from '../contract/events.ts';
import type { InputOf } from '../contract/input-of.ts';
import { parseOrRefuse } from '../contract/invalid.ts';
import { tenantField, webhookField } from '../contract/target-fields.ts';
import type { Delivery, DeliveryLosses } from '../delivery/delivery.ts';
import { type DeliveryFilter, deliveryFilter } from '../delivery/delivery-filter.ts';
import type { Dispatcher } from '../delivery/dispatcher.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Worlds } from '../store/worlds.ts';
import { findWorlds } from './find-worlds.ts';
import type { TenantOption } from './mailbox-clock.ts';
import { type TriggerOptions, trigger } from './trigger.ts';

/** What a test sees of the deliveries to webhooks, and what it can do to them. */
export interface WebhookLab {
  /**
   * What became of every event, for every webhook: oldest first, with each attempt.
   *
   * @throws {ApiError} VALIDATION_ERROR for a filter that there is not.
   * @example
   * const [delivery] = mailbox.deliveries({ webhookId, state: 'delivered' });
   */
  deliveries(filter?: DeliveryFilter): Delivery[];
  /** One delivery. @throws {ApiError} NOT_FOUND when the log does not have it. */
  delivery(id: string): Delivery;
  /** How many deliveries the full logs of all tenants, or of one, have lost since the last reset. */
  losses(options?: TenantOption): DeliveryLosses;
  /**
   * Sends a delivery once more, now, whatever became of it, with the same id and a new signature. What fails is tried
   * again from the first step of the schedule.
   *
   * @throws {ApiError} NOT_FOUND when the log does not have it; CONFLICT while it is being sent, or when its webhook
   *   is gone.
   */
  redeliver(id: string): Delivery;
  /**
   * Fires an event by hand, and answers the deliveries that it led to.
   *
   * @throws {ApiError} VALIDATION_ERROR for a kind that there is not, NOT_FOUND for a tenant, webhook or inbox that is
   *   not there; then nothing is fired.
   * @example
   * mailbox.trigger('message.bounced', { inboxId, subject: 'Invoice 12' });
   */
  trigger(kind: EventKind, options?: TriggerOptions): Delivery[];
  /**
   * Sends what is held, tenant by tenant, oldest first, and answers what it sends: every one, or as many as `count`
   * says.
   *
   * @throws {ApiError} VALIDATION_ERROR for a count out of range, NOT_FOUND for a tenant or a webhook that is not there.
   * @example
   * mailbox.release({ webhookId, count: 1 });
   */
  release(options?: ReleaseOptions): Delivery[];
}

const COUNT_RULE = 'must be a whole number from 1 to 1000000';

const releaseFields = {
  /** The id of the only tenant whose deliveries are sent. */
  tenant: tenantField.optional(),
  /** The id of the only webhook whose deliveries are sent. */
  webhookId: webhookField.optional(),
  /** How many are sent at most; every one if left out. */
  count: z.int(COUNT_RULE).min(1, COUNT_RULE).max(1_000_000, COUNT_RULE).optional(),
};

/** What `release` takes. */
export const releaseOptions = z.strictObject(releaseFields, 'must be an object');

/** Which of the deliveries that are held are sent. */
export type ReleaseOptions = InputOf<typeof releaseFields>;

/** Makes the webhook lab of a mailbox. */
export function createWebhookLab(worlds: Worlds, events: EventBus, dispatcher: Dispatcher): WebhookLab {
  return {
    deliveries: (filter = {}) => dispatcher.list(parseOrRefuse('The filter', deliveryFilter, filter)),
    delivery: (id) => dispatcher.find(id).delivery,
    losses({ tenant } = {}) {
      return dispatcher.losses(tenant?.toLowerCase());
    },
    redeliver(id) {
      const { delivery, deliveries } = dispatcher.find(id);
      deliveries.redeliver(delivery);
      return dispatcher.find(id).delivery;
    },
    trigger: (kind, options) => dispatcher.collect(() => trigger({ worlds, events }, kind, options)),
    release(options = {}) {
      const { count = Number.POSITIVE_INFINITY, ...named } = parseOrRefuse('The release', releaseOptions, options);
      const released: Delivery[] = [];
      for (const world of findWorlds(worlds, named)) {
        released.push(...dispatcher.scheduleOf(world).release(count - released.length, named.webhookId));
      }
      return released;
    },
  };
}
