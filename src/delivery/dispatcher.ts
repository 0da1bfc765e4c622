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

/** Makes the events of a mailbox into deliveries to its webhooks. Each tenant has a schedule of its own. */
export class Dispatcher {
  readonly #worlds: Worlds;
  readonly #context: DeliveryContext;
  readonly #schedules = new Map<World, Schedule>();
  /** The ids of the deliveries that `collect` has seen so far, while it runs. */
  #collected: string[] | undefined;

  /** Creates the dispatcher of a mailbox and subscribes it to the events. */
  constructor(worlds: Worlds, events: EventBus, context: DeliveryContext) {
    this.#worlds = worlds;
    this.#context = context;
    events.subscribe((event) => {
      const world = worlds.get(event.tenantId);
      const opened = world ? openDeliveries(event, world, this.of(world), context.choices) : [];
      this.#collected?.push(...opened);
    });
    worlds.onRemoved((world) => {
      this.#schedules.get(world)?.end();
      this.#schedules.delete(world);
    });
  }

  /** The deliveries of one tenant. */
  of(world: World): Schedule {
    const schedule = this.#schedules.get(world) ?? new Schedule(world, this.#context);
    this.#schedules.set(world, schedule);
    return schedule;
  }

  /** The deliveries that match a filter, tenant by tenant, oldest first. */
  list(filter: DeliveryFilter = {}): Delivery[] {
    return this.#all().flatMap(({ log }) => log.all().filter((delivery) => isWanted(delivery, filter)));
  }

  /** @throws {ApiError} NOT_FOUND when the log has no such delivery. */
  find(id: string): { readonly delivery: Delivery; readonly deliveries: Schedule } {
    const found = this.#lookUp(id);
    if (found) return found;
    throw new ApiError('NOT_FOUND', 'There is no delivery with this id in the log.');
  }

  /** The deliveries of the events that are published while `publish` runs. */
  collect(publish: () => void): Delivery[] {
    const ids: string[] = [];
    const outer = this.#collected;
    this.#collected = ids;
    try {
      publish();
    } finally {
      this.#collected = outer;
    }
    // The log may have had no room for the first of many.
    return ids.flatMap((id) => this.#lookUp(id)?.delivery ?? []);
  }

  /** What the full logs of a tenant, or of all, have lost since the last reset. */
  losses(tenantId?: string): DeliveryLosses {
    const worlds = [...this.#schedules].filter(([{ id }]) => tenantId === undefined || id === tenantId);
    const losses = worlds.map(([, schedule]) => schedule.losses());
    return { dropped: sum(losses.map(({ dropped }) => dropped)), forgotten: sum(losses.map((each) => each.forgotten)) };
  }

  /** How many deliveries wait for what is being sent. */
  waiting(): number {
    return sum(this.#all().map((schedule) => schedule.waiting));
  }

  /** The deliveries that are being sent at present. */
  inFlight(): Delivery[] {
    return this.#all().flatMap((schedule) => schedule.inFlight());
  }

  /** Aborts and forgets every delivery. */
  reset(): void {
    for (const schedule of this.#schedules.values()) schedule.end();
    this.#schedules.clear();
  }

  #all(): Schedule[] {
    return this.#worlds.all().flatMap((world) => this.#schedules.get(world) ?? []);
  }

  #lookUp(id: string) {
    for (const deliveries of this.#all()) {
      const delivery = deliveries.log.get(String(id).toLowerCase());
      if (delivery) return { delivery, deliveries };
    }
    return undefined;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function isWanted(delivery: Delivery, { tenant, webhookId, event, state }: DeliveryFilter): boolean {
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
  // Serialized once for all of them.
  const content = JSON.stringify(payload);
  return matching.map((webhook) => schedule.open(event, webhook, payload, content));
}

/** Says whether a webhook gets an event: it is active, lists the kind, and has the inbox in its scope. */
function matches({ id, workspaceId, events, isActive }: WebhookRow, event: MailEvent): boolean {
  if (event.webhookId !== undefined) return id === event.webhookId;
  return isActive && events.includes(event.kind) && (workspaceId === null || workspaceId === event.workspaceId);
}
