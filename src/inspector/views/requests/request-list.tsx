import type { RequestSummary } from '../../../control/journal/request-entry.ts';
import { requestLink } from '../../links.ts';
import { open, type Route } from '../../page-route.ts';
import { SearchField, Time } from '../../parts.tsx';
import { VirtualList } from '../../virtual-list.tsx';

const ROW_HEIGHT = 68;

/** What the list can be limited to, with the test of a status. */
const STATUSES: Readonly<Record<string, (status: number) => boolean>> = {
  succeeded: (status) => status < 400,
  refused: (status) => status >= 400,
  '4xx': (status) => status >= 400 && status < 500,
  '5xx': (status) => status >= 500,
};

interface RequestListProps {
  /** `undefined` until they are loaded. */
  readonly requests: readonly RequestSummary[] | undefined;
  readonly route: Route;
}

/** The requests that the search and the filter choose. */
export function RequestList({ requests, route }: RequestListProps) {
  const chosen = (requests ?? []).filter((request) => isChosen(request, route));
  return (
    <div class="column">
      <Tools route={route} />
      {requests && chosen.length === 0 && <p class="hint empty">{emptyText(requests)}</p>}
      <VirtualList
        label={`Requests, ${chosen.length} of ${requests?.length ?? 0}`}
        total={chosen.length}
        rowHeight={ROW_HEIGHT}
        selected={chosen.findIndex(({ id }) => id === route.id)}
        openId={route.id}
        rowAt={(index) => {
          const request = chosen[index];
          return request && <RequestRow request={request} route={route} />;
        }}
        open={(index) => open(requestLink(route, chosen[index]?.id), { replace: true })}
      />
    </div>
  );
}

function emptyText({ length }: readonly RequestSummary[]): string {
  return length > 0 ? 'No request matches the search and the filter.' : 'The service has not got a request yet.';
}

function isChosen(request: RequestSummary, { options: { search = '', status = '' } }: Route): boolean {
  if (STATUSES[status]?.(request.status) === false) return false;
  if (search === '') return true;
  const { id, method, path, operation, key, code, reason } = request;
  const text = [id, `${method} ${path}`, operation, key, request.status, code, reason].join('\n');
  return text.toLowerCase().includes(search.toLowerCase());
}

/** Chooses what the list shows. */
function Tools({ route }: { readonly route: Route }) {
  const change = (changes: Record<string, string>) => open(requestLink(route, route.id, changes));
  return (
    <div class="tools">
      <SearchField label="Search requests" value={route.options.search ?? ''} search={(search) => change({ search })} />
      <select
        aria-label="Status"
        value={route.options.status ?? ''}
        onChange={({ currentTarget: { value } }) => change({ status: value })}
      >
        <option value="">every status</option>
        {Object.keys(STATUSES).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  );
}

/** Returns the colour of a status. */
export function toneOf(status: number): string {
  return status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
}

/** One request of the list. */
function RequestRow({ request, route }: { readonly request: RequestSummary; readonly route: Route }) {
  const { id, method, path, status, code, operation, key, reason, realTime } = request;
  return (
    <a class="row" href={requestLink(route, id)} aria-current={route.id === id ? 'true' : undefined}>
      <span>
        <strong>{method}</strong> {path}
      </span>
      <Time at={realTime} isShort />
      <span>
        <strong class={toneOf(status)}>{status}</strong> {code ?? operation}
      </span>
      <span class="soft">{key ?? 'no key'}</span>
      <span class="soft wide">{reason}</span>
    </a>
  );
}
