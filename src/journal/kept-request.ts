import { sentKey } from '../access/credentials.ts';
import { type Principal, principalOf, tenantIdOf } from '../access/principal.ts';
import type { Environment } from '../environment.ts';
import type { FinishedExchange } from '../pipeline/exchange.ts';
import { type ApiReply, isCut } from '../pipeline/http.ts';
import type { ReceivedBody } from '../pipeline/read-body.ts';
import type { Worlds } from '../store/worlds.ts';
import { isStreamPath } from '../stream/check-stream-access.ts';
import type { RequestPrincipal } from './request-entry.ts';

/** The UTF-8 form of a UTF-16 unit has at most this many bytes. */
const MAX_BYTES_PER_CHARACTER = 3;

/** Maximum size of a body that is kept, in bytes. */
export const MAX_KEPT_BYTES = 16 * 1024;

/** A finished request as the journal keeps it. It is formatted and masked only when it is read. */
export interface KeptRequest
  extends Pick<FinishedExchange, 'row' | 'error' | 'ignored' | 'usedBehaviours' | 'faults' | 'durationMs'>,
    Pick<FinishedExchange['request'], 'method' | 'path' | 'query' | 'headers'> {
  readonly number: number;
  readonly atMs: number;
  readonly realTimeMs: number;
  /** The key that was sent, valid or not: in a header, or in the query of a request for a stream. */
  readonly key: string | undefined;
  readonly principal: RequestPrincipal | null;
  /** The private reason. It is read at once, because it depends on the data at the time of the request. */
  readonly reason: string | null;
  readonly requestBody: KeptBody;
  /** The reply; a large body is cut. */
  readonly reply: FinishedExchange['reply'];
  /** The size of the whole body of the reply, if the body is cut. */
  readonly replyBytes: number | undefined;
}

/** The start of a body, and the size of the whole body; null if the size is unknown. */
export interface KeptBody {
  readonly start: Uint8Array | undefined;
  readonly bytes: number | null;
}

/** The data of a mailbox, and its environment with real time. */
export interface JournalContext {
  readonly worlds: Worlds;
  readonly realEnvironment: Environment;
}

/** Copies what the journal keeps of an exchange: neither the data of the tenant nor the connection. */
export function keepRequest(
  { worlds, realEnvironment }: JournalContext,
  exchange: FinishedExchange,
  number: number,
): KeptRequest {
  const { request, received, row, error, ignored, usedBehaviours, faults, durationMs, reply } = exchange;
  const { method, path, query, headers } = request;
  const key = sentKey(headers) ?? ((isStreamPath(path) && query.get('api_key')) || undefined);
  const principal = exchange.principal ?? (error && principalOf(worlds, key ?? ''));
  const { clock } = principal && 'world' in principal ? principal.world : worlds;
  return {
    number,
    atMs: clock.now().getTime(),
    realTimeMs: realEnvironment.now().getTime(),
    method,
    path,
    query,
    headers,
    row,
    key,
    principal: principal ? describePrincipal(principal) : null,
    error,
    reason: reasonOf(exchange),
    ignored,
    usedBehaviours,
    faults,
    durationMs,
    requestBody: keepReceived(received),
    ...(isSmall(reply.body) ? { reply, replyBytes: undefined } : cutReply(reply)),
  };
}

/** Says why a request was refused: by the fault that decided the reply, or else by the service. */
function reasonOf({ faults, reply, error }: FinishedExchange): string | null {
  const fault = faults.find(({ kind, status = 0 }) => kind === 'cut' || (kind === 'reply' && status >= 400));
  if (fault) return `The fault ${fault.id} ${isCut(reply) ? 'cut the connection' : `replied with ${reply.status}`}.`;
  return error ? (error.internalReason?.() ?? error.message) : null;
}

function describePrincipal(principal: Principal): RequestPrincipal {
  return {
    tier: principal.tier,
    tenantId: tenantIdOf(principal),
    workspaceId: 'workspaceId' in principal ? principal.workspaceId : null,
    inboxId: 'inboxId' in principal ? principal.inboxId : null,
  };
}

const NO_BODY: KeptBody = { start: undefined, bytes: 0 };
const UNKNOWN_BODY: KeptBody = { start: undefined, bytes: null };

function keepReceived(received: ReceivedBody | undefined): KeptBody {
  if (typeof received !== 'string') return keepBody(received ?? null);
  return received === 'empty' ? NO_BODY : UNKNOWN_BODY;
}

/** Keeps the start of a body. It is copied if it is part of a larger buffer, which would stay in memory too. */
function keepBody(body: Uint8Array | null): KeptBody {
  if (!body) return NO_BODY;
  return { start: isSmall(body) ? body : new Uint8Array(body.subarray(0, MAX_KEPT_BYTES)), bytes: body.byteLength };
}

function isSmall(body: string | Uint8Array | null): boolean {
  if (typeof body === 'string') return body.length <= MAX_KEPT_BYTES / MAX_BYTES_PER_CHARACTER;
  return body === null || body.buffer.byteLength <= MAX_KEPT_BYTES;
}

/** Returns a copy of a reply with the start of its body. */
function cutReply(reply: ApiReply): Pick<KeptRequest, 'reply' | 'replyBytes'> {
  const bytes = typeof reply.body === 'string' ? new TextEncoder().encode(reply.body) : reply.body;
  const body = bytes && new Uint8Array(bytes.subarray(0, MAX_KEPT_BYTES));
  return { reply: { ...reply, body }, replyBytes: bytes?.byteLength };
}
