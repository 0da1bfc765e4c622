import { z } from 'zod';
import { lazy, type OutputOf } from '../../basics/lazy-schema.ts';
import { EVENT_KINDS, type EventKind } from '../../contract/events.ts';
import { timestamp } from '../../contract/schemas.ts';
import { DELIVERY_FAULT_KINDS } from '../../world/fault.ts';
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

/** The schemas of the fields of an attempt. */
export const attemptFields = () => ({
  /** When the attempt was made, by the tenant's clock. */
  at: timestamp(),
  /** When the attempt was made, in real time: the `Date` of the emulator's process, which may be a faked one. */
  realTime: timestamp().describe('When the attempt was made, in real time.'),
  /** The URL to which the request was sent: the URL of the webhook at that time, or the URL given to `redeliver`. */
  url: z.string(),
  /** The request headers that the emulator set, by lower-case name, with the signatures. */
  requestHeaders: z.record(z.string(), z.string()),
  /** The body exactly as it was sent, in UTF-8. */
  requestBody: z.string(),
  /** The fault that applied to the attempt, such as `wrong-secret`; null if no fault applied. */
  fault: z.enum(DELIVERY_FAULT_KINDS).nullable().describe('The fault that applied to the attempt.'),
  /** The id of this fault. */
  faultId: z.string().nullable().describe('The id of this fault.'),
  /** The HTTP status of the response; null if there was no response. */
  status: z.int().nullable().describe('The status of the response; null if there was none.'),
  /** The headers of the response, by lower-case name; empty if there was no response. */
  responseHeaders: z.record(z.string(), z.string()),
  /** The body of the response, at most its first 16 KiB. */
  responseBody: z.string().describe('At most the first 16 KiB.'),
  /** Why the attempt failed, in a sentence; null if it succeeded. */
  error: z.string().nullable(),
  /** How long the attempt took, in milliseconds of real time. */
  durationMs: z.number(),
  /** When the next attempt after this attempt is due; null if this is the last attempt. */
  nextAttemptAt: timestamp().nullable(),
});

/** One attempt to send a delivery, and its result. */
export interface Attempt extends OutputOf<ReturnType<typeof attemptFields>> {}

const deliveryFields = () => ({
  /** The id of the delivery, a UUID. It stays the same when the delivery is sent again. */
  id: z.string(),
  /** The id of the tenant in which the event happened. */
  tenantId: z.string(),
  /** The id of the webhook to which the delivery is sent. */
  webhookId: z.string(),
  /** The kind of the event. */
  event: z.enum(EVENT_KINDS),
  /** The id of the event. All deliveries of one event have the same event id. */
  eventId: z.string(),
  /** The body of the request as an object. It is frozen, and the same in every attempt. */
  payload: z
    // The fields are not checked, because a test that triggers an event can set any field to any value.
    .custom<DeliveryPayload>((value) => typeof value === 'object' && value !== null)
    .meta({ type: 'object', description: 'The body of the delivery: the fields of the event.' }),
  /** The current state. */
  state: z.enum(DELIVERY_STATES),
  /** Why the delivery is held, dropped, refused, failed or exhausted, in a sentence; null otherwise. */
  reason: z.string().nullable(),
  /** When the delivery was created: ISO 8601 UTC, in the tenant's time. */
  createdAt: timestamp(),
  /** When the next attempt is due; null if none is scheduled, for example during the first attempt. */
  nextAttemptAt: timestamp().nullable(),
  /** The attempts, oldest first. */
  attempts: z.array(z.strictObject(attemptFields()) as z.ZodType<Attempt>).describe('Oldest first.'),
});

/** The schema of a delivery. */
export const deliveryReply = lazy(() => z.strictObject(deliveryFields()));

/** One event for one webhook. */
export interface Delivery extends OutputOf<ReturnType<typeof deliveryFields>> {}

const lossesFields = () => ({
  /**
   * How many of the removed deliveries still waited for a further attempt. The attempt is never made, and their state
   * is `dropped`.
   */
  dropped: z.int().min(0),
  /** How many of the removed deliveries had already ended. Their removal changes nothing except the log. */
  forgotten: z.int().min(0),
});

/** The schema of `DeliveryLosses`. */
export const lossesReply = lazy(() =>
  z.strictObject(lossesFields()).describe('The number of deliveries that were removed because a log was full.'),
);

/** How many deliveries were removed from the delivery log because it was full. */
export interface DeliveryLosses extends OutputOf<ReturnType<typeof lossesFields>> {}

/** Selects deliveries. A delivery must match every field that is given; without fields, all match. */
export interface DeliveryFilter {
  /** Only deliveries of the tenant with this id. */
  readonly tenant?: string | undefined;
  /** Only deliveries to the webhook with this id. */
  readonly webhookId?: string | undefined;
  /** Only deliveries of events of this kind. */
  readonly event?: EventKind | undefined;
  /** Only deliveries in this state. */
  readonly state?: DeliveryState | undefined;
}
