import type { EventKind } from '../contract/events.ts';
import type { MessageRow } from '../store/rows.ts';

/** Something that happened to a message, with everything that deliveries and streams need. */
export interface MailEvent {
  /** `evt_` and a UUID. */
  readonly id: string;
  readonly kind: EventKind;
  readonly tenantId: string;
  readonly workspaceId: string;
  readonly inboxId: string;
  /** The message as it was then. */
  readonly message: MessageRow;
  /** For an event fired by hand: fields that replace those of its payload. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** For an event fired by hand: deliver only to this webhook. */
  readonly webhookId?: string;
}

/** Passes on what happens in a mailbox, in whatever tenant, to those who subscribed. */
export interface EventBus<Event = MailEvent> {
  /** Calls every listener, in the order in which they subscribed; what one throws reaches nobody else. */
  publish(event: Event): void;
  /** Adds a listener; the answer removes it. */
  subscribe(listener: (event: Event) => void): () => void;
}

/** Creates an event bus; `onError` gets what a listener throws. */
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
