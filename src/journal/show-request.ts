import type { BehaviourValues } from '../contract/behaviours.ts';
import { isChangeable } from '../contract/behaviours.ts';
import type { HeaderReader } from '../contract/header-reader.ts';
import { type ApiReply, countBytes } from '../pipeline/http.ts';
import type { KeptRequest } from './kept-request.ts';
import { maskDeep, maskNamed } from './mask.ts';
import type { RequestEntry, RequestSummary } from './request-entry.ts';

/** Formats a request for a list of requests, with all secrets masked. */
export function showSummary(kept: KeptRequest, behaviours: BehaviourValues): RequestSummary {
  return maskDeep(summarise(kept, behaviours));
}

/** Formats a request with what it and its reply carried, with all secrets masked. */
export function showRequest(kept: KeptRequest, behaviours: BehaviourValues): RequestEntry {
  const { query, headers, requestBody, reply, replyBytes } = kept;
  return maskDeep({
    ...summarise(kept, behaviours),
    request: {
      query: [...query].map(([name, value]) => [name, maskNamed(name, value)] as const),
      headers: showHeaders(headers),
      body: toText(requestBody.start),
      bodyBytes: requestBody.bytes,
    },
    reply: {
      headers: showHeaders(new Map(Object.entries(reply.headers))),
      body: toText(reply.body),
      bodyBytes: replyBytes ?? sizeOf(reply.body),
    },
  });
}

function summarise(kept: KeptRequest, behaviours: BehaviourValues): RequestSummary {
  const { number, atMs, realTimeMs, durationMs, row, method, path, key, principal, reply, error, reason, ignored } =
    kept;
  const used = [...kept.usedBehaviours];
  const usedIds = used.filter(isChangeable);
  return {
    id: idOf(number),
    at: new Date(atMs).toISOString(),
    realTime: new Date(realTimeMs).toISOString(),
    durationMs: Math.round(durationMs * 1000) / 1000,
    operation: row?.id ?? null,
    method,
    path,
    key: key === undefined ? null : maskNamed('x-api-key', key),
    principal,
    status: reply.status,
    code: error?.code ?? null,
    reason,
    ignored,
    assumptions: used.filter((id) => !isChangeable(id)),
    choices: Object.fromEntries(usedIds.map((id) => [id, behaviours[id]])),
    faults: kept.faults.map((fault) => fault.id),
  };
}

/** Returns the public id of a request. */
export function idOf(number: number): string {
  return `req_${number}`;
}

/** Longer header values are cut. */
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

/** Returns a body as text, which may end within a character; null if it is empty or not text. */
function toText(body: string | Uint8Array | null | undefined): string | null {
  if (!body || body.length === 0) return null;
  if (typeof body === 'string') return body;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
  } catch {
    return null;
  }
}
