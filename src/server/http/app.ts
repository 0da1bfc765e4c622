import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../../contract/errors.ts';
import { createControl } from '../../control/control.ts';
import { CONTROL_PATH } from '../../control/control-path.ts';
import type { BuiltMailbox } from '../../mailbox.ts';
import { toApiError, toErrorReply } from '../../pipeline/error-reply.ts';
import type { ApiRequest, HandlerResult } from '../../pipeline/http.ts';
import { isStreamPath } from '../../stream/admit.ts';
import type { Log } from '../log/log-format.ts';
import { logRequest } from '../log/request-log.ts';
import { createStreamServer, type StreamServer } from '../websocket/stream-server.ts';
import { allowOrigin, createOriginRule, type OriginRule } from './cors.ts';
import { guardControl, guardHost, guardTarget } from './guards.ts';
import type { ServerApp } from './http-server.ts';
import { readRequest } from './read-request.ts';
import { sendReply } from './send-reply.ts';
import type { Upgrades } from './upgrade.ts';
import type { UserHandlers } from './user-handlers.ts';

/** What a server answers with, and whom it answers. */
export interface AppOptions {
  readonly built: BuiltMailbox;
  /** The user's own msw handlers, which come before ours; `undefined` without any. */
  readonly userHandlers: UserHandlers | undefined;
  /** Host names, besides loopback ones, that a request's `Host` may have. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Origins, besides loopback ones, whose pages may call the API. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** The token that the control plane asks for; `undefined` where it is only reachable from this machine. */
  readonly controlToken: string | undefined;
  readonly log: Log | undefined;
}

/** The guards, and behind them the mailbox, its streams and its control plane: what answers each request of Node. */
export class App implements ServerApp {
  readonly upgrades: Upgrades = new WeakMap();
  readonly #options: AppOptions;
  readonly #isAllowed: OriginRule;
  readonly #streams: StreamServer;
  readonly #control: (request: ApiRequest) => Promise<HandlerResult>;

  constructor(options: AppOptions) {
    this.#options = options;
    this.#isAllowed = createOriginRule(options.allowedOrigins);
    this.#streams = createStreamServer(options.built, this.#isAllowed);
    this.#control = createControl(options.built.mailbox, options.built.report);
  }

  /** Answers a request; it never rejects. */
  async answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { built, log } = this.#options;
    let error: ApiError | undefined;
    if (log) logRequest(log, message, response, () => error);
    try {
      const answered = await this.#route(message, response);
      error = answered?.error;
      if (answered) await sendReply(response, answered.reply);
    } catch (thrown) {
      error = toApiError(thrown, built.report);
      if (response.headersSent) response.destroy();
      else
        await sendReply(
          response,
          toErrorReply(error, (id) => built.mailbox.behaviours[id]),
        );
    }
  }

  /** Closes every stream because the server ends. */
  closeStreams(): void {
    this.#streams.close();
  }

  /** Answers a request, or has something else write the response; then there is no answer to send. */
  async #route(message: IncomingMessage, response: ServerResponse): Promise<HandlerResult | undefined> {
    const request = this.#guard(message);
    if (isControlPath(request.path)) return withoutTimeLimit(message.socket, () => this.#control(request));
    if (this.#isForPages(request.path) && allowOrigin(message, response, this.#isAllowed)) return PREFLIGHT;
    const upgrade = this.upgrades.get(message);
    if (upgrade && isStreamPath(request.path)) return this.#streams.open({ message, request, response, upgrade });
    const { built, userHandlers } = this.#options;
    return userHandlers ? userHandlers(message, response, built.handle) : built.handle(request);
  }

  /** Checks who asks and from where, and reads the request. */
  #guard(message: IncomingMessage): ApiRequest {
    guardHost(message.headers, this.#options.allowedHosts);
    guardTarget(message);
    const request = readRequest(message);
    if (isUnder(CONTROL_PATH, request.path)) guardControl(message.headers, this.#options.controlToken);
    return request;
  }

  /** Pages of allowed origins may call the service, and the routes that a user adds. */
  #isForPages(path: string): boolean {
    return isUnder('/v1', path) || this.#options.userHandlers !== undefined;
  }
}

const PREFLIGHT: HandlerResult = { reply: { status: 204, headers: { 'Content-Length': '0' }, body: null } };

/** Guards ask whatever the letter case of a path, lest another spelling pass them by. */
function isUnder(folder: string, path: string): boolean {
  return `${path}/`.toLowerCase().startsWith(`${folder}/`);
}

function isControlPath(path: string): boolean {
  return `${path}/`.startsWith(`${CONTROL_PATH}/`);
}

/** A control call may take as long as what it waits for, such as receivers that do not answer. */
async function withoutTimeLimit<T>(socket: Socket, work: () => Promise<T>): Promise<T> {
  const idleMs = socket.timeout ?? 0;
  socket.setTimeout(0);
  try {
    return await work();
  } finally {
    socket.setTimeout(idleMs);
  }
}
