import type { EventKind } from '../contract/events.ts';
import type { MessageRow } from '../store/rows.ts';

/** Something that happened to a message, with all that a delivery or a stream needs to tell of it. */
export interface MailEvent {
  /** `evt_` and a UUID. */
  readonly id: string;
  readonly kind: EventKind;
  readonly tenantId: string;
  readonly workspaceId: string;
  readonly inboxId: string;
  /** The message as it was then. */
  readonly message: MessageRow;
  /** For an event fired by hand: what its payload says instead. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** For an event fired by hand: deliver only to this webhook. */
  readonly webhookId?: string;
}

/** Tells whoever listens what happened in a mailbox, in whatever tenant. */
export interface EventBus<Event = MailEvent> {
  /** Tells every listener, in the order in which they came; none can hold up or harm the one that publishes. */
  publish(event: Event): void;
  /** Adds a listener and answers what takes it away again. */
  subscribe(listener: (event: Event) => void): () => void;
}

/** Creates an event bus; `onError` gets what a listener throws. */
export function createEventBus<Event = MailEvent>(onError: (error: unknown) => void): EventBus<Event> {
  const listeners = new Set<(event: Event) => void>();

  function tell(listener: (event: Event) => void, event: Event): void {
    try {
      listener(event);
    } catch (error) {
      onError(error);
    }
  }

  return {
    publish(event) {
      for (const listener of [...listeners]) tell(listener, event);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
