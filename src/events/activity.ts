import type { EventKind } from '../contract/events.ts';
import type { Tier } from '../contract/tiers.ts';
import type { EventBus } from './event-bus.ts';

/** Which delivery an entry is about, and where that stands now. */
export interface DeliveryActivity {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly webhookId: string;
  readonly event: EventKind;
  readonly state: string;
  /** Why it is over, in a sentence; null where it is not, or was delivered. */
  readonly reason: string | null;
}

/** An attempt at a delivery, made or refused. */
export interface AttemptActivity extends DeliveryActivity {
  readonly kind: 'attempt';
  /** The status that the receiver answered; null when none came. */
  readonly status: number | null;
  /** Why it failed, in a sentence; null when it did not. */
  readonly error: string | null;
  readonly durationMs: number;
  /** How long it is until the next attempt, in the tenant's time; null where none follows. */
  readonly retryInMs: number | null;
}

/** A delivery that ended without another attempt. */
export interface EndedDeliveryActivity extends DeliveryActivity {
  readonly kind: 'delivery-ended';
}

/** Mail that arrived in an inbox. */
interface MailActivity {
  readonly kind: 'mail';
  readonly tenantId: string;
  readonly inboxId: string;
  readonly messageId: string;
  /** The address of the inbox. */
  readonly inbox: string;
  /** The display form of the sender. */
  readonly from: string;
  readonly subject: string;
}

/** A stream that a client opened, or that ended. */
interface StreamActivity {
  readonly kind: 'stream-opened' | 'stream-closed';
  readonly tenantId: string;
  readonly tier: Tier;
  /** The key that opened it, whole. */
  readonly key: string;
}

/** A failure of the emulator itself. */
interface FailureActivity {
  readonly kind: 'failure';
  readonly error: unknown;
}

/** Something that happened in a mailbox, for logs. */
export type ActivityEntry = AttemptActivity | EndedDeliveryActivity | MailActivity | StreamActivity | FailureActivity;

/** Publishes what happens in a mailbox. */
export type Activity = EventBus<ActivityEntry>;
