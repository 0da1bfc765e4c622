import { type HttpHandler, http, type WebSocketHandler, ws } from 'msw';
import { ApiError } from '../../contract/errors.ts';
import type { Mailbox } from '../../control/mailbox-interface.ts';
import { createMailbox } from '../../mailbox/create-mailbox.ts';
import { parseBaseUrl } from '../../mailbox/mailbox.ts';
import { createHandlers } from '../../mailbox/msw.ts';
import { findKey } from '../../service/access/principal.ts';

/** The part of a mailbox that a router calls. */
type RoutedMailbox = Pick<Mailbox, 'baseUrl' | 'behaviours' | 'fetch' | 'stream' | 'exposure'>;

/**
 * Passes each request to the mailbox of the test that sent it. Tests that run at the same time call the same URL, so
 * the API key of a request shows which test sent it.
 */
export class MailboxRouter {
  /** The base URL of all mailboxes. */
  readonly baseUrl: string;
  /** The handlers of all mailboxes, for msw. */
  readonly handlers: readonly (HttpHandler | WebSocketHandler)[];
  readonly #mailboxes = new Set<RoutedMailbox>();
  readonly #fallback: RoutedMailbox;

  /** Creates a router; `fallback` gets the requests that belong to no test, and has no keys. */
  constructor(fallback: RoutedMailbox) {
    this.#fallback = fallback;
    this.baseUrl = fallback.baseUrl;
    this.handlers = createHandlers({ http, ws }, this.baseUrl, {
      fetch: async (request) => {
        const mailbox = this.#find(request);
        if (mailbox instanceof ApiError) {
          const { message: error, code, status } = mailbox;
          return Response.json({ error, code }, { status });
        }
        // Only a fault that cuts the connection can cause an error here.
        return await mailbox.fetch(request).catch(() => Response.error());
      },
      connect: (request) => {
        const mailbox = this.#find(request);
        if (mailbox instanceof ApiError) throw mailbox;
        return mailbox.stream(request);
      },
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

  /** Returns the mailbox that a request is for, or the error of the reply if several tests have a mailbox with its key. */
  #find({ url, headers }: Pick<Request, 'url' | 'headers'>): RoutedMailbox | ApiError {
    const [only, ...others] = this.#mailboxes;
    if (only && others.length === 0) return only;
    const { pathname, searchParams: query } = new URL(url);
    const path = pathname.slice(new URL(this.baseUrl).pathname.replace(/\/$/, '').length);
    const [owner, second] = [...this.#mailboxes].filter((mailbox) => {
      const { key } = findKey({ path, query, headers }, mailbox.behaviours);
      return key !== undefined && hasKey(mailbox, key);
    });
    if (second) {
      // A close reason of a WebSocket has room for 123 bytes: for this sentence, and hardly more.
      const problem = 'Several tests run at the same time, and the mailbox of each has the key of this request';
      return new ApiError('INTERNAL_ERROR', `${problem}; use a key of the fixture sandbox.`);
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

/** Intercepts the requests of a process or of a web page while somebody needs that: one router for each base URL. */
export class Interceptor {
  readonly #interception: Interception;
  /** How many users each router has. */
  readonly #users = new Map<MailboxRouter, number>();
  readonly #routers = new Map<string, MailboxRouter>();
  #started: unknown;

  constructor(interception: Interception) {
    this.#interception = interception;
  }

  /**
   * Resolves with the router of a base URL when its requests are intercepted. Call `release` for it at the end.
   *
   * @throws {TypeError} if the base URL is not valid, as `createMailbox` does.
   */
  async acquire(givenUrl: string | undefined): Promise<MailboxRouter> {
    const baseUrl = parseBaseUrl(givenUrl);
    const router =
      this.#routers.get(baseUrl) ?? new MailboxRouter(createMailbox({ baseUrl, fixtures: { tenants: {} } }));
    if (this.#users.size === 0) this.#started = this.#interception.start({ onUnhandledRequest: 'bypass' });
    this.#routers.set(baseUrl, router);
    this.#users.set(router, (this.#users.get(router) ?? 0) + 1);
    this.#updateHandlers();
    await this.#started;
    return router;
  }

  /** Ends what `acquire` began: without users, the requests of a router are no longer intercepted. */
  release(router: MailboxRouter): void {
    const otherUsers = (this.#users.get(router) ?? 0) - 1;
    if (otherUsers > 0) {
      this.#users.set(router, otherUsers);
      return;
    }
    this.#users.delete(router);
    this.#routers.delete(router.baseUrl);
    this.#updateHandlers();
    if (this.#users.size === 0) this.#interception.stop();
  }

  #updateHandlers(): void {
    this.#interception.resetHandlers(...[...this.#users.keys()].flatMap(({ handlers }) => handlers));
  }
}
