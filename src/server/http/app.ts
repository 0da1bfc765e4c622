import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lazy } from '../../basics/lazy-schema.ts';
import { createSilentReader } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import { isStreamPath } from '../../contract/stream-protocol.ts';
import { CONTROL_PATH } from '../../control/table/control-path.ts';
import type { OwnProcess } from '../../control/table/row.ts';
import type { MailboxInternals } from '../../mailbox/mailbox.ts';
import { findPrincipal, findSender, type Principal } from '../../service/access/principal.ts';
import { type ApiRequest, type ApiResult, toApiError } from '../../service/pipeline/exchange.ts';
import { toErrorReply } from '../../service/pipeline/reply.ts';
import { findOwner } from '../../world/store/parts.ts';
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
import { ReplyBatch, readRequest, sendReply, signalOfDisconnect } from './node-adapter.ts';
import type { NodeRequest, NodeRequestHandler } from './request-queue.ts';
import type { createStreamServer } from './stream-server.ts';
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

/** Handles each HTTP request: applies the guards, then passes the request to the service or to the control plane. */
export class App implements NodeRequestHandler {
  readonly #options: AppOptions;
  readonly #batch: ReplyBatch;
  /** The part for event streams. It is loaded when the first stream opens, because most servers have no streams. */
  #streams: Promise<ReturnType<typeof createStreamServer>> | undefined;
  /** Loads the control plane for the first control call. */
  readonly #loadControl = lazy(async () => {
    const { internals, process } = this.#options;
    const { createControl } = await import('../../control/table/control.ts');
    return createControl(internals.mailbox, internals.report, undefined, process, internals.service.worlds);
  });
  /** The latest `Host` that the guard accepted. Most requests have the same `Host`, and parsing a URL is slow. */
  #acceptedHost: string | undefined;

  constructor(options: AppOptions) {
    this.#options = options;
    this.#batch = new ReplyBatch(options.output);
  }

  /** Handles a request. The promise never rejects. */
  async handle(message: NodeRequest, response: ServerResponse): Promise<void> {
    const { internals, output, work, log, verbose } = this.#options;
    const sending = { batch: this.#batch, output, work };
    let result: Partial<ApiResult> = {};
    if (log && (verbose || !isControlRead(message))) logRequest(log, message, response, () => result);
    try {
      result = (await this.#route(message, response)) ?? {};
      if (result.reply) await sendReply(response, result.reply, sending);
    } catch (thrown) {
      const error = toApiError(thrown, internals.report);
      result = { ...result, error };
      if (response.headersSent) response.destroy();
      else {
        const reader = createSilentReader(internals.mailbox.behaviours);
        await sendReply(response, toErrorReply(error, reader), sending);
      }
    }
  }

  /** Closes every stream and ends every live feed and wait for mail, because the server is closing. */
  async closeStreams(): Promise<void> {
    this.#options.internals.endWaits();
    (await this.#streams)?.close();
  }

  /** Routes a request. Returns `undefined` if a stream or a handler of the user writes the response itself. */
  async #route(message: NodeRequest, response: ServerResponse): Promise<ApiResult | undefined> {
    this.#guardHost(message.headers);
    guardTarget(message);
    const unread = readRequest(message, this.#options.work.inSlices);
    const forInspector = isForInspector(unread);
    if (isInside(unread.path, CONTROL_PATH) && !forInspector && unread.path !== READY_PATH) {
      this.#guardControl(message.headers, unread);
    }
    const request = this.#countBody(unread, message, response);
    if (isControlPath(request.path)) {
      if (forInspector) return serveInspector(request);
      const call = { ...request, signal: signalOfDisconnect(message, response) };
      return withoutTimeLimit(message.socket, async () => {
        const control = this.#observe(message.headers, await this.#loadControl());
        // A probe whether the server is ready does not wait for others.
        if (request.path !== READY_PATH) await this.#options.work.begin();
        if (request.path !== MCP_CONTROL_PATH) return control(call);
        return (await import('../mcp/serve-mcp.ts')).serveControl(this.#options.internals, control, call);
      });
    }
    if (request.path === DONE_PATH) return acceptDone(this.#options.internals, request);
    const mayPageCall = this.#mayPageCall(message.headers.origin, request.path);
    const isMcp = request.path === AGENT_PATH;
    if (mayPageCall && setCorsHeaders(message, response, { isMcp })) return PREFLIGHT_REPLY;
    const { internals, userHandlers, intake, output, work, allowedOrigins, controlGuest } = this.#options;
    if (controlGuest && !forInspector) {
      const { key, principal } = findSender(internals.service, request);
      controlGuest.onRequest(request, key, principal);
    }
    if (message.head && isStreamPath(request.path)) {
      this.#streams ??= import('./stream-server.ts').then(({ createStreamServer }) =>
        createStreamServer(internals, { intake, output, allowedOrigins }),
      );
      return (await this.#streams).open(message, request, response, this.#nameClient(request, message));
    }
    // A handler of the user may replace the path /, too.
    const next = (request: ApiRequest) => (forInspector ? serveInspector(request) : internals.handle(request));
    if (isMcp) {
      if (message.headers.origin !== undefined && !isOriginAllowed(message.headers.origin, allowedOrigins)) {
        throw new ApiError('FOREIGN_ORIGIN', `A page from another origin may not call ${AGENT_PATH}.`);
      }
      return withoutTimeLimit(message.socket, async () => {
        const { serveOperations } = await import('../mcp/serve-mcp.ts');
        await work.begin();
        return serveOperations(internals, request);
      });
    }
    const { epoch } = internals.service.worlds;
    // A handler of the user may wait before it passes the request on, so the request keeps the epoch of its arrival.
    const nextInEpoch = (passedOn: ApiRequest) => next({ ...passedOn, epoch, inSlices: work.inSlices });
    const handle = async () => (userHandlers ? userHandlers(message, request, response, nextInEpoch) : next(request));
    return internals.service.faults.isEmpty ? handle() : withoutTimeLimit(message.socket, handle);
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

  /** Makes the body of a request count towards the limit for everything that all clients send at the same time. */
  #countBody(request: ApiRequest, message: IncomingMessage, response: ServerResponse): ApiRequest {
    if (!request.body) return request;
    const { intake, internals } = this.#options;
    const declaredBytes = Number(message.headers['content-length'] ?? Number.POSITIVE_INFINITY);
    const findClient = () => this.#nameClient(request, message);
    const body = intake.countBody(request.body, declaredBytes, response, findClient);
    return { ...request, body, epoch: internals.service.worlds.epoch };
  }

  /** Returns the names of the client that has sent a request. A key that is not valid is no login. */
  #nameClient(request: ApiRequest, { socket }: IncomingMessage): readonly string[] {
    const { principal } = findSender(this.#options.internals.service, request);
    return nameClient(socket.remoteAddress, principal, isControlPath(request.path) ? 'control' : 'http');
  }

  #guardHost(headers: IncomingHttpHeaders): void {
    if (headers.host === this.#acceptedHost && headers.host !== undefined) return;
    guardHost(headers, this.#options.allowedHosts);
    this.#acceptedHost = headers.host;
  }

  /**
   * Returns whether web pages of an origin may call this path. They may call the paths of the service and the tools
   * for an agent; if the user has handlers, they may call any path.
   */
  #mayPageCall(origin: string | undefined, path: string): boolean {
    const { allowedOrigins, userHandlers } = this.#options;
    if (origin === undefined || !isOriginAllowed(origin, allowedOrigins)) return false;
    return isInside(path, '/v1') || path === AGENT_PATH || userHandlers !== undefined;
  }
}

/** Handles the requests to the control plane. */
type Control = (request: ApiRequest) => Promise<ApiResult>;

/** The path that needs no token, because load balancers call it and have no token. */
const READY_PATH = `${CONTROL_PATH}/ready`;

/**
 * The path by which an agent says that it is done with everything that it knows of. It is outside of the control plane,
 * because an agent may always call it.
 */
export const DONE_PATH = '/trial/done';

/**
 * Adds to the journal that an agent said that it is done. `?sandbox=<id>` or a key says whose agent it is; without both,
 * it is the agent of the whole mailbox.
 *
 * @throws {ApiError} METHOD_NOT_ALLOWED unless the method is POST; NOT_FOUND for an unknown sandbox; UNAUTHORIZED for an
 *   unknown key.
 */
function acceptDone({ service, mailbox }: MailboxInternals, request: ApiRequest): ApiResult {
  const { method, query } = request;
  if (method !== 'POST') {
    const problem = `${method} is not supported for this path; use POST.`;
    throw new ApiError('METHOD_NOT_ALLOWED', problem, { headers: { allow: 'POST' } });
  }
  const { worlds, journals } = service;
  const sandbox = query.get('sandbox');
  const { key } = findSender(service, request);
  const ofKey = sandbox === null && key !== undefined ? findPrincipal(worlds, key).world?.id : undefined;
  const tenantId = sandbox === null ? (ofKey ?? null) : mailbox.sandbox(sandbox).id;
  journals.publish(findOwner(worlds, tenantId), 'agent-done', { tenantId });
  return { reply: { status: 204, headers: { 'Content-Length': '0' }, body: null } };
}

/** The path of the tools for an agent, and of the tools that control the emulator, by the Model Context Protocol. */
const [AGENT_PATH, MCP_CONTROL_PATH] = ['/mcp', `${CONTROL_PATH}/mcp`];

const PREFLIGHT_REPLY: ApiResult = { reply: { status: 204, headers: { 'Content-Length': '0' }, body: null } };

/** Serves the inspector. Its code is loaded only when somebody opens it. */
async function serveInspector(request: ApiRequest): Promise<ApiResult> {
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

/** Disables the socket timeout, because a fault or a control call may wait for a long time. */
async function withoutTimeLimit<T>(socket: Socket, work: () => Promise<T>): Promise<T> {
  const idleMs = socket.timeout ?? 0;
  socket.setTimeout(0);
  try {
    return await work();
  } finally {
    socket.setTimeout(idleMs);
  }
}
