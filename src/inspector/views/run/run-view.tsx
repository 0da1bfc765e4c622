import { History } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import type { ControlClient } from '../../../control/table/client.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import { Button, countOf, Failure, Loading, Select } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { useLoaded } from '../../use-loaded.ts';
import { Correspondents } from './correspondents.tsx';
import { RunLine } from './run-line.tsx';
import { StartPage } from './start-page.tsx';
import { counterpartOf, createTimeline } from './timeline.ts';

/** The most items that are shown at once; older ones are behind a button. */
const MAX_ITEMS = 300;

/** What an agent did, as one timeline: mail, deliveries, requests, time and faults, newest last. */
export function RunView({ route: { options } }: { readonly route: Route }) {
  const { tenant, sandbox } = useScope();
  const { data, error } = useRun(sandbox);
  const [limit, setLimit] = useState(MAX_ITEMS);
  if (!data) return <Loading error={error} />;
  const { counterpart, since } = options;
  const items = createTimeline(data, { tenant, counterpart, since });
  return (
    <div class="page run">
      <div class="head">
        <h1>Run</h1>
        <Choices data={data} options={options} />
      </div>
      <Failure error={error} />
      {items.length > limit && (
        <button type="button" onClick={() => setLimit(limit + MAX_ITEMS)}>
          Show {countOf(items.length - limit, 'earlier item', 'earlier items')}
        </button>
      )}
      {items.length > 0 ? (
        <ol class="timeline" aria-label="What happened">
          {items.slice(-limit).map((item) => (
            <RunLine key={item.id} item={item} />
          ))}
        </ol>
      ) : since || counterpart ? (
        <p class="hint">Nothing has happened here yet. What happens appears at once.</p>
      ) : (
        <StartPage />
      )}
      <Correspondents correspondents={data.correspondents} />
    </div>
  );
}

/** The filters of the timeline: a counterpart, and the moment at which it starts. */
function Choices({ data, options: { counterpart = '', since = '' } }: { data: Run; options: Route['options'] }) {
  const scope = useScope();
  const mail = data.mail.filter((one) => isInScope(scope, one));
  const checkpoints = data.events.flatMap((event) =>
    event.kind === 'checkpoint' && event.action === 'added' ? [[event.id, `Since ${event.name}`] as const] : [],
  );
  const isKnown = since === '' || checkpoints.some(([id]) => id === since);
  const moments = isKnown ? checkpoints : [...checkpoints, [since, 'Since a chosen moment'] as const];
  const change = (changes: Record<string, string | undefined>) =>
    open(linkTo('run', undefined, { counterpart, since, ...changes }), { replace: true });
  return (
    <>
      <Select
        label="Counterpart"
        value={counterpart}
        options={[['', 'Every counterpart'], ...new Set(mail.map(counterpartOf))]}
        choose={(counterpart) => change({ counterpart })}
      />
      <Select
        label="Since"
        value={since}
        options={[['', 'Since the start'], ...moments]}
        choose={(since) => change({ since })}
      />
      <Button icon={History} text="From now" onClick={() => change({ since: data.events.at(-1)?.id })} />
    </>
  );
}

type Run = NonNullable<ReturnType<typeof useRun>['data']>;

/** Loads the data of the timeline, and loads them again after each event. */
function useRun(sandbox: string | undefined) {
  const load = async (client: ControlClient) => {
    const [events, { messages: mail }, { deliveries }, { correspondents }, { samples }] = await Promise.all([
      readKept(client.readFeed({ lastEventId: '0', follow: false })),
      client.listMail(),
      client.listDeliveries(),
      client.listCorrespondents(),
      client.listSamples({}, { sandbox }),
    ]);
    return { events, mail, deliveries, correspondents, samples };
  };
  const { value, error } = useLoaded(load, `run ${sandbox}`, () => true);
  const [data, setData] = useState(value);
  useEffect(() => value && setData(value), [value]);
  return { data, error };
}

async function readKept(feed: Promise<AsyncIterable<FeedEvent>>): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for await (const event of await feed) events.push(event);
  return events;
}
