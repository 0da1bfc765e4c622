import type { EventKind } from '../contract/events.ts';
import type { Tier } from '../contract/tiers.ts';
import type { EventBus } from './event-bus.ts';
import { canonicalAddress } from './store/world.ts';

/** What all activity entries about a delivery have: the delivery and its current state. */
export interface DeliveryActivity {
  /** The id of the delivery. */
  readonly deliveryId: string;
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The id of the webhook. */
  readonly webhookId: string;
  /**
   * The URL of the webhook, or the one to which the attempt was sent, without its login and its query; null if the
   * webhook was deleted.
   */
  readonly url: string | null;
  /** The kind of the event that is delivered. */
  readonly event: EventKind;
  /** The state of the delivery. */
  readonly state: string;
  /** Why it is held or has ended, in a sentence; null otherwise, and if it was delivered. */
  readonly reason: string | null;
}

/** An attempt to send a delivery, even if it was refused. */
export interface AttemptActivity extends DeliveryActivity {
  /** Always `attempt`. */
  readonly kind: 'attempt';
  /** Which attempt of the delivery it is; the first is 1. */
  readonly attempt: number;
  /** The HTTP status of the response; null if there was no response. */
  readonly status: number | null;
  /** Why it failed, in a sentence; null if it succeeded. */
  readonly error: string | null;
  /** How long it took, in milliseconds of real time. */
  readonly durationMs: number;
  /** The time until the next attempt, by the tenant's clock; null if this was the last one. */
  readonly retryInMs: number | null;
}

/** The end of a delivery without another attempt. */
interface EndedDeliveryActivity extends DeliveryActivity {
  /** Always `delivery-ended`. */
  readonly kind: 'delivery-ended';
}

/** A new delivery, which was not tried yet. */
interface NewDeliveryActivity extends DeliveryActivity {
  /** Always `delivery-created`. */
  readonly kind: 'delivery-created';
}

/** A mail that arrived in an inbox. */
interface MailActivity {
  /** Always `mail`. */
  readonly kind: 'mail';
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The id of the inbox. */
  readonly inboxId: string;
  /** The id of the message. */
  readonly messageId: string;
  /** The canonical address of the inbox. */
  readonly inbox: string;
  /** The display form of the sender. */
  readonly from: string;
  /** The subject of the mail. */
  readonly subject: string;
}

/** A mail that did not arrive, because its sender and its recipient exchange too many mails. */
interface HeldMailActivity {
  /** Always `mail-held`. */
  readonly kind: 'mail-held';
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The bare address of the sender. */
  readonly from: string;
  /** The bare address of the recipient. */
  readonly to: string;
  /** The subject of the mail. */
  readonly subject: string;
  /** Why it is held, in a sentence. */
  readonly reason: string;
}

/** A stream that was opened or closed. */
interface StreamActivity {
  /** What happened to the stream. */
  readonly kind: 'stream-opened' | 'stream-closed';
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The tier of the key that opened it. */
  readonly tier: Tier;
  /** The key that opened it; masked in the feed. */
  readonly key: string;
}

/** A failure of the emulator itself. */
interface FailureActivity {
  readonly kind: 'failure';
  readonly error: unknown;
}

/** Something that happened in a mailbox. The log shows it. */
export type ActivityEntry =
  | NewDeliveryActivity
  | AttemptActivity
  | EndedDeliveryActivity
  | MailActivity
  | HeldMailActivity
  | StreamActivity
  | FailureActivity;

/** The event bus for activity entries. */
export type Activity = EventBus<ActivityEntry>;

/** Publishes an activity for each mail that arrives. An event that a test triggers has overrides and is skipped. */
export function publishMail(events: EventBus, activity: Activity): void {
  events.subscribe(({ kind, world, inboxId, message, overrides }) => {
    const inbox = world.inboxes.get(inboxId);
    if (kind !== 'message.received' || overrides !== undefined || !inbox) return;
    const { id: messageId, from, subject } = message;
    const place = { tenantId: world.id, inboxId, inbox: canonicalAddress(inbox) };
    activity.publish({ kind: 'mail', messageId, ...place, from, subject });
  });
}
