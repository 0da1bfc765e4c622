import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import type { RequestSummary } from '../../../control/journal/request-entry.ts';
import { useInspector } from '../../inspector.ts';
import { requestLink } from '../../links.ts';
import { ListView } from '../../list-view.tsx';
import type { Route } from '../../page-route.ts';
import { countOf, Loading } from '../../parts.tsx';
import { ALL, useLog } from '../../use-loaded.ts';
import { RemovingButton } from '../settings/undo.tsx';
import { RequestDetail } from './request-detail.tsx';
import { RequestList } from './request-list.tsx';

/** The journal of requests: a list, and the open one. */
export function RequestsView({ route }: { readonly route: Route }) {
  const { value: list, error } = useRequests();
  return (
    <ListView
      title="Requests"
      list={
        <>
          {(!list || error) && <Loading error={error} />}
          {list && <RequestList requests={list} route={route} />}
          {list && <ClearButton count={countOf(list.length, 'request', 'requests')} />}
        </>
      }
      detailLabel="Open request"
      detail={route.id !== undefined && <RequestDetail key={route.id} id={route.id} route={route} />}
      hint="Choose a request to see why it was answered so."
      back={requestLink(route, undefined)}
    />
  );
}

/** Empties the journal; `count` says in words how many requests it has. */
function ClearButton({ count }: { readonly count: string }) {
  const { client } = useInspector();
  const clear = async () => {
    await client.clearRequests();
    return { text: `${count} removed from the journal.`, run: () => client.restoreRequests() };
  };
  const warning = `This removes ${count} from the journal, those of sandboxes too, and nothing else.`;
  return (
    <p class="tools">
      <RemovingButton label="Clear the journal" warning={warning} change={clear} />
    </p>
  );
}

/** After these events, the journal has fewer requests or unknown ones. */
const CLEARING: ReadonlySet<FeedEvent['kind']> = new Set(['journal', 'reset', 'gap']);

/** Loads the journal, and adds each request that the feed reports. */
function useRequests() {
  return useLog<RequestSummary>({
    loadAll: async (client) => ((await client.listRequests()) as { requests: RequestSummary[] }).requests,
    loadOne: async () => undefined,
    changeOf(event) {
      if (event.kind === 'request') return [event.request.id, event.request];
      return CLEARING.has(event.kind) ? ALL : undefined;
    },
  });
}
