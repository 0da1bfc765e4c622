import { createMiddleware } from '@mswjs/http-middleware';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { http } from 'msw';
import { ApiError } from '../../contract/errors.ts';
import { answerControl, CONTROL_PATH } from '../../control/control.ts';
import type { Mailbox } from '../../mailbox.ts';
import { toErrorReply } from '../../pipeline/error-reply.ts';
import { createFetch } from '../fetch.ts';
import { allowOrigins, guardControlOrigin, guardControlToken, guardHost, guardTarget } from './guards.ts';
import { logRequests } from './request-log.ts';

/** What the express application of a mailbox is made of. */
export interface AppOptions {
  readonly mailbox: Mailbox<unknown>;
  readonly allowedHosts: readonly string[];
  readonly corsOrigins: readonly string[];
  /** The token that the control plane asks for; `undefined` where it is only reachable from this machine. */
  readonly controlToken: string | undefined;
  readonly log: ((line: string) => void) | undefined;
}

/** Puts the guards in front of the mailbox and its control plane. */
export function createApp({ mailbox, allowedHosts, corsOrigins, controlToken, log }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  if (log) app.use(logRequests(log));
  app.use(guardHost(allowedHosts), guardTarget());
  app.use('/v1', allowOrigins(corsOrigins));
  app.use(CONTROL_PATH, guardControlOrigin());
  if (controlToken !== undefined) app.use(CONTROL_PATH, guardControlToken(controlToken));
  app.use(absoluteTarget(), serve(mailbox), replyWithError(mailbox));
  return app;
}

/** Makes the target absolute, because the middleware resolves it: `//host/path` must stay a path of ours. */
function absoluteTarget(): RequestHandler {
  return (request, _response, next) => {
    request.url = `http://${request.headers.host}${request.url}`;
    next();
  };
}

/** Serves the mailbox and its control plane through msw's own request handling. */
function serve(mailbox: Mailbox<unknown>): RequestHandler {
  const control = createFetch(async (request) => answerControl(mailbox, request));
  const isControl = ({ url }: Request) => new URL(url).pathname.startsWith(`${CONTROL_PATH}/`);
  const handlers = [
    http.all(
      ({ request }) => isControl(request),
      ({ request }) => control(request),
    ),
    http.all(
      () => true,
      ({ request }) => mailbox.fetch(request),
    ),
  ];
  // The middleware is CommonJS, so its types come from msw's other build; at run time the handlers are the same.
  const middleware = createMiddleware(...(handlers as never[]));
  return async (request, response, next) => {
    try {
      await middleware(request, response, next);
    } catch (error) {
      next(error);
    }
  };
}

/** The one place where what a guard or the server itself throws becomes a response. */
function replyWithError(mailbox: Mailbox<unknown>): ErrorRequestHandler {
  return (thrown, _request, response, next) => {
    if (response.headersSent) return next(thrown);
    const error = thrown instanceof ApiError ? thrown : new Error('The server could not handle the request.');
    const { status, headers, body } = toErrorReply(error, (id) => mailbox.behaviours[id]);
    response.writeHead(status, headers).end(body);
  };
}
