import type { ProtocolPart } from '../../../service/journal/entry-data.ts';
import type { JournalEntry, JournalLoss, JournalLosses } from '../journal-entry.ts';
import type { ParsedRequestFilter, RequestEntry } from '../request-entry.ts';

/** What a filter of requests looks at. */
export interface FilteredRequest {
  readonly call: ProtocolPart;
  readonly operation: string | null;
  /** The id of the tenant whose key sent it; null or undefined if it belongs to no tenant. */
  readonly tenantId: string | null | undefined;
  /** When the reply was made, by the clock of the tenant, in milliseconds since 1970. */
  readonly atMs: number;
  /** The number in its id: 12 for `req_12`. */
  readonly number: number;
  /** Returns whether it was sent with this key, in full or as the journal shows it. */
  hasKey(key: string): boolean;
}

/** Returns whether a request matches every field of a filter that is given. */
export function matchesRequest(request: FilteredRequest, filter: Omit<ParsedRequestFilter, 'limit'>): boolean {
  const { call } = request;
  const { protocol, operation, status, key, since, tenant, after } = filter;
  return (
    (protocol === undefined || call.protocol === protocol) &&
    (tenant === undefined || request.tenantId === tenant) &&
    (operation === undefined || request.operation === operation) &&
    (status === undefined || (call.protocol === 'http' && call.status === status)) &&
    (key === undefined || request.hasKey(key)) &&
    (since === undefined || request.atMs >= Date.parse(since)) &&
    (after === undefined || request.number > numberOf(after))
  );
}

const numberOf = (id: string) => Number(id.slice('req_'.length));

/** Returns the requests of these entries that match a filter, oldest first, as `listRequests` replies them. */
export function requestsOf(entries: readonly JournalEntry[], filter: ParsedRequestFilter = {}): RequestEntry[] {
  const matching = listedRequests(entries).filter((request) => {
    const { id, operation, principal, at, key } = request;
    return matchesRequest(
      {
        call: request,
        operation,
        tenantId: principal?.tenantId,
        atMs: Date.parse(at),
        number: numberOf(id),
        hasKey: (wanted) => wanted === key,
      },
      filter,
    );
  });
  return matching.slice(0, filter.limit);
}

/** Returns the requests and commands since the list of requests was last cleared. */
function listedRequests(entries: readonly JournalEntry[]): RequestEntry[] {
  const requests: { readonly owner: string | null; readonly request: RequestEntry }[] = [];
  /** For each owner, where its list starts, and where it started before it was last cleared. */
  const starts = new Map<string | null, { readonly start: number; readonly before: number | undefined }>();
  for (const { kind, tenantId: owner, data } of entries) {
    if (kind === 'request' || kind === 'mail-command') {
      requests.push({ owner, request: data });
      if (!starts.has(owner)) starts.set(owner, { start: 0, before: undefined });
    }
    if (kind !== 'journal') continue;
    // Without a tenant, the lists of all owners were cleared or restored.
    for (const [each, { start, before }] of starts) {
      if (data.tenantId !== null && data.tenantId !== each) continue;
      if (data.action === 'cleared') starts.set(each, { start: requests.length, before: start });
      else starts.set(each, { start: before ?? start, before: undefined });
    }
  }
  return requests.flatMap(({ owner, request }, index) => (index >= (starts.get(owner)?.start ?? 0) ? request : []));
}

/** Returns how many requests and commands the journal no longer has; undefined if it has them all. */
export function droppedRequests({ request, 'mail-command': command }: JournalLosses): JournalLoss | undefined {
  const losses = [request, command].flatMap((loss) => loss ?? []);
  if (losses.length === 0) return undefined;
  return {
    count: losses.reduce((sum, { count }) => sum + count, 0),
    until:
      losses
        .map(({ until }) => until)
        .sort()
        .at(-1) ?? '',
  };
}
