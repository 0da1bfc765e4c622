import type { BehaviourValues } from '../../contract/behaviours.ts';
import { ApiError, parseOrRefuse } from '../../contract/errors.ts';
import { maskText } from '../../contract/mask.ts';
import { isStreamPath } from '../../contract/stream-protocol.ts';
import { describePrincipal, findKeyId, principalOf, sentKey } from '../../service/pipeline/access/principal.ts';
import { type FinishedExchange, isCut, type ReceivedBody, type Service } from '../../service/pipeline/exchange.ts';
import type { Environment } from '../../world/environment.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import { findOwner, type Owner, type Part, type PartOf } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import { type ParsedRequestFilter, type RequestEntry, type RequestFilter, requestFilter } from './request-entry.ts';
import type { JournalReader, KeptBody, KeptRequest } from './show-request.ts';
import { idFor, numberFor, showRequest } from './show-request.ts';

/**
 * A list that keeps only the most recent items. The position of an item counts all items since the list was created,
 * including those that are no longer kept.
 */
export class RecentList<Item> {
  readonly #limit: number;
  readonly #items: Item[] = [];
  #end = 0;

  /** Creates an empty list that keeps at most `limit` items. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The position after the newest item. */
  get end(): number {
    return this.#end;
  }

  /** The position of the oldest item that is kept. */
  get start(): number {
    return Math.max(0, this.#end - this.#limit);
  }

  push(item: Item): void {
    this.#items[this.#end % this.#limit] = item;
    this.#end += 1;
  }

  /** Returns the item at a position; `undefined` if it is not kept. */
  at(position: number): Item | undefined {
    return position >= this.start && position < this.#end ? this.#items[position % this.#limit] : undefined;
  }

  /** Returns the items that are kept, oldest first. */
  all(): Item[] {
    const split = this.#end > this.#limit ? this.#end % this.#limit : 0;
    return [...this.#items.slice(split), ...this.#items.slice(0, split)];
  }
}

/** The most recent requests of one tenant or, for the mailbox, of the operator and of senders without a valid key. */
interface RequestList extends Part {
  kept: RecentList<KeptRequest>;
  /** How many requests of all tenants came since the last reset. Only the list of the mailbox counts them. */
  count: number;
  /** How many requests of this tenant came since its last reset. */
  ownCount: number;
  /** What the latest `clear` removed. */
  cleared?: RecentList<KeptRequest> | undefined;
}

/** The most recent requests of a mailbox. The requests of one tenant never remove the requests of another tenant. */
export class Journal {
  /** How many requests of each tenant are kept. */
  readonly size: number;
  /** The current values of behaviours. Each request is kept with the values at the time of the request. */
  behaviours: BehaviourValues;
  readonly #worlds: Worlds;
  readonly #environment: Environment;
  readonly #listOf: PartOf<RequestList>;

  /** Creates an empty journal that keeps at most `size` requests of each tenant. `environment` gives the real time. */
  constructor({ worlds, behaviours }: Service, environment: Environment, size: number) {
    this.#worlds = worlds;
    this.#environment = environment;
    this.behaviours = { ...behaviours };
    this.size = size;
    this.#listOf = worlds.addPart('requests', () => ({ kept: new RecentList(size), count: 0, ownCount: 0, end() {} }));
  }

  /** Adds a finished request. */
  record(exchange: FinishedExchange): KeptRequest {
    const worlds = this.#worlds;
    const list = this.#listOf(worlds);
    list.count += 1;
    const realTimeMs = this.#environment.now().getTime();
    const kept = keepRequest(worlds, exchange, { number: list.count, realTimeMs, behaviours: this.behaviours });
    // A tenant may have been removed while its request waited. Then the list of the mailbox keeps the request.
    const ownList = this.#listOf(findOwner(worlds, kept.principal?.tenantId));
    ownList.ownCount += 1;
    kept.numberInSandbox = ownList.ownCount;
    ownList.kept.push(kept);
    return kept;
  }

  /** Returns the requests of a mailbox or a sandbox that match a filter, oldest first. @throws {ApiError} */
  list<Shown>(
    worlds: ReachableWorlds,
    filter: RequestFilter = {},
    show: (kept: KeptRequest, reader: JournalReader) => Shown,
  ): Shown[] {
    const reader = readerOf(worlds);
    const parsed = parseOrRefuse('The filter', requestFilter(), filter);
    const after = Number(parsed.after?.slice('req_'.length) ?? 0);
    const later = this.#kept(worlds.owners()).filter((kept) => numberFor(reader, kept) > after);
    const matching = later.filter((kept) => matches(kept, parsed)).sort((a, b) => a.number - b.number);
    return matching.slice(0, parsed.limit).map((kept) => show(kept, reader));
  }

  /** Returns a request of a mailbox or a sandbox. @throws {ApiError} NOT_FOUND if the journal does not have it. */
  find(worlds: ReachableWorlds, id: string): RequestEntry {
    const reader = readerOf(worlds);
    const kept = this.#kept(worlds.owners()).find((each) => idFor(reader, each) === id);
    if (kept) return showRequest(kept, reader);
    throw new ApiError('NOT_FOUND', 'There is no request with this id in the journal.');
  }

  /** Returns the id of the request that has created a message; null if the journal does not have it. */
  findCauseOf(worlds: ReachableWorlds, messageId: string): string | null {
    const cause = this.#kept(worlds.owners()).find(({ caused }) => caused?.messages.includes(messageId));
    return cause ? idFor(readerOf(worlds), cause) : null;
  }

  /** Removes the requests of some owners. `restore` undoes this. */
  clear(owners: readonly Owner[]): void {
    for (const list of this.#listOf.in(owners)) {
      if (list.kept.end === 0) continue;
      list.cleared = list.kept;
      list.kept = new RecentList(this.size);
    }
  }

  /** Restores the requests of some owners that the latest `clear` removed. */
  restore(owners: readonly Owner[]): void {
    for (const list of this.#listOf.in(owners)) {
      if (!list.cleared) continue;
      for (const kept of list.kept.all()) list.cleared.push(kept);
      list.kept = list.cleared;
      list.cleared = undefined;
    }
  }

  #kept(owners: readonly Owner[]): KeptRequest[] {
    return this.#listOf.in(owners).flatMap(({ kept }) => kept.all());
  }
}

function readerOf({ sandboxId }: ReachableWorlds): JournalReader {
  return sandboxId === undefined ? 'mailbox' : 'sandbox';
}

function matches(kept: KeptRequest, { protocol, operation, status, key, since, tenant }: ParsedRequestFilter): boolean {
  const { row, reply, atMs, principal } = kept;
  return (
    (protocol === undefined || kept.protocol === protocol) &&
    (tenant === undefined || principal?.tenantId === tenant) &&
    (operation === undefined || row?.id === operation) &&
    (status === undefined || reply.status === status) &&
    // The key may be given in full, or as the journal shows it.
    (key === undefined || key === kept.key || (kept.key !== undefined && key === maskText(kept.key))) &&
    (since === undefined || atMs >= Date.parse(since))
  );
}

/** The maximum number of bytes in UTF-8 for one UTF-16 code unit. */
const MAX_BYTES_PER_CHARACTER = 3;

/** Maximum size of a body that is kept, in bytes. */
const MAX_KEPT_BYTES = 16 * 1024;

type RequestDetails = Pick<KeptRequest, 'number' | 'realTimeMs' | 'behaviours'>;

/** Copies what the journal keeps of an exchange, without references to the data of the tenant or the connection. */
function keepRequest(worlds: Worlds, exchange: FinishedExchange, details: RequestDetails): KeptRequest {
  const { protocol, request, received, row, error, ignored, usedBehaviours, faults, durationMs, reply, caused } =
    exchange;
  const { method, path, query, headers } = request;
  const key = sentKey(headers) ?? ((query.has('api_key') && isStreamPath(path) && query.get('api_key')) || undefined);
  const principal = exchange.principal ?? (error && principalOf(worlds, key ?? ''));
  const { clock } = principal?.world ?? worlds;
  const { reply: keptReply, replyBytes } = isSmall(reply.body) ? { reply, replyBytes: undefined } : truncate(reply);
  // Each field is copied by name, because spreads would take longer than the rest of this function.
  return {
    number: details.number,
    numberInSandbox: details.number,
    realTimeMs: details.realTimeMs,
    behaviours: details.behaviours,
    protocol,
    method,
    path,
    query,
    headers,
    row,
    key,
    error,
    ignored,
    usedBehaviours,
    faults,
    durationMs,
    caused,
    atMs: clock.now().getTime(),
    keyId: principal ? findKeyId(worlds, key) : null,
    principal: principal ? describePrincipal(principal) : null,
    reason: reasonOf(exchange),
    requestBody: keepBody(received),
    reply: keptReply,
    replyBytes,
  };
}

/**
 * Returns why a request was refused; null if it was not. If a fault decided the reply, the fault is the reason.
 * Otherwise, the service gives the reason.
 */
function reasonOf({ faults, reply, error, refusal }: FinishedExchange): string | null {
  const fault = faults.find(({ kind, status = 0 }) => kind === 'cut' || (kind === 'reply' && status >= 400));
  if (fault) return `The fault ${fault.id} ${isCut(reply) ? 'cut the connection' : `replied with ${reply.status}`}.`;
  return error ? (error.internalReason?.() ?? error.message) : (refusal ?? null);
}

/**
 * Returns the start of a body. If the body is part of a larger buffer, the start is copied, because the whole buffer
 * would otherwise stay in memory.
 */
function keepBody(body: ReceivedBody = 'empty'): KeptBody {
  if (typeof body === 'string') return { start: undefined, bytes: body === 'empty' ? 0 : null };
  return { start: isSmall(body) ? body : new Uint8Array(body.subarray(0, MAX_KEPT_BYTES)), bytes: body.byteLength };
}

function isSmall(body: string | Uint8Array | null): boolean {
  if (typeof body === 'string') return body.length <= MAX_KEPT_BYTES / MAX_BYTES_PER_CHARACTER;
  return body === null || body.buffer.byteLength <= MAX_KEPT_BYTES;
}

/** Returns a copy of a reply with only the start of its body, and the size of the whole body. */
function truncate(reply: KeptRequest['reply']): Pick<KeptRequest, 'reply' | 'replyBytes'> {
  const bytes = typeof reply.body === 'string' ? new TextEncoder().encode(reply.body) : reply.body;
  const body = bytes && new Uint8Array(bytes.subarray(0, MAX_KEPT_BYTES));
  return { reply: { ...reply, body }, replyBytes: bytes?.byteLength };
}
