import { useInspector } from '../../inspector.ts';
import { requestLink } from '../../links.ts';
import { open, type Route } from '../../page-route.ts';
import { countOf, Failure } from '../../parts.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { RemovingButton } from '../settings/undo.tsx';
import { RequestDetail } from './request-detail.tsx';
import { RequestList } from './request-list.tsx';
import { useRequests } from './use-requests.ts';

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
