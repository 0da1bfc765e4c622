import { performance } from '../../basics/real-timers.ts';
import { RecordingReader } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import type { OperationRow } from '../../contract/operations.ts';
import type { Environment } from '../../world/environment.ts';
import type { RequestFault } from '../../world/fault.ts';
import type { Cause } from '../../world/journal/entry.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import { findSender, type Principal, type Sender } from '../access/principal.ts';
import type { Entry } from '../journal/entry-kinds.ts';
import { type AnyReply, type ApiReply, type RunInSlices, toErrorReply } from './reply.ts';
import type { Service } from './service.ts';

/**
 * One request and its reply, with the row and the principal that were found, and the behaviours that were read. The
 * stages of `handle-request.ts` set its fields one after the other. The journal gets the finished exchange.
 */
export class Exchange extends RecordingReader {
  /** The start time, in milliseconds of `performance.now()`. */
  readonly startedMs = performance.now();
  /** The epoch in which the request began. */
  readonly epoch: number;
  /** The row of the requested operation; `undefined` until it is found. */
  row: OperationRow | undefined;
  /** Who sent the request, when it began. The key may be rotated while the body arrives. */
  readonly sender: Sender;
  /** The caller; `undefined` until the key is checked, and for a public operation. */
  principal: Principal | undefined;
  /** The body of the request; `undefined` until it is read. */
  received: ReceivedBody | undefined;
  /** The faults that shaped the reply. */
  faults: readonly RequestFault[] = [];
  /** The error of a refused request, with its internal reason, which the reply omits; `undefined` after a success. */
  error: ApiError | undefined;
  /** Why a message of the Model Context Protocol, or a command of SMTP or IMAP, was refused. */
  refusal: string | undefined;
  /** The names of unknown fields and query parameters in the request, each with the known names that are similar. */
  readonly ignored: string[] = [];
  /** The entries of the journal that the request has caused so far. */
  readonly caused: Entry[] = [];
  /** The cause of the entries that the request causes. It becomes the entry of the request. */
  readonly cause: Cause = {};
  /** The ids of the messages or drafts of the reply whose bodies are shortened, because the reply would be too large. */
  readonly shortenedIds = new Set<string>();
  /** The value that the operation replied with; `undefined` if a fault has replaced the reply. */
  shown: unknown;
  reply: ApiReply | undefined;
  /** The duration in milliseconds; 0 until the exchange is finished. */
  durationMs = 0;

  constructor(
    { behaviours, worlds }: Pick<Service, 'behaviours' | 'worlds'>,
    readonly request: ApiRequest,
  ) {
    super(behaviours);
    this.sender = findSender({ worlds, behaviours }, request);
    this.epoch = request.epoch ?? worlds.epoch;
  }
}

/** A finished exchange. */
export type FinishedExchange = Exchange & { readonly reply: ApiReply };

/** Returns whether the mailbox or the sandbox of a request was reset, restored or closed after the request began. */
export function isOver(worlds: Worlds, { epoch, principal, sender }: Exchange): boolean {
  return worlds.isOver(epoch, (principal ?? sender.principal)?.world);
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
  /** How the request came, if not directly over HTTP: by a tool of the Model Context Protocol. */
  readonly via?: 'mcp';
  /**
   * Runs long work of the request in slices. Without it, the whole reply is written at once, as for code in the same
   * process, which waits for it anyway.
   */
  readonly inSlices?: RunInSlices | undefined;
  /**
   * How long the bodies of all messages or drafts of one reply may be together, in characters of JSON. Further bodies
   * are shortened. Default: the limit of the service.
   */
  readonly maxBodiesLength?: number | undefined;
  /** Which items of a list of the reply the client is shown. Default: all. */
  readonly shownItems?: { readonly limit: number; readonly offset: number } | undefined;
  /** Is aborted when the client disconnects. Only a control call that may take long reads it. */
  readonly signal?: AbortSignal;
}

/** The query of every request without a query. It is shared, because the journal keeps the query of each request. */
export const NO_QUERY = new URLSearchParams();

/** A received body: its bytes, or the reason why there are none. */
export type ReceivedBody = Uint8Array | 'empty' | 'too-large' | 'truncated';

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
