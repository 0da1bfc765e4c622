import { type BehaviourValues, isChangeable } from '../../contract/behaviours.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import { maskDeep, maskNamed } from '../../contract/mask.ts';
import { type ApiReply, countBytes, type FinishedExchange } from '../../service/pipeline/exchange.ts';
import type { RequestEntry, RequestPrincipal, RequestSummary } from './request-entry.ts';

/** A finished request as the journal keeps it. It is formatted and masked only when it is read. */
export interface KeptRequest
  extends Pick<
      FinishedExchange,
      'protocol' | 'row' | 'error' | 'ignored' | 'usedBehaviours' | 'faults' | 'durationMs' | 'caused'
    >,
    Pick<FinishedExchange['request'], 'method' | 'path' | 'query' | 'headers'> {
  /** Its position among the requests of all tenants since the last reset of the mailbox. */
  readonly number: number;
  /** Its position among the requests of its own tenant since the last reset of this tenant. */
  numberInSandbox: number;
  /** The values of behaviours at the time of the request. */
  readonly behaviours: BehaviourValues;
  readonly atMs: number;
  readonly realTimeMs: number;
  /** The key that was sent, valid or not: in a header, or in the query of a request for a stream. */
  readonly key: string | undefined;
  readonly keyId: string | null;
  readonly principal: RequestPrincipal | null;
  /**
   * Why the request was refused, with details that the reply omits. The reason is determined at once, because it
   * depends on the data at the time of the request.
   */
  readonly reason: string | null;
  readonly requestBody: KeptBody;
  /** The reply; a large body is truncated. */
  readonly reply: FinishedExchange['reply'];
  /** The size of the whole body of the reply, if the body is truncated. */
  readonly replyBytes: number | undefined;
}

/** The start of a body, and the size of the whole body in `bytes`, which is null if the size is unknown. */
export type KeptBody = { readonly start: Uint8Array | undefined; readonly bytes: number | null };

/** Formats a request for a list of requests, with all secrets masked. */
export function showSummary(kept: KeptRequest, reader: JournalReader): RequestSummary {
  return maskDeep(summarise(kept, reader));
}

/** Formats a request and its reply with their headers and bodies, with all secrets masked. */
export function showRequest(kept: KeptRequest, reader: JournalReader): RequestEntry {
  const { query, headers, requestBody, reply, replyBytes } = kept;
  const shown = [...query].map(([name, value]) => [name, maskNamed(name, value)] as const);
  return maskDeep({
    ...summarise(kept, reader),
    request: { query: shown, ...showContent(headers, requestBody.start, requestBody.bytes) },
    reply: showContent(new Map(Object.entries(reply.headers)), reply.body, replyBytes ?? sizeOf(reply.body)),
  });
}

function showContent(headers: Pick<HeaderReader, 'forEach'>, body: Body, bodyBytes: number | null) {
  return { headers: showHeaders(headers), body: toText(body), bodyBytes };
}

type Body = string | Uint8Array | null | undefined;

function summarise(kept: KeptRequest, reader: JournalReader): RequestSummary {
  const { atMs, realTimeMs, durationMs, row, protocol, method, path, key, keyId, principal } = kept;
  const { reply, error, reason, ignored } = kept;
  const used = [...kept.usedBehaviours];
  const changeable = used.filter(isChangeable);
  return {
    id: idFor(reader, kept),
    at: new Date(atMs).toISOString(),
    realTime: new Date(realTimeMs).toISOString(),
    durationMs: Math.round(durationMs * 1000) / 1000,
    protocol,
    operation: row?.id ?? null,
    method,
    path,
    key: key === undefined ? null : maskNamed('x-api-key', key),
    keyId,
    principal,
    status: reply.status,
    code: error?.code ?? null,
    reason,
    ignored,
    assumptions: used.filter((id) => !isChangeable(id)),
    choices: Object.fromEntries(changeable.map((id) => [id, kept.behaviours[id]])),
    faults: kept.faults.map((fault) => fault.id),
    messages: [...new Set(kept.caused?.messages)],
    deliveries: [...new Set(kept.caused?.deliveries)],
    read: [...new Set(kept.caused?.read)],
  };
}

/** Whose journal is read: the journal of the mailbox, with all requests, or the journal of a sandbox. */
export type JournalReader = 'mailbox' | 'sandbox';

/**
 * Returns the number of a request for a reader. A sandbox counts only its own requests, so that their ids do not depend
 * on other tests that run at the same time.
 */
export function numberFor(reader: JournalReader, { number, numberInSandbox }: KeptRequest): number {
  return reader === 'sandbox' ? numberInSandbox : number;
}

/** Returns the public id of a request for a reader. */
export function idFor(reader: JournalReader, kept: KeptRequest): string {
  return `req_${numberFor(reader, kept)}`;
}

/** Longer header values are truncated. */
const MAX_HEADER_LENGTH = 4096;

function showHeaders(headers: Pick<HeaderReader, 'forEach'>): Record<string, string> {
  const shown: [string, string][] = [];
  headers.forEach((value, name) => {
    shown.push([name.toLowerCase(), maskNamed(name, value).slice(0, MAX_HEADER_LENGTH)]);
  });
  return Object.fromEntries(shown);
}

function sizeOf(body: ApiReply['body']): number {
  return typeof body === 'string' ? countBytes(body) : (body?.byteLength ?? 0);
}

/**
 * Returns a body as text; null if it is empty or not text. A truncated body may end within a character, which is left
 * out.
 */
function toText(body: Body): string | null {
  if (!body || body.length === 0) return null;
  if (typeof body === 'string') return body;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
  } catch {
    return null;
  }
}
