import { useCallback, useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import type { RequestSummary } from '../../../control/journal/request-entry.ts';
import { useInspector } from '../../inspector.ts';
import { requestLink } from '../../links.ts';
import { ListView } from '../../list-view.tsx';
import type { Route } from '../../page-route.ts';
import { countOf, Failure, Loading } from '../../parts.tsx';
import { RemovingButton } from '../settings/undo.tsx';
import { RequestDetail } from './request-detail.tsx';
import { RequestList } from './request-list.tsx';

/** The journal of requests: a list, and the open one. */
export function RequestsView({ route }: { readonly route: Route }) {
  const { list, error } = useRequests();
  return (
    <ListView
      title="Requests"
      list={
        list ? (
          <>
            <Failure error={error} />
            <RequestList requests={list} route={route} />
            <p class="tools">
              <ClearButton count={countOf(list.length, 'request', 'requests')} />
            </p>
          </>
        ) : (
          <Loading error={error} />
        )
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
    const run = () => client.restoreRequests();
    return { text: `${count} removed from the journal.`, run };
  };
  const warning = `This removes ${count} from the journal, those of sandboxes too, and nothing else.`;
  return <RemovingButton label="Clear the journal" warning={warning} change={clear} />;
}

/** The requests of the journal, which stay up to date. */
export interface Requests {
  /** The newest first; `undefined` until they are loaded. */
  readonly list: readonly RequestSummary[] | undefined;
  /** Why they could not be loaded. */
  readonly error: string | undefined;
}

/** The list is rendered at most this often, in milliseconds. */
const INTERVAL_MS = 100;

/** After these events, the journal has fewer requests or unknown ones. */
const CLEARING: ReadonlySet<FeedEvent['kind']> = new Set(['journal', 'reset', 'gap']);

/** Loads the journal, and adds each request that the feed reports. */
export function useRequests(): Requests {
  const { client, feed } = useInspector();
  const [state, setState] = useState<{ list?: readonly RequestSummary[]; error?: string }>({});
  const reload = useCallback(async () => {
    try {
      const { requests } = (await client.listRequests()) as { requests: RequestSummary[] };
      setState({ list: requests.reverse() });
    } catch (error) {
      setState((before) => ({ ...before, error: (error as Error).message }));
    }
  }, [client]);
  useEffect(() => {
    let added: RequestSummary[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const add = () => {
      timer = undefined;
      const newest = added.reverse();
      added = [];
      setState(({ list }) => (list ? { list: addNew(newest, list) } : {}));
    };
    const stop = feed.subscribe({
      event(event) {
        if (CLEARING.has(event.kind)) void reload();
        if (event.kind !== 'request') return;
        added.push(event.request);
        timer ??= setTimeout(add, INTERVAL_MS);
      },
      state: (state) => state === 'live' && void reload(),
    });
    if (feed.state === 'live') void reload();
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [feed, reload]);
  return { list: state.list, error: state.error };
}

/** Adds requests in front of a list that may already have some of them. */
function addNew(newest: readonly RequestSummary[], list: readonly RequestSummary[]): RequestSummary[] {
  const known = new Set(list.slice(0, newest.length).map(({ id }) => id));
  return [...newest.filter(({ id }) => !known.has(id)), ...list];
}
