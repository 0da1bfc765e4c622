import { describeValue } from '../../basics/check-options.ts';
import { createNameCheck } from '../../basics/named-error.ts';
import type { Environment } from '../../world/environment.ts';
import { isError } from '../../world/fetch-in-process.ts';
import type { Part, SavePurpose } from '../../world/store/parts.ts';
import type { World } from '../../world/store/world.ts';

/** What a handler gets besides the request, as the handlers of workers do. */
export interface HandlerContext {
  /** Lets work go on after the response: `settled` waits for it, and rejects if it fails. */
  waitUntil(work: Promise<unknown>): void;
  /** Does nothing. It is here because the handlers of workers may call it. */
  passThroughOnException(): void;
}

/** Answers a request in this process. `Bindings` is the type of its second argument. */
export type HandleRequest<Bindings> = (
  request: Request,
  bindings: Bindings,
  context: HandlerContext,
) => Response | Promise<Response>;

/** A handler in this process, with its second argument. */
interface ConnectedHandler {
  readonly handle: HandleRequest<never>;
  readonly bindings: unknown;
}

/** The error of a handler in this process. `thrown` is what the handler has thrown. */
export class HandlerError extends Error {
  /** Recognises the error by its name, so that an error from a second copy of this package is recognised, too. */
  static override readonly [Symbol.hasInstance] = createNameCheck('HandlerError');
  override readonly name = 'HandlerError';

  constructor(
    message: string,
    readonly thrown: unknown,
  ) {
    super(message);
  }
}

/** How many characters of the message of an error are shown. */
const MAX_MESSAGE = 1_000;

/** Describes what a handler has thrown, such as `TypeError: x is not a function`. */
function describeThrown(thrown: unknown): string {
  const text = isError(thrown) ? `${thrown.name}: ${thrown.message}` : describeValue(thrown);
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text.replace(/\.$/, '');
}

/** Returns whether a value is a response, also one of another realm, or of the library of a framework. */
function isResponse(value: unknown): value is Response {
  return typeof value === 'object' && value !== null && 'status' in value && 'headers' in value && 'body' in value;
}

/** The handlers in this process that the webhooks of one tenant call, by their URL. */
export class ConnectedHandlers implements Part {
  readonly #world: World;
  readonly #byUrl = new Map<string, ConnectedHandler>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Returns a URL at which there is no handler yet. */
  freeUrl(): string {
    let number = 1;
    while (this.#byUrl.has(`https://agent-${number}.test/`)) number += 1;
    return `https://agent-${number}.test/`;
  }

  /** Returns the second argument of the handler at a URL; `undefined` if there is no handler. */
  bindingsAt(url: string): unknown {
    return this.#byUrl.get(url)?.bindings;
  }

  /** Lets a handler answer the requests to a URL. */
  add<Bindings>(url: string, handle: HandleRequest<Bindings>, bindings: Bindings): void {
    this.#byUrl.set(url, { handle, bindings });
  }

  /** Returns the function that calls the handler of a URL, in place of `fetch`; `undefined` if it has no handler. */
  fetchFor(url: string): Environment['fetch'] | undefined {
    const connected = this.#byUrl.get(url);
    return connected && ((target, init) => this.#call(connected, new Request(target, init)));
  }

  async #call({ handle, bindings }: ConnectedHandler, request: Request): Promise<Response> {
    const { url } = request;
    const context: HandlerContext = {
      waitUntil: (work) => this.#world.clock.track(finishWork(work, url)),
      passThroughOnException() {},
    };
    let response: unknown;
    try {
      response = await handle(request, bindings as never, context);
    } catch (thrown) {
      throw new HandlerError(`The handler has thrown ${describeThrown(thrown)}.`, thrown);
    }
    if (isResponse(response)) return response;
    throw new HandlerError(`The handler must return a Response, not ${describeValue(response)}.`, undefined);
  }

  end(): void {
    this.#byUrl.clear();
  }

  /** A file has no handlers, because JSON has no functions. */
  save(purpose: SavePurpose): readonly (readonly [url: string, handler: ConnectedHandler])[] | undefined {
    return purpose === 'checkpoint' ? [...this.#byUrl] : undefined;
  }

  restore(saved: readonly (readonly [url: string, handler: ConnectedHandler])[]): void {
    for (const [url, handler] of saved) this.#byUrl.set(url, handler);
  }
}

/** Waits for the work that a handler has left after its response. */
async function finishWork(work: Promise<unknown>, url: string): Promise<void> {
  try {
    await work;
  } catch (thrown) {
    throw new HandlerError(`The handler at ${url} has failed after its response: ${describeThrown(thrown)}.`, thrown);
  }
}
