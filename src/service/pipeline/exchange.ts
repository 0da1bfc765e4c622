import { isBytes } from '../../basics/base64.ts';
import { performance } from '../../basics/real-timers.ts';
import { byteLengthOf } from '../../basics/text.ts';
import type { BehaviourId, BehaviourReader, BehaviourValues } from '../../contract/behaviours.ts';
import { BEHAVIOUR_IDS, isAssumed, RecordingReader } from '../../contract/behaviours.ts';
import { ApiError, INVENTED_CODES, INVENTED_STATUSES } from '../../contract/errors.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import { OPERATIONS, type OperationId, type OperationRow } from '../../contract/operations.ts';
import type { Environment } from '../../world/environment.ts';
import type { Faults } from '../../world/faults.ts';
import type { Entry, Origin, Protocol } from '../../world/journal/entry.ts';
import type { Journals } from '../../world/journal/journal.ts';
import type { RequestFault } from '../../world/request-fault.ts';
import type { World } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { Correspondents } from '../mail/correspondents/correspondents.ts';
import type { LoopGuard } from '../mail/outgoing/loop-guard.ts';
import type { Outcome } from '../operations/context.ts';
import type { Principal } from './access/principal.ts';
import { type ResolvedOperation, resolveOperation } from './resolve-operation.ts';

/**
 * One request and its reply, with the row and the principal that were found, and the behaviours that were used. The
 * stages of `handle-request.ts` set its fields one after the other. The journal gets the finished exchange.
 */
export class Exchange extends RecordingReader {
  /** The start time, in milliseconds of `performance.now()`. */
  readonly startedMs = performance.now();
  /** The epoch in which the request began. */
  readonly epoch: number;
  /** The row of the requested operation; `undefined` until it is found. */
  row: OperationRow | undefined;
  /** The tenant of the key that was sent, when the body began to arrive; `undefined` without a valid key or a body. */
  sender: World | undefined;
  /** The caller; `undefined` until the key is checked, and for a public operation. */
  principal: Principal | undefined;
  /** The body of the request; `undefined` until it is read. */
  received: ReceivedBody | undefined;
  /** The faults that shaped the reply. */
  faults: readonly RequestFault[] = [];
  /** The error of a refused request, with its internal reason, which the reply omits; `undefined` after a success. */
  error: ApiError | undefined;
  /** The address that a login of SMTP or IMAP names, if an inbox has it. */
  loginAddress: string | undefined;
  /** Why a command of SMTP or IMAP was refused. */
  refusal: string | undefined;
  /** The names of unknown fields and query parameters in the request, each with the known names that are similar. */
  readonly ignored: string[] = [];
  /** The entries of the journal that the request has caused so far. */
  readonly caused: Entry[] = [];
  /** The ids of the messages that a command of IMAP has read or changed. */
  read: readonly string[] = [];
  /** The origin of the entries that the request causes. It becomes the entry of the request. */
  readonly origin: Origin = {};
  reply: ApiReply | undefined;
  /** The duration in milliseconds; 0 until the exchange is finished. */
  durationMs = 0;

  /** `protocol` says how the request came. With SMTP and IMAP, the request is a command. */
  constructor(
    { behaviours, worlds }: Pick<Service, 'behaviours' | 'worlds'>,
    readonly request: ApiRequest,
    readonly protocol: Protocol = 'http',
  ) {
    super(behaviours);
    this.epoch = request.epoch ?? worlds.epoch;
  }
}

/** A finished exchange. */
export type FinishedExchange = Exchange & { readonly reply: ApiReply };

/** Returns whether the mailbox or the sandbox of a request was reset, restored or closed after the request began. */
export function isOver(worlds: Worlds, { epoch, principal, sender }: Exchange): boolean {
  return worlds.isOver(epoch, principal?.world ?? sender);
}

/**
 * Converts any thrown value to an API error. A value that is not an `ApiError` is a bug in the emulator: it is
 * reported, and the reply does not contain its details.
 */
export function toApiError(thrown: unknown, report: Environment['report']): ApiError {
  if (thrown instanceof ApiError) return thrown;
  report(thrown);
  return new ApiError(
    'INTERNAL_ERROR',
    'The emulator failed because of a bug in it; the cause is printed to its stderr, or to the console of the page.',
  );
}

/** Refuses a request because of any thrown value: records the error and returns its reply. */
export function refuse(exchange: Exchange, thrown: unknown, report: Environment['report']): ApiReply {
  exchange.error = toApiError(thrown, report);
  return toErrorReply(exchange.error, exchange);
}

/** Converts an error to a reply, in the shape that `errors.shape` decides. */
export function toErrorReply({ status, message, code, headers }: ApiError, { readBehaviour, assume }: BehaviourReader) {
  const hasCode = readBehaviour('errors.shape') === 'error-and-code';
  const isStatusInvented = INVENTED_STATUSES.includes(status);
  if (!isStatusInvented) assume('errors.statuses');
  if (isStatusInvented || (hasCode && INVENTED_CODES.includes(code))) assume('errors.codes');
  return jsonReply(status, hasCode ? { error: message, code } : { error: message }, headers);
}

/** Everything that handling a request needs: the state, the environment and the current behaviours of one mailbox. */
export interface Service {
  readonly worlds: Worlds;
  readonly journals: Journals;
  readonly behaviours: BehaviourValues;
  /** A copy of the present values of the behaviours, which never changes. A change replaces it. */
  readonly behavioursNow: BehaviourValues;
  readonly faults: Faults;
  readonly loops: LoopGuard;
  readonly correspondents: Correspondents;
  /** The behaviours that `X-Mock-Assumed` lists if they shape a reply. */
  readonly assumed: ReadonlySet<BehaviourId>;
  /** Recomputes what depends on behaviours. Call it after their values have changed. */
  refreshBehaviours(): void;
  /** Returns the parts of an operation for the current values of the behaviours. */
  operationFor(id: OperationId): ResolvedOperation;
}

/** Creates the service of one mailbox. Each operation is resolved when it is first requested. */
export function createService(
  parts: Omit<Service, 'operationFor' | 'assumed' | 'refreshBehaviours' | 'behavioursNow'>,
): Service {
  const resolved = new Map<OperationId, ResolvedOperation>();
  const assumed = new Set<BehaviourId>();
  let behavioursNow: BehaviourValues = { ...parts.behaviours };
  const refreshBehaviours = () => {
    behavioursNow = { ...parts.behaviours };
    resolved.clear();
    assumed.clear();
    for (const id of BEHAVIOUR_IDS) if (isAssumed(id, parts.behaviours)) assumed.add(id);
  };
  refreshBehaviours();
  return {
    assumed,
    get behavioursNow() {
      return behavioursNow;
    },
    refreshBehaviours,
    ...parts,
    operationFor(id) {
      const operation = resolved.get(id) ?? resolveOperation(OPERATIONS[id], parts.behaviours);
      resolved.set(id, operation);
      return operation;
    },
  };
}

/** A request in the form that every adapter produces. */
export interface ApiRequest {
  readonly method: string;
  /** The path without the query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: HeaderReader;
  /** The body in chunks; iterating throws if the body is truncated. `null` if the request cannot have a body. */
  readonly body: AsyncIterable<Uint8Array> | null;
  /** The epoch in which the request arrived. Default: the epoch in which it is handled. */
  readonly epoch?: number | undefined;
  /** Is aborted when the client disconnects. Only a control call that may take long reads it. */
  readonly signal?: AbortSignal;
}

/** The query of every request without a query. It is shared, because the journal keeps the query of each request. */
export const NO_QUERY = new URLSearchParams();

/** A received body: its bytes, or the reason why there are none. */
export type ReceivedBody = Uint8Array | 'empty' | 'too-large' | 'truncated';

/** A reply in the form that every adapter sends. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text or bytes. JSON stays text until it is sent: a server can write it together with the headers. */
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** A reply whose body may also be a stream. */
export interface AnyReply extends Omit<ApiReply, 'body'> {
  readonly body: ApiReply['body'] | ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** The result of handling a request. */
export interface ApiResult {
  readonly reply: AnyReply;
  /** The row of the operation or of the control call; `undefined` if the request is for neither. */
  readonly row?: { readonly id: string } | undefined;
  /** The error of a refused request, with its internal reason, which the reply omits. */
  readonly error?: ApiError | undefined;
  /** The names of unknown fields and query parameters in the request, each with the known names that are similar. */
  readonly ignored?: readonly string[] | undefined;
}

/** The reply header that lists the behaviours that the reply depends on. */
export const ASSUMED_HEADER = 'x-mock-assumed';

/** The reply header that lists the faults that shaped the reply. */
export const FAULT_HEADER = 'x-mock-fault';

/** Stands for no reply at all: the adapter cuts the connection. A network error has the status 0 in fetch, too. */
export const CUT_REPLY: ApiReply = { status: 0, headers: {}, body: null };

/** Returns whether the adapter must cut the connection instead of sending a reply. */
export function isCut({ status }: Pick<ApiReply, 'status'>): boolean {
  return status === CUT_REPLY.status;
}

/** The error of a call in process if the connection is cut. It is a `TypeError`, like the network errors of `fetch`. */
export class ConnectionCutError extends TypeError {
  constructor() {
    super('A fault cut the connection before the reply.');
  }
}

const encoder = new TextEncoder();

/** Longer JSON is sent as bytes, because bytes that wait for slow clients are outside of the JavaScript heap. */
const MAX_TEXT_LENGTH = 1024 * 1024;

/** Creates a JSON reply. If `value` is `undefined`, the reply has no content. */
export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): ApiReply {
  if (value === undefined) return { status, headers: { ...headers, 'content-length': '0' }, body: null };
  const body = JSON.stringify(value);
  if (body.length > MAX_TEXT_LENGTH) {
    return bytesReply(status, encoder.encode(body), { 'content-type': 'application/json', ...headers });
  }
  const length = String(byteLengthOf(body));
  return { status, headers: { 'content-type': 'application/json', 'content-length': length, ...headers }, body };
}

/** Creates a reply of unchanged bytes; `headers` must contain the content type. */
export function bytesReply(status: number, bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}) {
  // The bytes of stored mail are not copied, because a copy would stay in memory as long as a slow client reads.
  const body = bytes instanceof Uint8Array ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
  return { status, headers: { 'content-length': String(body.byteLength), ...headers }, body };
}

/** Creates a reply of text. */
export function textReply(status: number, text: string, contentType: string): ApiReply {
  const headers = { 'content-length': String(byteLengthOf(text)), 'content-type': contentType };
  return { status, headers, body: text };
}

/**
 * Creates a streamed reply. Each text is sent as soon as it exists, until the last one or until the client disconnects.
 * A text may be given in UTF-8, so that many readers of the same text share its bytes.
 */
export function streamReply(
  status: number,
  texts: AsyncIterable<string | Uint8Array<ArrayBuffer>>,
  contentType: string,
): AnyReply {
  const iterator = texts[Symbol.asyncIterator]();
  const source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>> = {
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
    },
    async cancel() {
      await iterator.return?.();
    },
  };
  // There is no buffer, so that no text is created for a client that does not read, or that sent HEAD.
  const body = new ReadableStream(source, { highWaterMark: 0 });
  return { status, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body };
}

/** Creates the reply to OPTIONS: the methods that a path supports, without a body. */
export function optionsReply(allow: string): ApiReply {
  return { status: 204, headers: { allow }, body: null };
}

/** Creates the reply for an operation's outcome: bytes are sent unchanged, anything else as JSON. */
export function outcomeReply(defaultStatus: number, { status = defaultStatus, body, headers }: Outcome): ApiReply {
  return isBytes(body) ? bytesReply(status, body, headers) : jsonReply(status, body, headers);
}

/** Removes the body of a reply to HEAD. Status and headers stay as for GET. */
export function stripBodyForHead<Reply extends AnyReply>(method: string, reply: Reply): Reply | ApiReply {
  return method === 'HEAD' ? { ...reply, body: null } : reply;
}
