import type { Choices } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { EventBus, MailEvent } from '../events/event-bus.ts';
import type { WebhookRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import type { DeliveryContext } from './attempt.ts';
import type { Delivery, DeliveryLosses } from './delivery.ts';
import type { DeliveryFilter } from './delivery-filter.ts';
import { toPayload } from './request.ts';
import { Schedule } from './schedule.ts';

/** Brings the events of a mailbox to its webhooks, each tenant's apart. */
export interface Dispatcher {
  /** The deliveries of one tenant. */
  of(world: World): Schedule;
  /** The deliveries that fit, tenant by tenant, oldest first. */
  list(filter?: DeliveryFilter): Delivery[];
  /** @throws {ApiError} NOT_FOUND when the log has no such delivery. */
  find(id: string): { readonly delivery: Delivery; readonly deliveries: Schedule };
  /** The deliveries to which the events lead that are published meanwhile. */
  collect(publish: () => void): Delivery[];
  /** What the full logs of a tenant, or of all, have lost since the last reset. */
  losses(tenantId?: string): DeliveryLosses;
  /** The deliveries that are being sent at present. */
  inFlight(): Delivery[];
  /** How many wait for what is being sent. */
  waiting(): number;
  /** Aborts and forgets every delivery. */
  reset(): void;
}

/** Creates the dispatcher of a mailbox, which listens to its events from now on. */
export function createDispatcher(worlds: Worlds, events: EventBus, context: DeliveryContext): Dispatcher {
  let tenants = new Map<World, Schedule>();
  /** The ids of what is opened, while somebody wants to know. */
  let collected: string[] | undefined;

  function of(world: World): Schedule {
    const deliveries = tenants.get(world) ?? new Schedule(world, context);
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
    const opened = world ? openDeliveries(event, world, of(world), context.choices) : [];
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
    waiting: () => all().reduce((sum, deliveries) => sum + deliveries.waiting, 0),
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

/** Opens a delivery for each webhook that matches an event; answers the ids of the deliveries. */
function openDeliveries(event: MailEvent, { webhooks }: World, schedule: Schedule, choices: Choices): string[] {
  const matching = webhooks.all().filter((webhook) => matches(webhook, event));
  if (matching.length === 0) return [];
  const payload = toPayload(event, choices);
  // Written once for all of them.
  const content = JSON.stringify(payload);
  return matching.map((webhook) => schedule.open(event, webhook, payload, content));
}

/** Says whether a webhook gets an event: it is active, lists the kind, and has the inbox in its scope. */
function matches({ id, workspaceId, events, isActive }: WebhookRow, event: MailEvent): boolean {
  if (event.webhookId !== undefined) return id === event.webhookId;
  return isActive && events.includes(event.kind) && (workspaceId === null || workspaceId === event.workspaceId);
}
