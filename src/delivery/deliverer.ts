import { ApiError } from '../contract/errors.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import type { Delivery, DeliveryFilter, DeliveryLosses } from './delivery.ts';
import type { DeliveryContext } from './make-attempt.ts';
import { createTenantDeliveries, type TenantDeliveries } from './tenant-deliveries.ts';

/** Brings the events of a mailbox to its webhooks, each tenant's apart. */
export interface Deliverer {
  /** The deliveries of one tenant. */
  of(world: World): TenantDeliveries;
  /** The deliveries that fit, tenant by tenant, oldest first. */
  list(filter?: DeliveryFilter): Delivery[];
  /** @throws {ApiError} NOT_FOUND when the log has no such delivery. */
  find(id: string): { readonly delivery: Delivery; readonly deliveries: TenantDeliveries };
  /** The deliveries to which the events lead that are published meanwhile. */
  collect(publish: () => void): Delivery[];
  /** What the full logs of a tenant, or of all, have lost since the last reset. */
  losses(tenantId?: string): DeliveryLosses;
  /** The deliveries that are being sent at present. */
  inFlight(): Delivery[];
  /** How many wait for what is being sent. */
  waiting(): number;
  /** Breaks off and forgets every delivery and every plan. */
  reset(): void;
}

/** Creates the deliverer of a mailbox, which listens to its events from now on. */
export function createDeliverer(worlds: Worlds, events: EventBus, context: DeliveryContext): Deliverer {
  let tenants = new Map<World, TenantDeliveries>();
  /** The ids of what is opened, while somebody wants to know. */
  let collected: string[] | undefined;

  function of(world: World): TenantDeliveries {
    const deliveries = tenants.get(world) ?? createTenantDeliveries(world, context);
    tenants.set(world, deliveries);
    return deliveries;
  }

  const all = () => worlds.all().flatMap((world) => tenants.get(world) ?? []);

  function lookUp(id: string) {
    for (const deliveries of all()) {
      const delivery = deliveries.log.get(String(id).toLowerCase());
      if (delivery) return { delivery, deliveries };
    }
    return undefined;
  }

  events.subscribe((event) => {
    const world = worlds.get(event.tenantId);
    const opened = world ? of(world).accept(event) : [];
    collected?.push(...opened);
  });
  worlds.onRemoved((world) => {
    tenants.get(world)?.end();
    tenants.delete(world);
  });

  return {
    of,
    list: (filter = {}) => all().flatMap(({ log }) => log.all().filter((delivery) => fits(delivery, filter))),
    find(id) {
      const found = lookUp(id);
      if (found) return found;
      throw new ApiError('NOT_FOUND', 'There is no delivery with this id in the log.');
    },
    collect(publish) {
      const ids: string[] = [];
      const outer = collected;
      collected = ids;
      try {
        publish();
      } finally {
        collected = outer;
      }
      // The log may have had no room for the first of many.
      return ids.flatMap((id) => lookUp(id)?.delivery ?? []);
    },
    losses(tenantId) {
      const losses = [...tenants].filter(([{ id }]) => tenantId === undefined || id === tenantId);
      return losses.reduce((sum, [, each]) => addLosses(sum, each.losses()), { dropped: 0, forgotten: 0 });
    },
    waiting: () => all().reduce((sum, deliveries) => sum + deliveries.waiting(), 0),
    inFlight: () => all().flatMap((deliveries) => deliveries.inFlight()),
    reset() {
      for (const deliveries of tenants.values()) deliveries.end();
      tenants = new Map();
    },
  };
}

function addLosses(one: DeliveryLosses, other: DeliveryLosses): DeliveryLosses {
  return { dropped: one.dropped + other.dropped, forgotten: one.forgotten + other.forgotten };
}

function fits(delivery: Delivery, { tenant, webhookId, event, state }: DeliveryFilter): boolean {
  return (
    (tenant === undefined || delivery.tenantId === tenant) &&
    (webhookId === undefined || delivery.webhookId === webhookId) &&
    (event === undefined || delivery.event === event) &&
    (state === undefined || delivery.state === state)
  );
}
