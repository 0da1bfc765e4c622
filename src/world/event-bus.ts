import type { EventKind } from '../contract/events.ts';
import type { MessageRow } from './store/rows.ts';
import type { World } from './store/world.ts';

/** What a report says about a mail that bounced. */
export interface BounceDetails {
  /** The bare addresses of the recipients that did not get the mail, separated by commas. */
  readonly recipient: string;
  /** Their status codes (RFC 3463), such as `5.1.1`, separated by commas, in the same order. */
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
  /** Only for an event that a test triggers: fields that replace those of the payload. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Only for an event that a test triggers: deliver only to this webhook. */
  readonly webhookId?: string;
  /** To how many event streams it was sent. The streams set it before later listeners get the event. */
  streams?: number;
  /** The ids of its deliveries. The dispatcher sets it before `publish` returns. */
  deliveryIds?: readonly string[];
}

/** Passes the events of all tenants of a mailbox to its listeners. */
export interface EventBus<Event = MailEvent> {
  /** Calls every listener in the order of subscription; an error in one does not affect the others. */
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
