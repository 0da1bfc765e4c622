import { z } from 'zod';
import { type Duration, durationField, parseDuration } from '../clock/duration.ts';
import { EVENT_KINDS, type EventKind } from '../contract/events.ts';
import { parseOrRefuse } from '../contract/invalid.ts';
import type { Deliverer } from '../delivery/deliverer.ts';
import { DELIVERY_STATES, type Delivery, type DeliveryFilter, type DeliveryLosses } from '../delivery/delivery.ts';
import { HOSTILE_PLAN_NAMES, type HostilePlan, type HostilePlanName } from '../delivery/hostile.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import { findWorlds, tenantField, webhookField } from './find-worlds.ts';
import type { TenantOption } from './mailbox-clock.ts';
import { type TriggerOptions, trigger } from './trigger.ts';

/** What is to go wrong with deliveries to come. */
export interface HostileOptions extends TenantOption {
  /**
   * What goes wrong; or `release`, which lets go what is held, or `none`, which ends every plan that has not come true.
   */
  readonly plan: HostilePlanName | 'release' | 'none';
  /** The id of the only webhook that it is about. */
  readonly webhookId?: string | undefined;
  /** How many deliveries; 1 if left out, and for `release` every one. */
  readonly count?: number | undefined;
  /** For `delay`: by how much; a minute if left out. */
  readonly delay?: Duration | undefined;
}

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
   * Makes deliveries to come go wrong, and answers the plans that stand; without options it only answers.
   *
   * @throws {ApiError} VALIDATION_ERROR for a plan that there is not, NOT_FOUND for a tenant or a webhook that is not
   *   there; then no plan has changed.
   * @example
   * mailbox.hostile({ webhookId, plan: 'duplicate', count: 1 });
   */
  hostile(options?: HostileOptions): HostilePlan[];
}

/** Which deliveries are wanted. */
export const deliveryFilter = z.strictObject(
  {
    tenant: tenantField.optional(),
    webhookId: webhookField.optional(),
    event: z.enum(EVENT_KINDS, `must be one of ${EVENT_KINDS.join(', ')}`).optional(),
    state: z.enum(DELIVERY_STATES, `must be one of ${DELIVERY_STATES.join(', ')}`).optional(),
  },
  'must be an object',
);

const PLAN_NAMES = [...HOSTILE_PLAN_NAMES, 'release', 'none'] as const;

const COUNT_RULE = 'must be a whole number from 1 to 1000000';

/** What is to go wrong, as a control call has it. */
export const hostileOptions = z.strictObject(
  {
    tenant: tenantField.optional(),
    webhookId: webhookField.optional(),
    plan: z.enum(PLAN_NAMES, `must be one of ${PLAN_NAMES.join(', ')}`),
    count: z.int(COUNT_RULE).min(1, COUNT_RULE).max(1_000_000, COUNT_RULE).optional(),
    delay: durationField.default('1m'),
  },
  'must be an object',
);

type ParsedHostileOptions = z.output<typeof hostileOptions>;

/** Makes the webhook lab of a mailbox. */
export function createWebhookLab(worlds: Worlds, events: EventBus, deliverer: Deliverer): WebhookLab {
  const standing = () => worlds.all().flatMap((world) => standingIn(world, deliverer.of(world).plans.list()));

  return {
    deliveries: (filter = {}) => deliverer.list(parseOrRefuse('The filter', deliveryFilter, filter)),
    delivery: (id) => deliverer.find(id).delivery,
    losses({ tenant } = {}) {
      return deliverer.losses(tenant?.toLowerCase());
    },
    redeliver(id) {
      const { delivery, deliveries } = deliverer.find(id);
      deliveries.redeliver(delivery);
      return deliverer.find(id).delivery;
    },
    trigger: (kind, options) => deliverer.collect(() => trigger({ worlds, events }, kind, options)),
    hostile(options) {
      if (options === undefined) return standing();
      const parsed = parseOrRefuse('The plan', hostileOptions, options);
      for (const world of findWorlds(worlds, parsed)) change(deliverer, world, parsed);
      return standing();
    },
  };
}

/** The plans that can still come true: a webhook may be gone. */
function standingIn({ webhooks }: World, plans: HostilePlan[]): HostilePlan[] {
  return plans.filter((planned) => planned.webhookId === null || webhooks.get(planned.webhookId));
}

function change(deliverer: Deliverer, world: World, { plan, count, webhookId, delay }: ParsedHostileOptions): void {
  const deliveries = deliverer.of(world);
  if (plan === 'release') deliveries.release(count ?? Number.POSITIVE_INFINITY, webhookId);
  else if (plan === 'none') deliveries.plans.clear(webhookId);
  else {
    const delayMs = plan === 'delay' ? parseDuration(delay) : 0;
    deliveries.plans.add({ plan, tenantId: world.id, webhookId: webhookId ?? null, count: count ?? 1, delayMs });
  }
}
