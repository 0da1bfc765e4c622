import { z } from 'zod';
import type { InputOf } from '../../basics/input-of.ts';
import { lazy } from '../../basics/lazy.ts';
import { EVENT_KINDS, type EventKind } from '../../contract/events.ts';
import type { DeliveryFaultKind } from '../../world/delivery-fault.ts';
import { tenantField, webhookField } from '../../world/target-fields.ts';
import type { DeliveryPayload } from './request.ts';

/** Every state of a delivery. */
export const DELIVERY_STATES = ['pending', 'held', 'delivered', 'exhausted', 'dropped', 'refused', 'failed'] as const;

/**
 * The state of a delivery. `pending`: it is being sent or waits for its next attempt. `held`: a fault holds it until it
 * is released. Final states: `delivered`, `exhausted` (the last attempt failed), `dropped` (ended before its next
 * attempt by a fault, by a full log, or because its webhook is deleted or inactive), `refused` (the emulator may not
 * call this address), `failed` (a bug in the emulator ended it).
 */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One attempt to send a delivery, and its result. */
export interface Attempt {
  /** When it was made, by the tenant's clock. */
  readonly at: string;
  /** The URL to which the request was sent: that of the webhook at that time, or the one given to `redeliver`. */
  readonly url: string;
  /** The request headers that the emulator set, by lower-case name, with the signatures. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** The body exactly as it was sent, in UTF-8. */
  readonly requestBody: string;
  /** The fault that applied to it, such as `wrong-secret`; null if none did. */
  readonly fault: DeliveryFaultKind | null;
  /** The id of this fault. */
  readonly faultId: string | null;
  /** The HTTP status of the response; null if there was no response. */
  readonly status: number | null;
  /** The headers of the response, by lower-case name; empty if there was no response. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The body of the response, at most its first 16 KiB. */
  readonly responseBody: string;
  /** Why it failed, in a sentence; null if it succeeded. */
  readonly error: string | null;
  /** How long it took, in milliseconds of real time. */
  readonly durationMs: number;
  /** When the next attempt is due after this one; null if this is the last one. */
  readonly nextAttemptAt: string | null;
}

/** One event for one webhook. */
export interface Delivery {
  /** The id of the delivery, a UUID; redelivering keeps it. */
  readonly id: string;
  /** The id of the tenant in which the event happened. */
  readonly tenantId: string;
  /** The id of the webhook to which it is sent. */
  readonly webhookId: string;
  /** The kind of the event. */
  readonly event: EventKind;
  /** The id of the event; all deliveries of one event have the same. */
  readonly eventId: string;
  /** The body of the request as an object, the same in every attempt; frozen. */
  readonly payload: DeliveryPayload;
  /** The current state. */
  readonly state: DeliveryState;
  /** Why it is held, dropped, refused, failed or exhausted, in a sentence; null otherwise. */
  readonly reason: string | null;
  /** When the delivery was created: ISO 8601 UTC, in the tenant's time. */
  readonly createdAt: string;
  /** When the next attempt is due; null if none is scheduled, such as during the first attempt. */
  readonly nextAttemptAt: string | null;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
}

/** How many deliveries were removed from the delivery log because it was full. */
export interface DeliveryLosses {
  /**
   * Deliveries that still waited for a further attempt. They end in the state `dropped`, so that attempt is never made.
   */
  readonly dropped: number;
  /** Deliveries that had already ended. Nothing else happens to them; they are only no longer in the log. */
  readonly forgotten: number;
}

const filterFields = () => ({
  /** Only deliveries of the tenant with this id. */
  tenant: tenantField().optional(),
  /** Only deliveries to the webhook with this id. */
  webhookId: webhookField().optional(),
  /** Only deliveries of events of this kind. */
  event: z.enum(EVENT_KINDS, `must be one of ${EVENT_KINDS.join(', ')}`).optional(),
  /** Only deliveries in this state. */
  state: z.enum(DELIVERY_STATES, `must be one of ${DELIVERY_STATES.join(', ')}`).optional(),
});

/** The schema of a delivery filter. */
export const deliveryFilter = lazy(() => z.strictObject(filterFields(), 'must be an object'));

/** Selects deliveries. A delivery must match every field that is given; without fields, all match. */
export type DeliveryFilter = InputOf<ReturnType<typeof filterFields>>;
