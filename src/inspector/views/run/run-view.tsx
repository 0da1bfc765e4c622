import { useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import { useInspector } from '../../inspector.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import { countOf, Failure } from '../../parts.tsx';
import { useLoaded } from '../../use-loaded.ts';
import { loadTenants } from '../mail/mail-types.ts';
import { Correspondents } from './correspondents.tsx';
import { RunLine } from './run-line.tsx';
import { StartPage } from './start-page.tsx';
import { counterpartOf, createTimeline } from './timeline.ts';

/** The most items that are shown at once; older ones are behind a button. */
const MAX_ITEMS = 300;

/** What an agent did, as one timeline: mail, deliveries, requests, time and faults, newest last. */
export function RunView({ route: { options } }: { readonly route: Route }) {
  const { data, error } = useRun(options.tenant);
  const [limit, setLimit] = useState(MAX_ITEMS);
  if (!data) return <Failure error={error} />;
  const { tenant, counterpart, since } = options;
  const items = createTimeline(data, { tenant, counterpart, since });
  return (
    <div class="page run">
      <div class="run-head">
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
        <ol class="run-list" aria-label="What happened">
          {items.slice(-limit).map((item) => (
            <RunLine key={item.id} item={item} />
          ))}
        </ol>
      ) : since || tenant || counterpart ? (
        <p class="hint">Nothing has happened here yet. What happens appears at once.</p>
      ) : (
        <StartPage tenants={data.tenants} />
      )}
      <Correspondents correspondents={data.correspondents} />
    </div>
  );
}

/** What the timeline is of: a tenant, a counterpart, and the moment at which it starts. */
function Choices({ data, options }: { readonly data: Run; readonly options: Route['options'] }) {
  const { tenant, counterpart, since } = options;
  const others = [...new Set(data.mail.filter((mail) => !tenant || mail.tenantId === tenant).map(counterpartOf))];
  const moments = data.events.flatMap((event) =>
    event.kind === 'checkpoint' && event.action === 'added' ? [[event.id, `checkpoint ${event.name}`] as const] : [],
  );
  const isKnown = moments.some(([id]) => id === since);
  const change = (changes: Record<string, string | undefined>) =>
    open(linkTo('run', undefined, { ...options, ...changes }), { replace: true });
  return (
    <div class="tools">
      <Choice
        label="Tenant"
        value={tenant}
        choices={data.tenants.map(({ id, name }) => [id, name])}
        every="every tenant"
        change={(tenant) => change({ tenant, counterpart: undefined })}
      />
      <Choice
        label="Counterpart"
        value={counterpart}
        choices={others.map((address) => [address, address])}
        every="every counterpart"
        change={(counterpart) => change({ counterpart })}
      />
      <Choice
        label="Since"
        value={since}
        choices={[...moments, ...(since && !isKnown ? [[since, 'a chosen moment'] as const] : [])]}
        every="since the start"
        change={(since) => change({ since })}
      />
      <button type="button" onClick={() => change({ since: data.events.at(-1)?.id })}>
        From now
      </button>
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  /** The values with their names. */
  readonly choices: readonly (readonly [value: string, name: string])[];
  /** The name of no choice. */
  readonly every: string;
  readonly change: (value: string | undefined) => void;
}

function Choice({ label, value = '', choices, every, change }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => change(event.currentTarget.value || undefined)}>
      <option value="">{every}</option>
      {choices.map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

type Run = NonNullable<ReturnType<typeof useRun>['data']>;

/** Loads what the timeline is made of, again after each event: the feed that is kept, mail, and who is there. */
function useRun(tenant: string | undefined) {
  const { client } = useInspector();
  const load = async () => {
    const tenants = await loadTenants(client);
    const sandbox = tenants.find(({ id, isSandbox }) => isSandbox && id === tenant)?.id;
    const [events, { messages: mail }, { deliveries }, { correspondents }, { samples }] = await Promise.all([
      readKept(client.readFeed({ lastEventId: '0', follow: false })),
      client.listMail(),
      client.listDeliveries(),
      client.listCorrespondents(),
      client.listSamples({}, { sandbox }),
    ]);
    return { events, mail, deliveries, correspondents, samples, tenants };
  };
  const { value, error } = useLoaded(load, `run ${tenant}`, () => true);
  const [data, setData] = useState(value);
  useEffect(() => value && setData(value), [value]);
  return { data, error };
}

async function readKept(feed: Promise<AsyncIterable<FeedEvent>>): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for await (const event of await feed) events.push(event);
  return events;
}
