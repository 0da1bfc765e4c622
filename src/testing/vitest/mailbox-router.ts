import type { HttpHandler, WebSocketHandler } from 'msw';
import type { Mailbox } from '../../control/mailbox-interface.ts';
import { createHandlers } from '../../mailbox/msw.ts';
import { sentKey } from '../../service/access/principal.ts';

/** The part of a mailbox that a router calls. */
type RoutedMailbox = Pick<Mailbox, 'baseUrl' | 'fetch' | 'stream' | 'exposure'>;

/**
 * Passes each request to the mailbox of the test that sent it. Tests that run at the same time call the same URL, so
 * the API key of a request shows which test sent it.
 */
export class MailboxRouter {
  /** The handlers of all mailboxes, for msw. */
  readonly handlers: readonly (HttpHandler | WebSocketHandler)[];
  readonly #mailboxes = new Set<RoutedMailbox>();
  readonly #fallback: RoutedMailbox;

  /** Creates a router; `fallback` gets the requests that belong to no test, and has no keys. */
  constructor(fallback: RoutedMailbox) {
    this.#fallback = fallback;
    this.handlers = createHandlers(fallback.baseUrl, {
      fetch: async (request) => {
        const mailbox = this.#find(request);
        // Only a fault that cuts the connection can cause an error here.
        return await mailbox.fetch(request).catch(() => Response.error());
      },
      connect: (request) => this.#find(request, new URL(request.url).searchParams.get('api_key')).stream(request),
      // A mailbox reports its failures itself.
      report: () => undefined,
    });
  }

  add(mailbox: RoutedMailbox): void {
    this.#mailboxes.add(mailbox);
  }

  remove(mailbox: RoutedMailbox): void {
    this.#mailboxes.delete(mailbox);
  }

  /** @throws {Error} if several tests have a mailbox with this key. */
  #find({ headers }: Pick<Request, 'headers'>, keyInQuery: string | null = null): RoutedMailbox {
    const [only, ...others] = this.#mailboxes;
    if (only && others.length === 0) return only;
    const key = sentKey(headers) ?? keyInQuery ?? undefined;
    const [owner, second] = [...this.#mailboxes].filter((mailbox) => key !== undefined && hasKey(mailbox, key));
    if (second) {
      throw new Error(
        'Several tests run at the same time, and the mailbox of each has the key of this request; ' +
          'use a key of the fixture sandbox.',
      );
    }
    return owner ?? this.#fallback;
  }
}

/** Returns whether a key is valid in a mailbox. */
function hasKey(mailbox: RoutedMailbox, key: string): boolean {
  try {
    mailbox.exposure(key);
    return true;
  } catch {
    return false;
  }
}

/** A way to intercept requests: `setupServer` of msw in a process, `setupWorker` in a web page. */
export interface Interception {
  start(options: { readonly onUnhandledRequest: 'bypass' }): unknown;
  stop(): void;
  resetHandlers(...handlers: readonly (HttpHandler | WebSocketHandler)[]): void;
}

/** Intercepts the requests of a process or of a web page while it has routers. */
export class Interceptor {
  readonly #interception: Interception;
  readonly #routers = new Set<MailboxRouter>();
  #started: unknown;

  constructor(interception: Interception) {
    this.#interception = interception;
  }

  /** Adds a router; resolves when its requests are intercepted. */
  async add(router: MailboxRouter): Promise<void> {
    if (this.#routers.size === 0) this.#started = this.#interception.start({ onUnhandledRequest: 'bypass' });
    this.#routers.add(router);
    this.#updateHandlers();
    await this.#started;
  }

  remove(router: MailboxRouter): void {
    this.#routers.delete(router);
    this.#updateHandlers();
    if (this.#routers.size === 0) this.#interception.stop();
  }

  #updateHandlers(): void {
    this.#interception.resetHandlers(...[...this.#routers].flatMap(({ handlers }) => handlers));
  }
}
