import type { BehaviourValues } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import type { PartOf } from '../../world/store/parts.ts';
import type { WebhookRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { MailEvent } from '../journal/entry-data.ts';
import { type EntryOf, MAIL_ENTRY_KINDS, type MailEntryKind } from '../journal/entry-kinds.ts';
import type { Journals } from '../journal/journals.ts';
import type { Delivery, DeliveryFilter, DeliveryLosses } from './delivery.ts';
import { matchesDelivery } from './matches-delivery.ts';
import { toPayload } from './request.ts';
import type { Schedule } from './schedule.ts';

/** A function that returns the schedule of a tenant. Its method `in` returns the schedules of several tenants. */
export type ScheduleGetter = PartOf<Schedule, World>;

/** Turns the events of a mailbox into deliveries to its webhooks. */
export class Dispatcher {
  readonly scheduleOf: ScheduleGetter;

  /** Creates the dispatcher of a mailbox, which creates deliveries for the events in the journal. */
  constructor(worlds: Worlds, journals: Journals, scheduleOf: ScheduleGetter, behaviours: BehaviourValues) {
    this.scheduleOf = scheduleOf;
    journals.subscribe(MAIL_ENTRY_KINDS, (entry) => {
      const world = worlds.get(entry.tenantId ?? '');
      if (world) createDeliveries(world, entry, scheduleOf, behaviours);
    });
  }

  /** Returns the deliveries that match a filter, grouped by tenant; in each group, the oldest is first. */
  list(worlds: readonly World[], { tenant, ...filter }: DeliveryFilter = {}): Delivery[] {
    const schedules = this.scheduleOf.in(worlds.filter(({ id }) => tenant === undefined || id === tenant));
    return schedules.flatMap(({ log }) => log.all().filter((delivery) => matchesDelivery(delivery, filter)));
  }

  /** Finds a delivery and its schedule. @throws {ApiError} NOT_FOUND if no log of these tenants has the delivery. */
  find(worlds: readonly World[], id: string): { readonly delivery: Delivery; readonly schedule: Schedule } {
    for (const schedule of this.scheduleOf.in(worlds)) {
      const delivery = schedule.log.get(String(id).toLowerCase());
      if (delivery) return { delivery, schedule };
    }
    throw new ApiError('NOT_FOUND', 'There is no delivery with this id in the log.');
  }

  /** Returns how many deliveries were removed since the last reset because a log was full. */
  losses(worlds: readonly World[]): DeliveryLosses {
    const losses = this.scheduleOf.in(worlds).map((schedule) => schedule.losses());
    return { dropped: sum(losses.map((each) => each.dropped)), forgotten: sum(losses.map((each) => each.forgotten)) };
  }

  /** Counts the deliveries that wait in the queues. */
  countWaiting(worlds: readonly World[]): number {
    return sum(this.scheduleOf.in(worlds).map((schedule) => schedule.waitingCount));
  }

  /** Returns the deliveries in flight. */
  inFlight(worlds: readonly World[]): Delivery[] {
    return this.scheduleOf.in(worlds).flatMap((schedule) => schedule.inFlight());
  }

  /** Returns whether a request is being sent whose header `webhook-id` has this value. */
  isSending(worlds: readonly World[], headerValue: string): boolean {
    return this.inFlight(worlds).some(({ id, eventId }) => headerValue === id || headerValue === eventId);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Creates a delivery for each webhook that gets an event. */
function createDeliveries(
  world: World,
  entry: EntryOf<MailEntryKind>,
  scheduleOf: ScheduleGetter,
  behaviours: BehaviourValues,
): void {
  const webhooks = world.webhooks.all().filter((webhook) => reasonToSkip(webhook, entry.data) === undefined);
  if (webhooks.length === 0) return;
  const payload = toPayload(entry.data, behaviours);
  // The payload is serialized once for all deliveries.
  const content = JSON.stringify(payload);
  const schedule = scheduleOf(world);
  for (const webhook of webhooks) schedule.create(entry, webhook, payload, content);
}

/**
 * Returns why a webhook does not get an event; `undefined` if it gets it. The webhook must be active, list the kind of the
 * event, and have the inbox in its scope. An event that a test triggers for one webhook goes only to that webhook, even
 * if it is inactive.
 */
export function reasonToSkip(
  { id, workspaceId, events, isActive }: WebhookRow,
  mailEvent: Pick<MailEvent, 'event' | 'workspaceId' | 'webhookId'>,
): string | undefined {
  if (mailEvent.webhookId !== undefined)
    return id === mailEvent.webhookId ? undefined : 'the event was for another one';
  if (!isActive) return 'it is not active';
  if (!events.includes(mailEvent.event)) return `it listens only to ${events.join(', ')}`;
  if (workspaceId !== null && workspaceId !== mailEvent.workspaceId) return 'it belongs to another workspace';
  return undefined;
}
