import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createMiddleware } from '@mswjs/http-middleware';
import express from 'express';
import type { RequestHandler } from 'msw';
import { ApiError } from '../../contract/errors.ts';
import type { Environment } from '../../environment.ts';
import type { ApiRequest, HandlerResult } from '../../pipeline/http.ts';
import { readBody } from '../../pipeline/read-body.ts';
import { readRequest } from './read-request.ts';

/** Answers a request by the user's own handlers; what none of them answers goes on to `next`. */
export type UserHandlers = (
  message: IncomingMessage,
  response: ServerResponse,
  next: (request: ApiRequest) => Promise<HandlerResult>,
) => Promise<HandlerResult | undefined>;

/** The largest body that a user's handler gets, in bytes. */
const MAX_USER_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Makes the user's own msw handlers answer requests of Node, through express and msw's own middleware.
 *
 * @throws {TypeError} when one of them is no request handler of msw.
 */
export function createUserHandlers(given: unknown, report: Environment['report']): UserHandlers {
  const handlers = parseHandlers(given);
  // The middleware is CommonJS, so its types come from msw's other build; at run time a handler is the same.
  const middleware = createMiddleware(...(handlers as never[]));
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  app.use((request, response, next) => {
    Promise.resolve(middleware(request, response, next)).catch(next);
  });

  return async (message, response, next) => {
    const request = readRequest(message);
    const received = await readBody(request, MAX_USER_BODY_BYTES);
    if (received === 'truncated') return next(readRequest(message));
    if (received === 'too-large') throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 16 MiB.');
    const body = received === 'empty' ? [] : [received];
    endWithStream(response, report);
    cutAtNetworkError(response);
    const isAnswered = await new Promise<boolean>((resolve, reject) => {
      response.once('close', () => resolve(true));
      const goOn = (error?: unknown) => (error ? reject(error) : resolve(false));
      app(copyMessage(message, body) as express.Request, response as express.Response, goOn);
    }).catch((error: unknown) => endFailed(response, error, report));
    return isAnswered ? undefined : next({ ...request, body: Readable.from(body) });
  };
}

function parseHandlers(handlers: unknown): readonly RequestHandler[] {
  if (!Array.isArray(handlers)) {
    throw new TypeError(
      `The option handlers must be a list, or a function that returns one, not a ${typeof handlers}.`,
    );
  }
  const index = handlers.findIndex((handler) => typeof handler?.run !== 'function' || handler.kind === 'websocket');
  if (index < 0) return handlers;
  throw new TypeError(`The option handlers takes http and graphql handlers of msw, and handlers[${index}] is neither.`);
}

/** The middleware reads the body away that we may still have to read, so it gets a request of its own. */
function copyMessage(message: IncomingMessage, body: Uint8Array[]): IncomingMessage {
  const { method, headers, rawHeaders, httpVersion, socket } = message;
  const { pathname, search } = new URL(`http://localhost${message.url}`);
  // It is absolute, because the path `//host/path` would be read as another host.
  const url = `http://${headers.host}${pathname}${search}`;
  const copy = new Readable({ read: () => {}, destroy: (error, done) => done(error) });
  for (const chunk of [...body, null]) copy.push(chunk);
  return Object.assign(copy, { method, url, headers, rawHeaders, httpVersion, socket, connection: socket }) as never;
}

/** Ends a body that a handler streams together with its response, whichever of the two fails. */
function endWithStream(response: ServerResponse, report: Environment['report']): void {
  response.on('pipe', (body) => {
    response.once('close', () => body.destroy());
    body.once('error', (error) => {
      report(error);
      response.destroy();
    });
  });
}

/**
 * Cuts the connection for `HttpResponse.error()`, by which a handler says that it fails. Its status is 0, for which Node
 * would throw where nobody catches it.
 */
function cutAtNetworkError(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response);
  response.writeHead = (status: number, ...rest: never[]) =>
    status === 0 ? response.destroy() : writeHead(status, ...rest);
}

/** Ends the response of a handler that threw; answers that there is nothing more to send, or throws what is. */
function endFailed(response: ServerResponse, error: unknown, report: Environment['report']): true {
  report(error);
  if (!response.headersSent) {
    throw new ApiError('INTERNAL_ERROR', 'A handler of this server threw an error, which is printed to its stderr.');
  }
  response.destroy();
  return true;
}
