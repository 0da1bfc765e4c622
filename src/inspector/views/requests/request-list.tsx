import { ArrowLeftRight, Server } from 'lucide';
import type { RequestSummary } from '../../../control/journal/request-entry.ts';
import { requestLink } from '../../links.ts';
import { Row } from '../../list-view.tsx';
import { open, type Route } from '../../page-route.ts';
import { Chip, SearchField, Select, type Tone } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { shortenIds, UserText, wordsOf } from '../../text.tsx';
import { Time } from '../../time.tsx';
import { VirtualList } from '../../virtual-list.tsx';

/** What the list can be limited to, with the test of a status. */
const STATUSES: Readonly<Record<string, (status: number) => boolean>> = {
  succeeded: (status) => status < 400,
  refused: (status) => status >= 400,
  '4xx': (status) => status >= 400 && status < 500,
  '5xx': (status) => status >= 500,
};

/** The requests that the search and the filters choose. */
export function RequestList({ requests, route }: { requests: readonly RequestSummary[]; route: Route }) {
  const scope = useScope();
  const { search = '', status = '' } = route.options;
  const words = wordsOf(search);
  const chosen = requests.filter(
    (request) =>
      isInScope(scope, request.principal) &&
      (STATUSES[status]?.(request.status) ?? true) &&
      words.every((word) => textOf(request).includes(word)),
  );
  const change = (changes: Record<string, string>) =>
    open(requestLink(route, route.id, changes), { replace: 'search' in changes });
  return (
    <>
      <div class="tools">
        <SearchField label="Search requests" value={search} search={(search) => change({ search })} />
        <Select
          label="Status"
          value={status}
          options={[['', 'Every status'], ...Object.keys(STATUSES)]}
          choose={(status) => change({ status })}
        />
      </div>
      {chosen.length === 0 && (
        <p class="hint empty">
          {requests.length > 0
            ? 'No request matches the search and the filters.'
            : 'The service has not got a request yet.'}
        </p>
      )}
      <VirtualList
        label={`Requests, ${chosen.length} of ${requests.length}`}
        items={chosen}
        openId={route.id}
        row={(request) => request && <RequestRow request={request} words={words} route={route} />}
        link={(id) => requestLink(route, id)}
      />
    </>
  );
}

/** What a search looks at. */
function textOf({ id, method, path, operation, key, status, code, reason }: RequestSummary): string {
  return [id, `${method} ${path}`, operation, key, status, code, reason].join('\n').toLowerCase();
}

/** Returns the colour of a status. */
export function toneOf(status: number): Tone {
  return status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
}

/** Returns the name of a request: its operation, or else the method and the path. */
export function nameOf({ operation, protocol, method, path }: RequestSummary): string {
  return operation ?? `${protocol === 'http' ? '' : `${protocol.toUpperCase()} `}${method} ${shortenIds(path)}`;
}

/** One request of the list. */
function RequestRow({ request, words, route }: { request: RequestSummary; words: readonly string[]; route: Route }) {
  const { id, protocol, method, path, status, code, key, reason, realTime } = request;
  return (
    <Row
      href={requestLink(route, id)}
      isOpen={route.id === id}
      icon={protocol === 'http' ? ArrowLeftRight : Server}
      tone={toneOf(status)}
      who={<UserText text={nameOf(request)} find={words} />}
      when={<Time at={realTime} isReal />}
      what={<UserText text={reason ?? `${method} ${shortenIds(path)}`} find={words} />}
      state={<Chip tone={toneOf(status)} text={status} />}
      more={<UserText text={[key ?? 'no key', code].filter(Boolean).join(' · ')} find={words} />}
    />
  );
}
