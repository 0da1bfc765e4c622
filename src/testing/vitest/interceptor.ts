import { setupServer } from 'msw/node';
import type { MailboxRouter } from './mailbox-router.ts';

/** Intercepts the requests of a process while it has routers. */
export class Interceptor {
  readonly #server = setupServer();
  readonly #routers = new Set<MailboxRouter>();

  add(router: MailboxRouter): void {
    if (this.#routers.size === 0) this.#server.listen({ onUnhandledRequest: 'bypass' });
    this.#routers.add(router);
    this.#updateHandlers();
  }

  remove(router: MailboxRouter): void {
    this.#routers.delete(router);
    this.#updateHandlers();
    if (this.#routers.size === 0) this.#server.close();
  }

  #updateHandlers(): void {
    this.#server.resetHandlers(...[...this.#routers].flatMap(({ handlers }) => handlers));
  }
}
