import { useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import { countOf, Failure } from '../../parts.tsx';
import { Time } from '../../time.tsx';
import { useLoaded } from '../../use-loaded.ts';
import { loadTenants, type Tenant } from '../mail/mail-types.ts';
import { RemovingButton, useUndoableChange } from '../settings/undo.tsx';

/** The keys as a tree, and what a leak of the chosen one exposes. */
export function KeysView({ route }: { readonly route: Route }) {
  const { client } = useInspector();
  const { value, error } = useLoaded(() => loadKeys(client), 'keys');
  const [latest, setLatest] = useState<RotatedKey>();
  const rotated = (next: RotatedKey) => {
    setLatest(next);
    open(linkTo('keys', next.id), { replace: true });
  };
  const chosen = value?.keys.find((key) => linkIdOf(key) === route.id);
  return (
    <>
      <h1 class="hidden">Keys</h1>
      <Failure error={error} />
      <div class={route.id === undefined ? 'columns' : 'columns open'}>
        <nav class="tree column" aria-label="Keys">
          {value && <KeyTree data={value} chosen={route.id} />}
          <StreamEvents />
        </nav>
        <section class="detail" aria-label="Open key">
          {route.id !== undefined && (
            <a class="back" href={linkTo('keys')}>
              ← Back to the keys
            </a>
          )}
          {latest && latest.id === route.id && <NewKey text={latest.key} />}
          {value && chosen && <KeyDetail key={chosen.id} apiKey={chosen} data={value} rotated={rotated} />}
          {value && !chosen && (
            <p class="hint">
              {route.id ? 'This key is not valid any more.' : 'Choose a key to see what its leak exposes.'}
            </p>
          )}
        </section>
      </div>
    </>
  );
}

function NewKey({ text }: { readonly text: string }) {
  return (
    <p role="status">
      The new key is <code>{text}</code>
    </p>
  );
}

interface Branch {
  readonly depth: number;
  readonly name: string;
  readonly keys: readonly Key[];
}

/** Returns the owners of keys in the order of the tree: the operator, then each tenant with what belongs to it. */
function branchesOf({ keys, tenants }: KeyData): Branch[] {
  const keysOf = (tier: Key['tier'], isOwner: (key: Key) => boolean) =>
    keys.filter((key) => key.tier === tier && isOwner(key));
  return [
    { depth: 0, name: 'Operator', keys: keysOf('operator', () => true) },
    ...tenants.flatMap((tenant) => [
      { depth: 1, name: tenant.name, keys: keysOf('tenant', (key) => key.tenantId === tenant.id) },
      ...tenant.workspaces.flatMap(({ id, name, inboxes }) => [
        { depth: 2, name, keys: keysOf('workspace', ({ workspaces }) => workspaces[0] === id) },
        ...inboxes.map((inbox) => ({
          depth: 3,
          name: inbox.address,
          keys: keysOf('inbox', (key) => key.inboxes[0] === inbox.id),
        })),
      ]),
    ]),
  ];
}

/** The keys below what they belong to. */
function KeyTree({ data, chosen }: { readonly data: KeyData; readonly chosen: string | undefined }) {
  return (
    <ul>
      {branchesOf(data).map(({ depth, name, keys }, index) => (
        <li key={`${index} ${name}`} class={`depth-${depth}`}>
          <OwnerName name={name} first={keys[0]} />
          {keys.map((key) => (
            <a
              key={linkIdOf(key)}
              class="branch"
              href={linkTo('keys', linkIdOf(key))}
              aria-current={linkIdOf(key) === chosen ? 'true' : undefined}
            >
              <code>{key.key}</code>
              <span class="soft">{key.tier}</span>
            </a>
          ))}
        </li>
      ))}
    </ul>
  );
}

/** The name of an owner, which leads to its first key. */
function OwnerName({ name, first }: { readonly name: string; readonly first: Key | undefined }) {
  if (!first) return <span class="soft">{name}</span>;
  return (
    <a class="soft" href={linkTo('keys', linkIdOf(first))}>
      {name}
    </a>
  );
}

const ROTATION =
  'A new key takes the place of this one, which is refused from then on; its streams are closed. ' +
  'An undo brings the key back, and removes all deliveries, requests and sandboxes.';

interface DetailProps {
  readonly apiKey: Key;
  readonly data: KeyData;
  rotated(next: RotatedKey): void;
}

/** What a leak of one key exposes, and a button that rotates it. */
function KeyDetail({ apiKey, data, rotated }: DetailProps) {
  const { client } = useInspector();
  const { id } = apiKey;
  const rotate = useUndoableChange('Before the rotation', async () => {
    rotated(await client.rotateKey({ id: String(id) }));
  });
  const tenant = data.tenants.find((candidate) => candidate.id === apiKey.tenantId);
  return (
    <>
      <h1>
        <code>{apiKey.key}</code>
      </h1>
      <p>
        A key of the tier {apiKey.tier}
        {tenant && ` of ${tenant.name}`}
        {apiKey.handle && `, ${apiKey.handle} in mailbox.keys`}.
      </p>
      {id !== null && <RemovingButton label="Rotate" warning={ROTATION} change={rotate} />}
      <Reaches apiKey={apiKey} data={data} />
    </>
  );
}

/** Everything that the key can reach. */
function Reaches({ apiKey, data }: Omit<DetailProps, 'rotated'>) {
  const workspaces = data.tenants.flatMap((tenant) => tenant.workspaces);
  const inboxes = workspaces.flatMap((workspace) => workspace.inboxes);
  const names = new Map([
    ...workspaces.map(({ id, name }) => [id, name] as const),
    ...inboxes.map(({ id, address }) => [id, address] as const),
  ]);
  const namesOf = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? id);
  return (
    <>
      <h2>Whoever has this key can reach</h2>
      <Reach noun={['workspace', 'workspaces']} items={namesOf(apiKey.workspaces)} />
      <Reach noun={['inbox', 'inboxes']} items={namesOf(apiKey.inboxes)} />
      <Reach noun={['webhook', 'webhooks']} items={apiKey.webhooks} />
      <Reach noun={['operation', 'operations']} items={apiKey.operations} />
    </>
  );
}

interface ReachProps {
  readonly noun: readonly [one: string, many: string];
  readonly items: readonly string[];
}

function Reach({ noun, items }: ReachProps) {
  return (
    <details open={items.length > 0 && items.length < 20}>
      <summary>{countOf(items.length, ...noun)}</summary>
      <ul>
        {items.map((item, index) => (
          <li key={`${index} ${item}`}>{item}</li>
        ))}
      </ul>
    </details>
  );
}

type StreamEvent = Extract<FeedEvent, { kind: 'stream-opened' | 'stream-closed' }>;

const MAX_STREAM_EVENTS = 20;

/** The streams that were opened and closed since this view is open. */
function StreamEvents() {
  const { feed } = useInspector();
  const [events, setEvents] = useState<readonly StreamEvent[]>([]);
  useEffect(
    () =>
      feed.subscribe({
        event(event) {
          if (event.kind !== 'stream-opened' && event.kind !== 'stream-closed') return;
          setEvents((earlier) => [event, ...earlier].slice(0, MAX_STREAM_EVENTS));
        },
      }),
    [feed],
  );
  return (
    <section aria-label="Streams">
      <h2>Streams</h2>
      {events.length === 0 && <p class="hint">None was opened or closed since you opened this view.</p>}
      <ul>
        {events.map(({ id, kind, key, realTime }) => (
          <li key={id}>
            <Time at={realTime} /> <code>{key}</code> {kind === 'stream-opened' ? 'opened' : 'closed'}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a leak of one key exposes. */
export type Key = ReplyTo<'listKeys'>['keys'][number];

/** The key that has replaced another one. */
export type RotatedKey = ReplyTo<'rotateKey'>;

/** The keys, and the names of what they reach. */
export interface KeyData {
  readonly keys: readonly Key[];
  readonly tenants: readonly Tenant[];
}

/** Loads the keys, and the names of what they reach. */
export async function loadKeys(client: ControlClient): Promise<KeyData> {
  const [{ keys }, tenants] = await Promise.all([client.listKeys(), loadTenants(client)]);
  return { keys, tenants };
}

/** The id of a key in the URL. */
export const linkIdOf = ({ id }: Key) => id ?? 'operator';
