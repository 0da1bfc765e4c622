import { ApiError, parseOrRefuse } from '../../contract/errors.ts';
import type { KeptRequest } from '../../service/journal/entry-data.ts';
import type { Journals } from '../../service/journal/journals.ts';
import type { Mask } from '../../world/secrets/mask.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import { matchesRequest } from './from-entries/entry-requests.ts';
import { type RequestEntry, type RequestFilter, requestFilter } from './request-entry.ts';
import { idFor, type JournalReader, numberFor, readerOf, showRequest } from './show-request.ts';

/** Returns the requests of a mailbox or a sandbox that match a filter, oldest first. @throws {ApiError} */
export function listRequests<Shown>(
  journals: Journals,
  worlds: ReachableWorlds,
  filter: RequestFilter = {},
  show: (kept: KeptRequest, reader: JournalReader, mask: Mask) => Shown,
): Shown[] {
  const reader = readerOf(worlds);
  const { mask } = worlds.mailbox;
  const parsed = parseOrRefuse('The filter', requestFilter(), filter);
  const matching = journals.requests(worlds.owners()).filter(({ data }) => {
    const { call, row, principal, atMs, key } = data;
    return matchesRequest(
      {
        call,
        operation: row?.id ?? null,
        tenantId: principal?.tenantId,
        atMs,
        number: numberFor(reader, data),
        hasKey: (wanted) => wanted === key || (key !== undefined && wanted === mask.named('x-api-key', key)),
      },
      parsed,
    );
  });
  return matching.slice(0, parsed.limit).map(({ data }) => show(data, reader, mask));
}

/** Returns a request of a mailbox or a sandbox. @throws {ApiError} NOT_FOUND if the journal does not have it. */
export function findRequest(journals: Journals, worlds: ReachableWorlds, id: string): RequestEntry {
  const reader = readerOf(worlds);
  const found = journals.requests(worlds.owners()).find(({ data }) => idFor(reader, data) === id);
  if (found) return showRequest(found.data, reader, worlds.mailbox.mask);
  throw new ApiError('NOT_FOUND', 'There is no request with this id in the journal.');
}

/** Returns the id of the request that has created a message; null if the journal does not have it. */
export function findRequestOf(journals: Journals, worlds: ReachableWorlds, messageId: string): string | null {
  const found = journals.requests(worlds.owners()).find(({ data }) => data.messages.includes(messageId));
  return found ? idFor(readerOf(worlds), found.data) : null;
}
