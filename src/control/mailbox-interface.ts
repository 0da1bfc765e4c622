import type { HttpHandler, WebSocketHandler } from 'msw';
import type { ServiceClient } from '../contract/client/client-types.ts';
import type { DefaultIds, DefaultKeys, NamedFixture } from '../fixture/keys-and-ids.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import type { AcceptStream } from '../service/stream/streams.ts';
import type { BehaviourControls } from './behaviour-controls.ts';
import type { ControllableMailbox, SandboxControls, SandboxIds, SandboxKeys } from './controllable-mailbox.ts';
import type { InboxControls } from './inbox-controls.ts';

/** One emulator. Two emulators in one process share nothing. */
export interface Mailbox<
  Keys = DefaultKeys,
  Ids = DefaultIds,
  KeysOfSandbox = SandboxKeys<Keys>,
  IdsOfSandbox = SandboxIds<Ids>,
> extends ControllableMailbox,
    BehaviourControls,
    InboxControls,
    SandboxControls<KeysOfSandbox, IdsOfSandbox> {
  /**
   * The msw handlers, for `setupServer(...mailbox.handlers)` of `msw/node` and `setupWorker(...mailbox.handlers)` of
   * `msw/browser`.
   *
   * @throws {TypeError} on the mailbox of a server, which does not load msw.
   */
  readonly handlers: (HttpHandler | WebSocketHandler)[];
  /** The API keys of the fixture or the loaded state, by handle: `keys.acme.inboxes.helpdesk`. */
  readonly keys: Keys;
  /** The ids of the tenants, workspaces, inboxes and webhooks, by handle: `ids.acme.inboxes.helpdesk`. */
  readonly ids: Ids;
  /**
   * Sends a request to the service, and resolves with the response, as the global `fetch` does. A URL that is not under
   * `baseUrl` is passed on to the `fetch` that was global when the mailbox was created. A `Request` may name any host;
   * it is passed on too only while this function is the global `fetch`.
   *
   * @throws {TypeError} if a fault cuts the connection, as `fetch` does.
   * @example
   * vi.stubGlobal('fetch', mailbox.fetch);
   */
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
  /**
   * Creates a client with this API key, which calls `fetch` of this mailbox: a method for each operation.
   *
   * @example
   * const helpdesk = mailbox.client(mailbox.keys.acme.inboxes.helpdesk);
   * const { messages } = await helpdesk.listMessages(mailbox.ids.acme.inboxes.helpdesk);
   */
  client(key: string): ServiceClient;
  /**
   * Checks whether a client may open the WebSocket stream of events, and returns a function that starts the stream on
   * an open connection. The handlers and the server both call this.
   *
   * @throws {ApiError} UNAUTHORIZED, FORBIDDEN or NOT_FOUND, before the connection is upgraded.
   */
  stream(request: Pick<Request, 'url' | 'headers'>): AcceptStream;
  /**
   * Replaces the initial state by the state of a fixture, and resets the mailbox to it. `keys` and `ids` then have the
   * handles of this fixture.
   *
   * @throws {FixtureError} for an invalid fixture; {@link RangeError} if its mail is larger than `maxMailBytes`. After
   *   an error nothing has changed.
   */
  load(fixture: FixtureInput | NamedFixture): void;
  /** Returns whether mail to this bare address, in any letter case, arrives in an inbox. */
  receives(address: string): boolean;
}
