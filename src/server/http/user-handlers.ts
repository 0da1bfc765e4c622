import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createMiddleware } from '@mswjs/http-middleware';
import express from 'express';
import type { RequestHandler } from 'msw';
import { ApiError } from '../../contract/errors.ts';
import type { ApiRequest, ApiResult } from '../../service/pipeline/exchange.ts';
import { readBody } from '../../service/pipeline/parse-input.ts';
import { ConnectionCutError } from '../../service/pipeline/reply.ts';
import type { Environment } from '../../world/environment.ts';

/**
 * Runs the user's own handlers for a request, of which `message` is the form of Node. If no handler responds, the
 * request is passed to `next`.
 */
export type UserHandlers = (
  message: IncomingMessage,
  request: ApiRequest,
  response: ServerResponse,
  next: (request: ApiRequest) => Promise<ApiResult>,
) => Promise<ApiResult | undefined>;

/** The maximum size of a request body for a user's handler, in bytes. */
const MAX_USER_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Creates a function that runs the user's own msw handlers for requests of Node. It uses express and msw's middleware.
 *
 * @throws {TypeError} when a handler is not a request handler of msw.
 */
export function createUserHandlers(input: unknown, report: Environment['report']): UserHandlers {
  const handlers = parseHandlers(input);
  // The types differ, because the middleware is CommonJS and its types come from another build of msw. At run time, the
  // handlers are the same.
  const middleware = createMiddleware(...(handlers as never[]));
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  app.use((request, response, next) => {
    Promise.resolve(middleware(request, response, next)).catch(next);
  });

  return async (message, request, response, next) => {
    const received = await readBody(request, MAX_USER_BODY_BYTES);
    // Reading the rest of the body then fails again, so the emulator refuses the request.
    if (received === 'truncated') return next({ ...request, body: message.iterator({ destroyOnReturn: false }) });
    if (received === 'too-large') throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 16 MiB.');
    const body = received === 'empty' ? [] : [received];
    linkStreamToResponse(response, report);
    abortOnNetworkError(response);
    const isHandled = await new Promise<boolean>((resolve, reject) => {
      response.once('close', () => resolve(true));
      const onUnhandled = (error?: unknown) => (error ? reject(error) : resolve(false));
      app(copyMessage(message, body) as express.Request, response as express.Response, onUnhandled);
    }).catch((error: unknown) => handleFailure(response, error, report));
    return isHandled ? undefined : next({ ...request, body: Readable.from(body) });
  };
}

function parseHandlers(handlers: unknown): readonly RequestHandler[] {
  if (!Array.isArray(handlers)) {
    throw new TypeError(
      `The option handlers must be a list, or a function that returns a list, not a ${typeof handlers}.`,
    );
  }
  const index = handlers.findIndex((handler) => typeof handler?.run !== 'function' || handler.kind === 'websocket');
  if (index < 0) return handlers;
  throw new TypeError(`The option handlers takes http and graphql handlers of msw, and handlers[${index}] is neither.`);
}

/** Copies a request for the middleware, because the emulator may still need the body that the middleware consumes. */
function copyMessage(message: IncomingMessage, body: Uint8Array[]): IncomingMessage {
  const { method, headers, rawHeaders, httpVersion, socket } = message;
  const { pathname, search } = new URL(`http://localhost${message.url}`);
  // The URL is absolute, because the path `//host/path` would be parsed as another host.
  const url = `http://${headers.host}${pathname}${search}`;
  const copy = new Readable({ read: () => {}, destroy: (error, done) => done(error) });
  for (const chunk of [...body, null]) copy.push(chunk);
  return Object.assign(copy, { method, url, headers, rawHeaders, httpVersion, socket, connection: socket }) as never;
}

/** Destroys a streamed body when its response closes, and the response when the body fails. */
function linkStreamToResponse(response: ServerResponse, report: Environment['report']): void {
  response.on('pipe', (body) => {
    response.once('close', () => body.destroy());
    body.once('error', (error) => {
      report(error);
      response.destroy();
    });
  });
}

/**
 * Closes the connection when a handler returns `HttpResponse.error()`. Its status is 0, for which Node would throw an
 * uncaught error.
 */
function abortOnNetworkError(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response);
  response.writeHead = (status: number, ...rest: never[]) =>
    status === 0 ? response.destroy() : writeHead(status, ...rest);
}

/**
 * Handles an error of a handler. If the response has not started, throws an `ApiError` for the reply. Otherwise, or if
 * a fault cut the connection, destroys the response and returns `true`, because the request is handled.
 */
function handleFailure(response: ServerResponse, error: unknown, report: Environment['report']): true {
  const isFault = error instanceof ConnectionCutError;
  if (!isFault) report(error);
  if (!isFault && !response.headersSent) {
    throw new ApiError('INTERNAL_ERROR', 'A handler of this server threw an error, which is printed to its stderr.');
  }
  response.destroy();
  return true;
}
