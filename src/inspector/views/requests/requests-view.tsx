import { useCallback, useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import type { RequestSummary } from '../../../control/journal/request-entry.ts';
import { useInspector } from '../../inspector.ts';
import { requestLink } from '../../links.ts';
import { open, type Route } from '../../page-route.ts';
import { countOf, Failure } from '../../parts.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { RemovingButton } from '../settings/undo.tsx';
import { RequestDetail } from './request-detail.tsx';
import { RequestList } from './request-list.tsx';

/** The journal of requests: a list, and the open one. */
export function RequestsView({ route }: { readonly route: Route }) {
  const requests = useRequests();
  useShortcuts({ Escape: () => route.id !== undefined && open(requestLink(route, undefined)) });
  return (
    <>
      <h1 class="hidden">Requests</h1>
      <Failure error={requests.error} />
      <div class={route.id === undefined ? 'columns' : 'columns open'}>
        <RequestList requests={requests.list} route={route} />
        <section class="detail" aria-label="Open request">
          {route.id === undefined ? (
            <>
              <p class="hint">
                Choose a request to see why it was answered so. The keys j and k go through the list, and ? shows all
                keys.
              </p>
              <ClearButton count={countOf(requests.list?.length ?? 0, 'request', 'requests')} />
            </>
          ) : (
            <>
              <a class="back" href={requestLink(route, undefined)}>
                ← Back to the list
              </a>
              <RequestDetail key={route.id} id={route.id} />
            </>
          )}
        </section>
      </div>
    </>
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
