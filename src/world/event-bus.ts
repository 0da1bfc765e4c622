import type { EventKind } from '../contract/events.ts';
import type { Tier } from '../contract/tiers.ts';
import type { MessageRow } from './store/rows.ts';
import { canonicalAddress, type World } from './store/world.ts';

/** What a delivery report says about a mail that bounced. */
export interface BounceDetails {
  /** The bare addresses of the recipients that did not get the mail, separated by commas. */
  readonly recipient: string;
  /** The status code (RFC 3463) of each recipient, such as `5.1.1`, separated by commas, in the same order. */
  readonly statusCode: string;
}

/** An event, such as the arrival of a message, with the data that deliveries and streams need. */
export interface MailEvent {
  /** `evt_` and a UUID. */
  readonly id: string;
  readonly kind: EventKind;
  readonly world: World;
  readonly workspaceId: string;
  readonly inboxId: string;
  /** The message at the time of the event. */
  readonly message: MessageRow;
  /** Only for a bounce with a report in the inbox. */
  readonly bounce?: BounceDetails;
  /** Only for an event that a test triggers: fields that replace fields of the payload. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Only for an event that a test triggers: deliver only to this webhook. */
  readonly webhookId?: string;
  /** How many event streams got the event. The listener for streams sets this before later listeners get the event. */
  streams?: number;
  /** The ids of the deliveries of the event. The listener for webhooks sets them before `publish` returns. */
  deliveryIds?: readonly string[];
}

/** Passes the events of all tenants of a mailbox to its listeners. */
export interface EventBus<Event = MailEvent> {
  /** Calls every listener in the order of subscription; an error in one listener does not affect the others. */
  publish(event: Event): void;
  /** Adds a listener and returns a function that removes it. */
  subscribe(listener: (event: Event) => void): () => void;
}

/** Creates an event bus; `onError` receives each error that a listener throws. */
export function createEventBus<Event = MailEvent>(onError: (error: unknown) => void): EventBus<Event> {
  const listeners = new Set<(event: Event) => void>();
  return {
    publish(event) {
      for (const listener of [...listeners]) {
        try {
          listener(event);
        } catch (error) {
          onError(error);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The fields of all activity entries about a delivery: the delivery and its current state. */
export interface DeliveryActivity {
  /** The id of the delivery. */
  readonly deliveryId: string;
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The id of the webhook. */
  readonly webhookId: string;
  /**
   * The URL of the webhook or, for an attempt, the URL that was called, without login and query. Null if the webhook
   * was deleted.
   */
  readonly url: string | null;
  /** The kind of the event that is delivered. */
  readonly event: EventKind;
  /** The state of the delivery. */
  readonly state: string;
  /** Why the delivery is held or has ended without success, in a sentence; otherwise null. */
  readonly reason: string | null;
}

/** An attempt to send a delivery, even if it was refused. */
export interface AttemptActivity extends DeliveryActivity {
  /** Always `attempt`. */
  readonly kind: 'attempt';
  /** The number of the attempt; the first attempt of a delivery is 1. */
  readonly attempt: number;
  /** The HTTP status of the response; null if there was no response. */
  readonly status: number | null;
  /** Why the attempt failed, in a sentence; null if it succeeded. */
  readonly error: string | null;
  /** How long the attempt took, in milliseconds of real time. */
  readonly durationMs: number;
  /** The time until the next attempt, by the tenant's clock; null if this was the last attempt. */
  readonly retryInMs: number | null;
}

/** A delivery has ended, but not by an attempt: for example, its webhook was deleted. */
interface EndedDeliveryActivity extends DeliveryActivity {
  /** Always `delivery-ended`. */
  readonly kind: 'delivery-ended';
}

/** A new delivery, before its first attempt. */
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
  /** Why the mail is held, in a sentence. */
  readonly reason: string;
}

/** A stream that was opened or closed. */
interface StreamActivity {
  /** What happened to the stream. */
  readonly kind: 'stream-opened' | 'stream-closed';
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The tier of the key that opened the stream. */
  readonly tier: Tier;
  /** The key that opened the stream; masked in the feed. */
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

/** Publishes an activity entry for each mail that arrives, but not for an event that a test triggers with overrides. */
export function publishMail(events: EventBus, activity: Activity): void {
  events.subscribe(({ kind, world, inboxId, message, overrides }) => {
    const inbox = world.inboxes.get(inboxId);
    if (kind !== 'message.received' || overrides !== undefined || !inbox) return;
    const { id: messageId, from, subject } = message;
    const owner = { tenantId: world.id, inboxId, inbox: canonicalAddress(inbox) };
    activity.publish({ kind: 'mail', messageId, ...owner, from, subject });
  });
}
