import type { HttpHandler, WebSocketHandler } from 'msw';
import type { BehaviourValues } from '../contract/behaviours.ts';
import type { IncomingMessage } from '../contract/incoming-message.ts';
import type { DefaultIds } from '../fixture/fixture-ids.ts';
import type { DefaultKeys } from '../fixture/fixture-keys.ts';
import type { ReceivedMessage } from '../mail/accept-message.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import type { MailboxState } from '../store/state.ts';
import type { AcceptStream } from '../stream/streams.ts';
import type { DeliveryControls } from './delivery-controls.ts';
import type { JournalControls } from './journal-controls.ts';
import type { KeyControls } from './key-controls.ts';
import type { MailboxClock } from './mailbox-clock.ts';
import type { MailboxFaults } from './mailbox-faults.ts';
import type { MessageControls } from './message-controls.ts';
import type { Settled, SettledOptions } from './settled.ts';

/** One emulator. Two emulators in one process share nothing. */
export interface Mailbox<Keys = DefaultKeys, Ids = DefaultIds>
  extends DeliveryControls,
    KeyControls,
    MailboxFaults,
    MessageControls,
    JournalControls {
  /** The origin and path that `handlers` intercept, without a final slash; set by the option `baseUrl`. */
  readonly baseUrl: string;
  /**
   * For `setupServer(...mailbox.handlers)` of `msw/node` and `setupWorker(...mailbox.handlers)` of `msw/browser`.
   *
   * @throws {TypeError} on the mailbox of a server, which does not load msw.
   */
  readonly handlers: (HttpHandler | WebSocketHandler)[];
  /** The API keys of the fixture, by handle: `keys.acme.inboxes.helpdesk`. */
  readonly keys: Keys;
  /** The ids of the fixture's tenants, workspaces, inboxes and webhooks, by handle: `ids.acme.inboxes.helpdesk`. */
  readonly ids: Ids;
  /** The current value of each changeable behaviour. */
  readonly behaviours: BehaviourValues;
  /**
   * Returns the response of the service to a request to any host. The handlers and the server both call this.
   *
   * @throws {TypeError} if a fault cuts the connection, as `fetch` does.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Checks a request for an event stream and returns a function that starts the stream on an open connection. The
   * handlers and the server both call this.
   *
   * @throws {ApiError} UNAUTHORIZED, FORBIDDEN or NOT_FOUND, before the connection is upgraded.
   */
  stream(request: Pick<Request, 'url' | 'headers'>): AcceptStream;
  /** Restores the initial state, including keys and mail. */
  reset(): void;
  /** Returns whether mail to this bare address, in any letter case, arrives in an inbox. */
  receives(address: string): boolean;
  /**
   * Delivers an inbound mail, given by its parts or as a raw `eml`, and resolves with the messages that it created.
   *
   * @throws {ApiError} if the mail is invalid or larger than 10 MiB, if a recipient is not an inbox of this emulator,
   *   or if the mail does not fit into the storage.
   */
  receiveMessage(message: IncomingMessage): Promise<ReceivedMessage[]>;
  /** The time of the mailbox: freeze, advance or resume it. */
  readonly clock: MailboxClock;
  /**
   * Resolves when no work is due or running. It does not wait for retries that are due later. The result has the number
   * of deliveries that were removed because a delivery log was full.
   *
   * @throws {ApiError} CONFLICT after 4 seconds or the given `timeout`, with the pending deliveries; INTERNAL_ERROR,
   *   once, if a bug in the emulator has stopped some work, with the error as its cause.
   */
  settled(options?: SettledOptions): Promise<Settled>;
  /** Returns a copy of the whole state. */
  snapshot(): MailboxState;
  /** Returns a copy of the OpenAPI 3.1 document of the emulated API, under the behaviours of this mailbox. */
  openApi(): OpenApiDocument;
}
