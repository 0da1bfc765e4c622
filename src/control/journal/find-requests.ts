import { ApiError, parseOrRefuse } from '../../contract/errors.ts';
import type { KeptRequest } from '../../service/journal/entry-data.ts';
import type { Journals } from '../../service/journal/journals.ts';
import type { Mask } from '../../world/secrets/mask.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import { type ParsedRequestFilter, type RequestEntry, type RequestFilter, requestFilter } from './request-entry.ts';
import { idFor, type JournalReader, numberFor, showRequest } from './show-request.ts';

/** Returns the requests of a mailbox or a sandbox that match a filter, oldest first. @throws {ApiError} */
export function listRequests<Shown>(
  journals: Journals,
  worlds: ReachableWorlds,
  filter: RequestFilter = {},
  show: (kept: KeptRequest, reader: JournalReader, mask: Mask) => Shown,
): Shown[] {
  const reader = readerOf(worlds);
  const { mask } = worlds.whole;
  const parsed = parseOrRefuse('The filter', requestFilter(), filter);
  const after = Number(parsed.after?.slice('req_'.length) ?? 0);
  const matching: KeptRequest[] = [];
  for (const { data } of journals.requests(worlds.owners())) {
    if (numberFor(reader, data) > after && matches(data, parsed, mask)) matching.push(data);
  }
  return matching.slice(0, parsed.limit).map((kept) => show(kept, reader, mask));
}

/** Returns a request of a mailbox or a sandbox. @throws {ApiError} NOT_FOUND if the journal does not have it. */
export function findRequest(journals: Journals, worlds: ReachableWorlds, id: string): RequestEntry {
  const reader = readerOf(worlds);
  const found = journals.requests(worlds.owners()).find(({ data }) => idFor(reader, data) === id);
  if (found) return showRequest(found.data, reader, worlds.whole.mask);
  throw new ApiError('NOT_FOUND', 'There is no request with this id in the journal.');
}

/** Returns the id of the request that has created a message; null if the journal does not have it. */
export function findRequestOf(journals: Journals, worlds: ReachableWorlds, messageId: string): string | null {
  const found = journals.requests(worlds.owners()).find(({ data }) => data.messages.includes(messageId));
  return found ? idFor(readerOf(worlds), found.data) : null;
}

/** Returns whose journal a mailbox or a sandbox reads. */
export function readerOf({ sandboxId }: ReachableWorlds): JournalReader {
  return sandboxId === undefined ? 'mailbox' : 'sandbox';
}

function matches(
  kept: KeptRequest,
  { protocol, operation, status, key, since, tenant }: ParsedRequestFilter,
  mask: Mask,
): boolean {
  const { call, row, atMs, principal } = kept;
  return (
    (protocol === undefined || call.protocol === protocol) &&
    (tenant === undefined || principal?.tenantId === tenant) &&
    (operation === undefined || row?.id === operation) &&
    (status === undefined || (call.protocol === 'http' && call.status === status)) &&
    // The key may be given in full, or as the journal shows it.
    (key === undefined || key === kept.key || (kept.key !== undefined && key === mask.named('x-api-key', kept.key))) &&
    (since === undefined || atMs >= Date.parse(since))
  );
}
