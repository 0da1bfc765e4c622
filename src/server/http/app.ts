import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { createMiddleware } from '@mswjs/http-middleware';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { http } from 'msw';
import { createFetch } from '../../adapters/fetch.ts';
import { createControl } from '../../control/control.ts';
import { CONTROL_PATH } from '../../control/control-path.ts';
import type { Environment } from '../../environment.ts';
import type { Mailbox } from '../../mailbox.ts';
import { toApiError, toErrorReply } from '../../pipeline/error-reply.ts';
import type { Log } from '../log/log-format.ts';
import { logRequests } from '../log/request-log.ts';
import { createStreamServer } from '../websocket/stream-server.ts';
import {
  allowOrigins,
  createOriginRule,
  guardControlDelivery,
  guardControlHost,
  guardControlOrigin,
  guardControlToken,
  guardHost,
  guardTarget,
} from './guards.ts';
import type { Served } from './http-server.ts';
import type { Upgrades } from './upgrade.ts';

/** What the express application of a mailbox is made of. */
export interface AppOptions {
  readonly mailbox: Mailbox<unknown, unknown>;
  /** Host names, besides loopback ones, that a request's `Host` may have. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Origins, besides loopback ones, whose pages may call the API. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** The token that the control plane asks for; `undefined` where it is only reachable from this machine. */
  readonly controlToken: string | undefined;
  /** Gets each failure of the emulator itself. */
  readonly report: Environment['report'];
  readonly log: Log | undefined;
}

/** The application, as an HTTP server needs it. */
export interface App extends Served {
  /** Tells the clients of every stream that the server ends. */
  closeStreams(): void;
}

/** Puts the guards in front of the mailbox, its streams and its control plane. */
export function createApp(options: AppOptions): App {
  const { mailbox, allowedHosts, allowedOrigins, controlToken, report, log } = options;
  const isAllowed = createOriginRule(allowedOrigins);
  const upgrades: Upgrades = new WeakMap();
  const streams = createStreamServer(mailbox, upgrades, isAllowed);
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  if (log) app.use(logRequests(log));
  app.use(guardHost(allowedHosts), guardTarget(), normalisePath());
  app.use('/v1', allowOrigins(isAllowed));
  app.use(CONTROL_PATH, guardControlDelivery(), guardControlOrigin());
  app.use(CONTROL_PATH, controlToken === undefined ? guardControlHost() : guardControlToken(controlToken));
  app.use(streams.handler, serve(mailbox, report), replyWithError(mailbox, report));
  return { answer: leadThrough(app), upgrades, closeStreams: streams.close };
}

/**
 * Leads every request into the application. Express answers a target without a path by itself, with a page of HTML,
 * so such a one goes in as `/`; `originalUrl` is where the log and the guards look.
 */
function leadThrough(app: Express): RequestListener {
  return (request, response) => {
    const target = request.url ?? '';
    if (!target.startsWith('/')) Object.assign(request, { originalUrl: target, url: '/' });
    app(request, response);
  };
}

/** Takes `.` and `..` out of the path as fetch does, so that the guards below see the path that is served. */
function normalisePath(): RequestHandler {
  return (request, _response, next) => {
    const { pathname, search } = new URL(`http://${request.headers.host}${request.url}`);
    request.url = pathname + search;
    next();
  };
}

/** Serves the mailbox and its control plane through msw's own request handling. */
function serve(mailbox: Mailbox<unknown, unknown>, report: Environment['report']): RequestHandler {
  const control = createFetch(createControl(mailbox, report));
  const isControl = ({ url }: Request) => isControlPath(new URL(url).pathname);
  // One handler for both, because msw parses the URL and the cookies anew for each handler that it tries.
  const handler = http.all(
    () => true,
    ({ request }) => (isControl(request) ? control(request) : mailbox.fetch(request)),
  );
  // The middleware is CommonJS, so its types come from msw's other build; at run time the handler is the same.
  const middleware = createMiddleware(handler as never);
  return async (request, response, next) => {
    // Absolute, because the middleware resolves it: `//host/path` must stay a path of ours.
    request.url = `http://${request.headers.host}${request.url}`;
    // By this msw would leave a request alone, but behind this server there is nobody else to answer it.
    if (request.headers.accept?.includes('msw/passthrough')) request.headers.accept = '*/*';
    const handle = async () => middleware(request, response, next);
    try {
      await (isControlPath(request.path) ? withoutTimeLimit(request.socket, handle) : handle());
    } catch (error) {
      next(error);
    }
  };
}

/** A control call may take as long as what it waits for, such as receivers that do not answer. */
async function withoutTimeLimit(socket: Socket, work: () => Promise<unknown>): Promise<void> {
  const idleMs = socket.timeout ?? 0;
  socket.setTimeout(0);
  try {
    await work();
  } finally {
    socket.setTimeout(idleMs);
  }
}

function isControlPath(path: string): boolean {
  return `${path}/`.startsWith(`${CONTROL_PATH}/`);
}

/** The one place where what a guard or the server itself throws becomes a response. */
function replyWithError(mailbox: Mailbox<unknown, unknown>, report: Environment['report']): ErrorRequestHandler {
  return (thrown, _request, response, next) => {
    if (response.headersSent) return next(thrown);
    const { status, headers, body } = toErrorReply(toApiError(thrown, report), (id) => mailbox.behaviours[id]);
    response.writeHead(status, headers).end(body);
  };
}
