import type { BehaviourValues } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import { parseOrRefuse } from '../contract/invalid.ts';
import type { FinishedExchange } from '../pipeline/exchange.ts';
import { type JournalContext, type KeptRequest, keepRequest } from './kept-request.ts';
import { maskText } from './mask.ts';
import { RecentList } from './recent-list.ts';
import type { RequestEntry } from './request-entry.ts';
import { type ParsedRequestFilter, type RequestFilter, requestFilter } from './request-filter.ts';
import { idOf, showRequest } from './show-request.ts';

/** The owner of the requests with an operator key, and of those without a valid key. */
const WHOLE_MAILBOX = '';

/**
 * The most recent requests of a mailbox. Each tenant has its own list, so that the requests of one tenant never remove
 * those of another.
 */
export class Journal {
  /** How many requests of each tenant are kept. */
  readonly size: number;
  readonly #context: JournalContext;
  readonly #behaviours: BehaviourValues;
  readonly #lists = new Map<string, RecentList<KeptRequest>>();
  /** The lists that the latest `clear` removed. */
  readonly #cleared = new Map<string, RecentList<KeptRequest>>();
  #count = 0;

  /** Creates an empty journal that keeps at most `size` requests of each tenant. */
  constructor(context: JournalContext, behaviours: BehaviourValues, size: number) {
    this.#context = context;
    this.#behaviours = behaviours;
    this.size = size;
    context.worlds.onRemoved(({ id }) => this.reset(id));
  }

  /** Adds a finished request. */
  record(exchange: FinishedExchange): KeptRequest {
    this.#count += 1;
    const kept = keepRequest(this.#context, exchange, this.#count);
    this.#listOf(kept.principal?.tenantId ?? WHOLE_MAILBOX).push(kept);
    return kept;
  }

  /** Returns the requests of one tenant or of all that match a filter, oldest first. @throws {ApiError} VALIDATION_ERROR */
  list(filter: RequestFilter = {}, owner?: string): RequestEntry[] {
    const parsed = parseOrRefuse('The filter', requestFilter, filter);
    const after = Number(parsed.after?.slice('req_'.length) ?? 0);
    const later = this.#kept(owner ?? parsed.tenant).filter(({ number }) => number > after);
    const matching = later.filter((kept) => matches(kept, parsed)).sort((a, b) => a.number - b.number);
    return matching.slice(0, parsed.limit).map((kept) => showRequest(kept, this.#behaviours));
  }

  /** Returns a request of one tenant or of any. @throws {ApiError} NOT_FOUND if the journal does not have it. */
  find(id: string, owner?: string): RequestEntry {
    const kept = this.#kept(owner).find(({ number }) => idOf(number) === id);
    if (kept) return showRequest(kept, this.#behaviours);
    throw new ApiError('NOT_FOUND', 'There is no request with this id in the journal.');
  }

  /** Removes every request, or only those of one tenant. `restore` brings them back. */
  clear(owner?: string): void {
    for (const [id, list] of entriesOf(this.#lists, owner)) {
      this.#cleared.set(id, list);
      this.#lists.delete(id);
    }
  }

  /** Brings back the requests that the latest `clear` removed, or only those of one tenant. */
  restore(owner?: string): void {
    for (const [id, list] of entriesOf(this.#cleared, owner)) {
      for (const kept of this.#kept(id)) list.push(kept);
      this.#lists.set(id, list);
      this.#cleared.delete(id);
    }
  }

  /** Removes the requests of one tenant for good, or every request; then it counts from 1 again. */
  reset(owner?: string): void {
    for (const lists of [this.#lists, this.#cleared]) for (const [id] of entriesOf(lists, owner)) lists.delete(id);
    if (owner === undefined) this.#count = 0;
  }

  #kept(tenantId?: string): KeptRequest[] {
    if (tenantId !== undefined) return this.#lists.get(tenantId)?.all() ?? [];
    return [...this.#lists.values()].flatMap((list) => list.all());
  }

  #listOf(owner: string): RecentList<KeptRequest> {
    const list = this.#lists.get(owner) ?? new RecentList(this.size);
    this.#lists.set(owner, list);
    return list;
  }
}

/** Returns the list of one owner, or every list, with its owner. */
function entriesOf<List>(lists: ReadonlyMap<string, List>, owner?: string): [owner: string, list: List][] {
  return [...lists].filter(([id]) => owner === undefined || id === owner);
}

function matches(kept: KeptRequest, { operation, status, key, since, tenant }: ParsedRequestFilter): boolean {
  const { row, reply, atMs, principal } = kept;
  return (
    (tenant === undefined || principal?.tenantId === tenant) &&
    (operation === undefined || row?.id === operation) &&
    (status === undefined || reply.status === status) &&
    (key === undefined || isKey(key, kept.key)) &&
    (since === undefined || atMs >= Date.parse(since))
  );
}

/** Returns whether a filter names the key that was sent, in full or as the journal shows it. */
function isKey(wanted: string, sent: string | undefined): boolean {
  return sent !== undefined && (wanted === sent || wanted === maskText(sent));
}
