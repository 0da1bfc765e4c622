import { byteLengthOf } from '../../basics/text.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import type { KeptRequest } from '../../service/journal/entry-data.ts';
import type { ApiReply } from '../../service/pipeline/reply.ts';
import type { Mask } from '../../world/secrets/mask.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { RequestEntry, RequestSummary } from './request-entry.ts';

/** Formats a request for a list of requests, with all secrets masked. */
export function showSummary(kept: KeptRequest, reader: JournalReader, mask: Mask): RequestSummary {
  return mask.deep(summarise(kept, reader, mask));
}

/** Formats a request and its reply with their headers and bodies, with all secrets masked. */
export function showRequest(kept: KeptRequest, reader: JournalReader, mask: Mask): RequestEntry {
  const { query, headers, requestBody, reply, replyBytes } = kept;
  const shown = [...query].map(([name, value]) => [name, mask.named(name, value)] as const);
  return mask.deep({
    ...summarise(kept, reader, mask),
    request: { query: shown, ...showContent(mask, headers, requestBody.start, requestBody.bytes) },
    reply: showContent(mask, new Map(Object.entries(reply.headers)), reply.body, replyBytes ?? sizeOf(reply.body)),
  });
}

function showContent(mask: Mask, headers: Pick<HeaderReader, 'forEach'>, body: Body, bodyBytes: number | null) {
  return { headers: showHeaders(mask, headers), body: toText(body), bodyBytes };
}

type Body = string | Uint8Array | null | undefined;

function summarise(kept: KeptRequest, reader: JournalReader, mask: Mask): RequestSummary {
  const { atMs, realTimeMs, durationMs, row, call, path, key, keyId, principal } = kept;
  const { error, reason, ignored } = kept;
  return {
    id: idFor(reader, kept),
    at: new Date(atMs).toISOString(),
    realTime: new Date(realTimeMs).toISOString(),
    durationMs: Math.round(durationMs * 1000) / 1000,
    ...call,
    ...(kept.via && { via: kept.via }),
    operation: row?.id ?? null,
    path,
    key: key === undefined ? null : mask.named('x-api-key', key),
    keyId,
    principal,
    code: error?.code ?? null,
    reason,
    ignored: [...ignored],
    choices: Object.fromEntries([...kept.behavioursRead].map((id) => [id, kept.behaviours[id]])),
    faults: kept.faults.map((fault) => fault.id),
    messages: [...kept.messages],
    deliveries: [...kept.deliveries],
    read: [...new Set(kept.read)],
  };
}

/** The numbers of a request. */
type RequestNumbers = Pick<KeptRequest, 'number' | 'numberInSandbox'>;

/** Whose journal is read: the journal of the mailbox, with all requests, or the journal of a sandbox. */
export type JournalReader = 'mailbox' | 'sandbox';

/** Returns whose journal a mailbox or a sandbox reads. */
export function readerOf({ sandboxId }: ReachableWorlds): JournalReader {
  return sandboxId === undefined ? 'mailbox' : 'sandbox';
}

/**
 * Returns the number of a request for a reader. A sandbox counts only its own requests, so that their ids do not depend
 * on other tests that run at the same time.
 */
export function numberFor(reader: JournalReader, { number, numberInSandbox }: RequestNumbers): number {
  return reader === 'sandbox' ? numberInSandbox : number;
}

/** Returns the public id of a request for a reader. */
export function idFor(reader: JournalReader, kept: RequestNumbers): string {
  return `req_${numberFor(reader, kept)}`;
}

/** Longer header values are truncated. */
export const MAX_HEADER_LENGTH = 4096;

function showHeaders(mask: Mask, headers: Pick<HeaderReader, 'forEach'>): Record<string, string> {
  const shown: [string, string][] = [];
  headers.forEach((value, name) => {
    shown.push([name.toLowerCase(), mask.named(name, value).slice(0, MAX_HEADER_LENGTH)]);
  });
  return Object.fromEntries(shown);
}

function sizeOf(body: ApiReply['body']): number {
  return typeof body === 'string' ? byteLengthOf(body) : (body?.byteLength ?? 0);
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
