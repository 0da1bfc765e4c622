import type { EventKind } from '../contract/events.ts';
import type { DeliveryPayload } from './request.ts';

/** Every state of a delivery. */
export const DELIVERY_STATES = ['pending', 'held', 'delivered', 'exhausted', 'dropped', 'refused', 'failed'] as const;

/**
 * Where a delivery stands. `pending`: it is being sent or waits for its next attempt. `held`: it waits to be released.
 * Over are `delivered`, `exhausted` (the last attempt failed), `dropped` (by a fault, or because its webhook is
 * gone or inactive), `refused` (the emulator may not call this address) and `failed` (a bug in the emulator ended it).
 */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One try at sending a delivery, and what came of it. */
export interface Attempt {
  /** When it was made, in the tenant's time. */
  readonly at: string;
  /** The URL of the webhook at that time, to which the request was sent. */
  readonly url: string;
  /** The request headers that the emulator set, by lower-case name, with the signatures. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** The body exactly as it was sent, in UTF-8. */
  readonly requestBody: string;
  /** The status that the receiver answered; null when none came. */
  readonly status: number | null;
  /** The headers of the response, by lower-case name; empty if there was no response. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** What the receiver answered, at most its first 16 KiB. */
  readonly responseBody: string;
  /** Why it failed, in a sentence; null when it did not. */
  readonly error: string | null;
  /** How long it took, in real time. */
  readonly durationMs: number;
  /** When the next attempt was then due; null where none was to follow. */
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
  /** The id of the event, the same for every webhook that gets it. */
  readonly eventId: string;
  /** The body of the request as an object, the same in every attempt; frozen. */
  readonly payload: DeliveryPayload;
  /** Where the delivery stands now. */
  readonly state: DeliveryState;
  /** Why it is held, dropped, refused, failed or exhausted, in a sentence; null otherwise. */
  readonly reason: string | null;
  /** When the delivery was created: ISO 8601 UTC, in the tenant's time. */
  readonly createdAt: string;
  /** When the next attempt is due; null where there is none to come, and while it is being sent for the first time. */
  readonly nextAttemptAt: string | null;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
}

/** How many deliveries a full log has lost. */
export interface DeliveryLosses {
  /** Those that were still to be tried again, and never will be. */
  readonly dropped: number;
  /** Those that were over; they are only no longer listed. */
  readonly forgotten: number;
}

/** The message of an error, without a full stop at its end. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
