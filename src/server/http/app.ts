import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { lazy } from '../../basics/lazy-schema.ts';
import { createSilentReader } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import { isStreamPath } from '../../contract/stream-protocol.ts';
import { CONTROL_PATH } from '../../control/table/control-path.ts';
import type { OwnProcess } from '../../control/table/row.ts';
import type { MailboxInternals } from '../../mailbox/mailbox.ts';
import { findSender, type Principal } from '../../service/access/principal.ts';
import { type ApiRequest, type ApiResult, toApiError } from '../../service/pipeline/exchange.ts';
import { toErrorReply } from '../../service/pipeline/reply.ts';
import type { Intake } from '../intake.ts';
import { nameClient } from '../name-client.ts';
import { isControlRead, type Log, logRequest } from '../server-log.ts';
import type { WaitingOutput } from '../waiting-output.ts';
import type { WorkQueue } from '../work-queue.ts';
import {
  guardControl,
  guardHost,
  guardTarget,
  hasToken,
  isForInspector,
  isOriginAllowed,
  setCorsHeaders,
} from './guards.ts';
import { readRequest, sendReply, signalOfDisconnect } from './node-adapter.ts';
import type { NodeRequest, NodeRequestHandler } from './request-queue.ts';
import type { createStreamServer } from './stream-server.ts';
import { acceptDone, DONE_PATH } from './trial-done.ts';
import type { UserHandlers } from './user-handlers.ts';

/**
 * Somebody who may control the emulator under observation, such as an agent that is judged. The owner of the server, who
 * has `controlToken`, is not observed.
 */
export interface ControlGuest {
  /** The token of the guest; undefined if it may not call the control plane. */
  readonly token: string | undefined;
  /** Is called before a control call of the guest is run. What it throws is the reply, and the call is not run. */
  onCall(call: Pick<ApiRequest, 'method' | 'path' | 'query'>): void;
  /** Is called with each control call that was refused because its token is missing or wrong. */
  onRefused(call: Pick<ApiRequest, 'method' | 'path'>): void;
  /** Is called with each request for the service, and with its key; `principal` is undefined if nobody has this key. */
  onRequest(
    request: Pick<ApiRequest, 'method' | 'path'>,
    key: string | undefined,
    principal: Principal | undefined,
  ): void;
}

/** The options of the application: the mailbox, and the rules that say which clients it accepts. */
export interface AppOptions {
  readonly internals: MailboxInternals;
  /** The user's own msw handlers, which run before the emulator; `undefined` without any. */
  readonly userHandlers: UserHandlers | undefined;
  /** Host names, besides loopback names, that a request's `Host` may have. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Origins, besides loopback origins, whose pages may call the API. */
  readonly allowedOrigins: ReadonlySet<string>;
  readonly process: OwnProcess;
  /** The token that the control plane requires; `undefined` if it requires none. */
  readonly controlToken: string | undefined;
  /** Who is told of the control calls of a guest; undefined without a guest. */
  readonly controlGuest?: ControlGuest | undefined;
  readonly log: Log | undefined;
  /** Whether calls that only read from the control plane are logged too. */
  readonly verbose: boolean;
  readonly intake: Intake;
  readonly output: WaitingOutput;
  /** Runs the long work of all connections in slices. */
  readonly work: WorkQueue;
}

/** Handles each HTTP request: finds out who answers it, and whether its client may call them. */
export class App implements NodeRequestHandler {
  readonly #options: AppOptions;
  /** The part for event streams. It is loaded when the first stream opens, because most servers have no streams. */
  #streams: Promise<ReturnType<typeof createStreamServer>> | undefined;
  /** Loads the control plane for the first control call. */
  readonly #loadControl = lazy(async () => {
    const { internals, process } = this.#options;
    const { createControl } = await import('../../control/table/control.ts');
    return createControl(internals.mailbox, internals.report, undefined, process, internals.service.worlds);
  });

  constructor(options: AppOptions) {
    this.#options = options;
  }

  /** Handles a request. The promise never rejects. */
  async handle(message: NodeRequest, response: ServerResponse): Promise<void> {
    const { internals, output, work, log, verbose } = this.#options;
    let result: Partial<ApiResult> = {};
    if (log && (verbose || !isControlRead(message))) logRequest(log, message, response, () => result);
    try {
      result = (await this.#findReply(message, response)) ?? {};
      if (result.reply) await sendReply(response, result.reply, { output, work });
    } catch (thrown) {
      const error = toApiError(thrown, internals.report);
      result = { ...result, error };
      if (response.headersSent) response.destroy();
      else {
        const reader = createSilentReader(internals.mailbox.behaviours);
        await sendReply(response, toErrorReply(error, reader), { output, work });
      }
    }
  }

  /**
   * Takes the steps of a request in order. A step that throws ends the request. The result is `undefined` if a stream or
   * a handler of the user writes the response itself.
   */
  async #findReply(message: NodeRequest, response: ServerResponse): Promise<ApiResult | undefined> {
    const { internals, userHandlers, allowedHosts, allowedOrigins, controlGuest, intake, output, work } = this.#options;
    const { worlds } = internals.service;
    const { headers } = message;

    // 1. Refuse a foreign Host, a method that no path supports, and a target that is not a path.
    guardHost(headers, allowedHosts);
    guardTarget(message);

    // 2. Read the head, and find out who answers. The request belongs to the epoch in which it arrived, however long it
    // then waits.
    const head = readRequest(message, { epoch: worlds.epoch, inSlices: work.inSlices });
    const route = findRoute(head, message);

    // 3. Refuse a client that may not control the emulator. The letter case of the path is ignored here, so that no other
    // spelling can bypass the guard.
    if (isInside(head.path, CONTROL_PATH) && route !== 'page' && route !== 'ready') this.#guardControl(headers, head);

    // 4. Allow a page of another origin to read the reply, and answer its preflight.
    if (this.#mayPageCall(headers.origin, head.path)) {
      if (setCorsHeaders(message, response, { isMcp: route === 'tools' })) return PREFLIGHT_REPLY;
    }

    // 5. Count the body, when it is read, towards the limit for everything that all clients send at the same time.
    let request = head;
    if (head.body) {
      const declaredBytes = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
      const findClient = () => this.#nameClient(head, message);
      request = { ...head, body: intake.countBody(head.body, declaredBytes, response, findClient) };
    }

    // 6. Tell the guest, if there is one, of each request for the service.
    if (controlGuest && (route === 'service' || route === 'tools' || route === 'stream')) {
      const { key, principal } = findSender(internals.service, request);
      controlGuest.onRequest(request, key, principal);
    }

    // 7. Answer.
    switch (route) {
      case 'ready':
      case 'control': {
        const call = { ...request, signal: signalOfDisconnect(message, response) };
        const control = this.#observe(headers, await this.#loadControl());
        // A probe whether the server is ready does not wait for others.
        if (route === 'control') await work.begin();
        if (request.path !== MCP_CONTROL_PATH) return control(call);
        return (await import('../mcp/serve-mcp.ts')).serveControl(internals, control, call);
      }
      case 'done':
        return acceptDone(internals, request);
      case 'stream':
        this.#streams ??= import('./stream-server.ts').then((part) =>
          part.createStreamServer(internals, this.#options),
        );
        return (await this.#streams).open(message, request, response, this.#nameClient(request, message));
      case 'tools': {
        if (headers.origin !== undefined && !isOriginAllowed(headers.origin, allowedOrigins)) {
          throw new ApiError('FOREIGN_ORIGIN', `A page from another origin may not call ${AGENT_PATH}.`);
        }
        const { serveOperations } = await import('../mcp/serve-mcp.ts');
        await work.begin();
        return serveOperations(internals, request);
      }
      case 'page':
      case 'service': {
        const answer = route === 'page' ? servePage : internals.handle;
        // A handler of the user may replace the page at `/` too, but nothing of the control plane.
        if (!userHandlers || isControlPath(request.path)) return answer(request);
        // express writes the replies of these handlers.
        output.watch(message.socket, 'http');
        return userHandlers(message, request, response, answer);
      }
    }
  }

  /** Closes every stream and ends every live feed and wait for mail, because the server is closing. */
  async closeStreams(): Promise<void> {
    this.#options.internals.endWaits();
    (await this.#streams)?.close();
  }

  /** Refuses a call that may not control the emulator. A guest is told of it. */
  #guardControl(headers: IncomingHttpHeaders, request: ApiRequest): void {
    const { controlToken, controlGuest, process } = this.#options;
    const tokens = [controlToken, controlGuest?.token].filter((token) => token !== undefined);
    try {
      guardControl(headers, request, tokens, process.publicUrl);
    } catch (error) {
      controlGuest?.onRefused(request);
      throw error;
    }
  }

  /** Returns the control plane, which tells of each call of a guest before it runs it, also of one that a tool makes. */
  #observe(headers: IncomingHttpHeaders, control: Control): Control {
    const { controlGuest } = this.#options;
    if (controlGuest?.token === undefined || !hasToken(headers, controlGuest.token)) return control;
    return async (request) => {
      controlGuest.onCall(request);
      return control(request);
    };
  }

  /** Returns the names of the client that has sent a request. A key that is not valid is no login. */
  #nameClient(request: ApiRequest, { socket }: IncomingMessage): readonly string[] {
    const { principal } = findSender(this.#options.internals.service, request);
    return nameClient(socket.remoteAddress, principal, isControlPath(request.path) ? 'control' : 'http');
  }

  /**
   * Returns whether web pages of an origin may call this path. They may call the service and the tools for an agent; if
   * the user has handlers, they may call every path that these may answer.
   */
  #mayPageCall(origin: string | undefined, path: string): boolean {
    const { allowedOrigins, userHandlers } = this.#options;
    if (origin === undefined || !isOriginAllowed(origin, allowedOrigins)) return false;
    if (isInside(path, '/v1') || path === AGENT_PATH) return true;
    return userHandlers !== undefined && !isControlPath(path) && path !== DONE_PATH;
  }
}

/** Handles the requests to the control plane. */
type Control = (request: ApiRequest) => Promise<ApiResult>;

/**
 * Who answers a request: a file of the inspector (`page`), the control plane (`control`, and `ready`, which asks whether
 * the server is ready), the call of an agent that is done (`done`), an event stream, the tools for an agent, or the
 * service.
 */
type Route = 'page' | 'ready' | 'control' | 'done' | 'stream' | 'tools' | 'service';

function findRoute(request: ApiRequest, { head }: NodeRequest): Route {
  const { path } = request;
  if (isForInspector(request)) return 'page';
  if (path === READY_PATH) return 'ready';
  if (isControlPath(path)) return 'control';
  if (path === DONE_PATH) return 'done';
  if (head && isStreamPath(path)) return 'stream';
  return path === AGENT_PATH ? 'tools' : 'service';
}

/** The path that needs no token, because load balancers call it and have no token. */
const READY_PATH = `${CONTROL_PATH}/ready`;

/** The path of the tools for an agent, and of the tools that control the emulator, by the Model Context Protocol. */
const [AGENT_PATH, MCP_CONTROL_PATH] = ['/mcp', `${CONTROL_PATH}/mcp`];

const PREFLIGHT_REPLY: ApiResult = { reply: { status: 204, headers: { 'Content-Length': '0' }, body: null } };

/** Replies with a file of the inspector. The code for it is loaded only when somebody opens the inspector. */
async function servePage(request: ApiRequest): Promise<ApiResult> {
  const { serveInspector } = await import('./serve-inspector.ts');
  return { reply: await serveInspector(request) };
}

/** Returns whether a path is in a folder. Ignores case, so that no other spelling of a path can bypass a guard. */
function isInside(path: string, folder: string): boolean {
  return `${path}/`.toLowerCase().startsWith(`${folder}/`);
}

/** Returns whether a path is routed to the control plane. Case matters: `/__MOCK` is guarded, but is not routed. */
function isControlPath(path: string): boolean {
  return `${path}/`.startsWith(`${CONTROL_PATH}/`);
}
