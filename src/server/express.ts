import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkOptions } from '../basics/check-options.ts';
import { isServicePath } from '../contract/service-path.ts';
import type { DefaultIds, DefaultKeys, FixtureIds, FixtureKeys, NamedFixture } from '../fixture/keys-and-ids.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import { buildMailbox, type Mailbox } from '../mailbox/mailbox.ts';
import { type MailboxOptions, SHARED_OPTION_NAMES } from '../mailbox/mailbox-options.ts';
import type { ApiRequest } from '../service/pipeline/exchange.ts';
import { readRequest, releaseRequest, sendReply } from './http/node-adapter.ts';
import { WorkQueue } from './work-queue.ts';

/** Options of `createMailboxMiddleware`; each has a default. */
export type MiddlewareOptions<F extends NamedFixture = FixtureInput> = Omit<MailboxOptions<F>, 'baseUrl' | 'persist'>;

/** A request of express or Connect. */
export interface MiddlewareRequest {
  /** The path and the query, without the prefix at which the middleware is mounted. */
  readonly url?: string | undefined;
  /** The body, if a parser such as `express.json()` ran before. */
  readonly body?: unknown;
}

/** A response of express or Connect. */
export interface MiddlewareResponse {
  /** Whether the response has started. */
  readonly headersSent: boolean;
}

/** A middleware that serves a mailbox. */
export interface MailboxMiddleware<Keys = DefaultKeys, Ids = DefaultIds> {
  /** Serves a request to a path of the service; passes any other request to `next`. */
  (request: MiddlewareRequest, response: MiddlewareResponse, next: (error?: unknown) => void): void;
  /** The mailbox, for its keys, `reset()`, `clock` and deliveries. */
  readonly mailbox: Mailbox<Keys, Ids>;
}

/**
 * Creates a mailbox and a middleware for express 4 and 5 that serves it, at the root of an application or under a
 * prefix. The middleware handles only requests to the service, because the control plane and event streams need a
 * server.
 *
 * @example
 * const mail = createMailboxMiddleware();
 * app.use('/mail', mail);
 * await fetch('http://127.0.0.1:3000/mail/v1/webhooks', { headers: { 'X-API-Key': mail.mailbox.keys.acme.tenant } });
 *
 * @throws {FixtureError} {@link BehaviourError} {@link RangeError} for the same reasons as `createMailbox`.
 */
export function createMailboxMiddleware(options?: Omit<MiddlewareOptions, 'fixtures'>): MailboxMiddleware;
/** Creates a middleware with a custom fixture; the mailbox's `keys` and `ids` then have the fixture's handles. */
export function createMailboxMiddleware<const F extends FixtureInput | NamedFixture>(
  options: MiddlewareOptions<F> & { readonly fixtures: F },
): MailboxMiddleware<FixtureKeys<F>, FixtureIds<F>>;
export function createMailboxMiddleware(options: MiddlewareOptions<NamedFixture> = {}): { readonly mailbox: unknown } {
  checkOptions('createMailboxMiddleware', options, SHARED_OPTION_NAMES);
  const { mailbox, handle } = buildMailbox(options);
  const work = new WorkQueue();

  async function serve(request: ApiRequest, message: IncomingMessage, response: ServerResponse): Promise<void> {
    response.once('finish', () => releaseRequest(message));
    const { reply } = await handle(request);
    await sendReply(response, reply, { work });
  }

  const middleware = (given: MiddlewareRequest, response: MiddlewareResponse, next: (error?: unknown) => void) => {
    // express and Connect pass objects of Node. The public types do not say so, because users may lack `@types/node`.
    const message = given as IncomingMessage & MiddlewareRequest;
    // A target that does not begin with `/`, such as the `*` of an OPTIONS request, is not a path.
    const request = message.url?.startsWith('/') ? readRequest(message, { inSlices: work.inSlices }) : undefined;
    if (!request || !isServicePath(request.path)) next();
    else serve(withParsedBody(request, message), message, response as ServerResponse).catch(next);
  };
  return Object.assign(middleware, { mailbox });
}

/** Returns the request with the body that a parser has left in `message.body`, if a parser has consumed the bytes. */
function withParsedBody(request: ApiRequest, message: IncomingMessage & MiddlewareRequest): ApiRequest {
  if (request.body === null || !message.readableDidRead) return request;
  return { ...request, body: toChunks(message.body) };
}

async function* toChunks(body: unknown): AsyncGenerator<Uint8Array> {
  if (body === undefined) return;
  if (body instanceof Uint8Array) yield body;
  else yield Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
