import type { HttpHandler, WebSocketHandler } from 'msw';
import type { Choices } from '../contract/behaviours.ts';
import type { IncomingMessage } from '../contract/incoming-message.ts';
import type { DefaultIds } from '../fixture/fixture-ids.ts';
import type { DefaultKeys } from '../fixture/fixture-keys.ts';
import type { ReceivedMessage } from '../mail/accept-message.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import type { MailboxState } from '../store/state.ts';
import type { AcceptStream } from '../stream/streams.ts';
import type { MailboxClock } from './mailbox-clock.ts';
import type { MailboxFaults } from './mailbox-faults.ts';
import type { Settled, SettledOptions } from './settled.ts';
import type { WebhookLab } from './webhook-lab.ts';

/** One emulator. Two of them in one process never meet. */
export interface Mailbox<Keys = DefaultKeys, Ids = DefaultIds> extends WebhookLab, MailboxFaults {
  /** The origin and path that `handlers` intercept, without a final slash; set by the option `baseUrl`. */
  readonly baseUrl: string;
  /** For `setupServer(...mailbox.handlers)` of `msw/node` and `setupWorker(...mailbox.handlers)` of `msw/browser`. */
  readonly handlers: (HttpHandler | WebSocketHandler)[];
  /** The keys of the fixture, by its handles: `keys.acme.inboxes.helpdesk`. */
  readonly keys: Keys;
  /** The ids of the fixture's tenants, workspaces, inboxes and webhooks, by its handles: `ids.acme.inboxes.helpdesk`. */
  readonly ids: Ids;
  /** The value of every behaviour in the ledger. */
  readonly behaviours: Choices;
  /** Answers a request as the service would, whatever its host: the handlers and the server both call this. */
  fetch(request: Request): Promise<Response>;
  /**
   * Admits the client of an event stream, as `fetch` answers a request; what it answers begins the stream on a
   * connection that is open. The handlers and the server both call this.
   *
   * @throws {ApiError} UNAUTHORIZED, FORBIDDEN or NOT_FOUND, before anything is upgraded.
   */
  stream(request: Pick<Request, 'url' | 'headers'>): AcceptStream;
  /** Makes everything as it was at the start, keys and mail included. */
  reset(): void;
  /** Says whether mail to this address, bare and in any letter case, arrives in an inbox. */
  receives(address: string): boolean;
  /**
   * Lets a mail come in from outside: its parts, or an `eml` as it travels. It resolves with where it arrived.
   *
   * @throws {ApiError} when it is no mail, when a recipient is no inbox here, when it is larger than 10 MiB, or when
   *   it does not fit into what may be stored.
   */
  receiveMessage(message: IncomingMessage): Promise<ReceivedMessage[]>;
  /** The time of the mailbox: freeze it, move it on, let it go. */
  readonly clock: MailboxClock;
  /**
   * Resolves when nothing is due or on its way to a receiver, with what full logs have lost; a retry that is due
   * later is not waited for.
   *
   * @throws {ApiError} CONFLICT after 4 seconds, or the `timeout`, with what is still on its way; INTERNAL_ERROR, once,
   *   when a bug in the emulator has ended something, with the error as its cause.
   */
  settled(options?: SettledOptions): Promise<Settled>;
  /** A copy of the whole state, for a test to read. */
  snapshot(): MailboxState;
  /** A copy of the OpenAPI 3.1 document of the emulated API, under this mailbox's behaviours. */
  openApi(): OpenApiDocument;
}
