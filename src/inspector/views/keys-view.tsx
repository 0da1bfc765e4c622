import { useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../journal/feed-event.ts';
import type { paths } from '../control-plane.d.ts';
import { useInspector } from '../inspector.ts';
import { type ControlClient, replyOf } from '../inspector-client.ts';
import type { Tenant } from '../mail/mail-types.ts';
import { linkTo, open, type Route } from '../page-route.ts';
import { Failure, Time } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { useLoaded } from '../use-loaded.ts';

type Key = paths['/__mock/keys']['get']['responses']['200']['content']['application/json']['keys'][number];

interface RotatedKey {
  readonly id: string;
  readonly key: string;
}

interface Data {
  readonly keys: readonly Key[];
  readonly tenants: readonly Tenant[];
}

async function load(client: ControlClient): Promise<Data> {
  const [keys, tenants] = await Promise.all([
    replyOf(client.GET('/__mock/keys')),
    replyOf(client.GET('/__mock/tenants')),
  ]);
  return { ...keys, ...tenants };
}

/** The keys as a tree, and what a leak of the chosen one exposes. */
export function KeysView({ route }: { readonly route: Route }) {
  const { client } = useInspector();
  const { value, error, reload } = useLoaded(() => load(client), 'keys');
  const [latest, setLatest] = useState<RotatedKey>();
  const rotated = (next: RotatedKey) => {
    setLatest(next);
    open(linkTo('keys', next.id), { replace: true });
    reload();
  };
  const chosen = value?.keys.find((key) => linkIdOf(key) === route.id);
  return (
    <>
      <h1 class="hidden">Keys</h1>
      <Failure error={error} />
      <div class={route.id === undefined ? 'columns' : 'columns open'}>
        <nav class="tree column" aria-label="Keys">
          {value && <KeyTree data={value} chosen={route.id} />}
          <Streams />
        </nav>
        <section class="detail" aria-label="Open key">
          {route.id !== undefined && (
            <a class="back" href={linkTo('keys')}>
              ← Back to the keys
            </a>
          )}
          {latest && latest.id === route.id && (
            <p role="status">
              The new key is <code>{latest.key}</code>
            </p>
          )}
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

const linkIdOf = ({ id }: Key) => id ?? 'operator';

interface Branch {
  readonly depth: number;
  readonly name: string;
  readonly keys: readonly Key[];
}

/** Returns the owners of keys in the order of the tree: the operator, then each tenant with what belongs to it. */
function branchesOf({ keys, tenants }: Data): Branch[] {
  const keysOf = (tier: Key['tier'], isOwner: (key: Key) => boolean) =>
    keys.filter((key) => key.tier === tier && isOwner(key));
  return [
    { depth: 0, name: 'Operator', keys: keysOf('operator', () => true) },
    ...tenants.flatMap((tenant) => [
      { depth: 1, name: tenant.name, keys: keysOf('tenant', ({ tenantId }) => tenantId === tenant.id) },
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

function KeyTree({ data, chosen }: { readonly data: Data; readonly chosen: string | undefined }) {
  return (
    <ul>
      {branchesOf(data).map(({ depth, name, keys }, index) => (
        <li key={`${index} ${name}`} class={`depth-${depth}`}>
          <span class="soft">{name}</span>
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

interface DetailProps {
  readonly apiKey: Key;
  readonly data: Data;
  rotated(next: RotatedKey): void;
}

/** What a leak of one key exposes. */
function KeyDetail({ apiKey, data, rotated }: DetailProps) {
  const { client } = useInspector();
  const action = useAction();
  const { id, tenantId } = apiKey;
  const rotate = async (keyId: string) => {
    const next = await replyOf(client.POST('/__mock/keys/{id}/rotate', { params: { path: { id: keyId } } }));
    rotated(next);
  };
  const workspaces = data.tenants.flatMap((tenant) => tenant.workspaces);
  const inboxes = workspaces.flatMap((workspace) => workspace.inboxes);
  const tenant = data.tenants.find((candidate) => candidate.id === tenantId);
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
      <Failure error={action.error} />
      {id !== null && (
        <button type="button" disabled={action.isRunning} onClick={() => action.run(() => rotate(id))}>
          Rotate
        </button>
      )}
      <h2>Whoever has this key can reach</h2>
      <Reach
        title="workspaces"
        items={namesOf(
          apiKey.workspaces,
          workspaces.map((each) => [each.id, each.name]),
        )}
      />
      <Reach
        title="inboxes"
        items={namesOf(
          apiKey.inboxes,
          inboxes.map((each) => [each.id, each.address]),
        )}
      />
      <Reach title="webhooks" items={apiKey.webhooks} />
      <Reach title="operations" items={apiKey.operations} />
    </>
  );
}

function namesOf(ids: readonly string[], names: readonly (readonly [id: string, name: string])[]): string[] {
  const byId = new Map(names);
  return ids.map((id) => byId.get(id) ?? id);
}

function Reach({ title, items }: { readonly title: string; readonly items: readonly string[] }) {
  return (
    <details open={items.length > 0 && items.length < 20}>
      <summary>
        {items.length} {title}
      </summary>
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
function Streams() {
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
            <Time at={realTime} isShort /> <code>{key}</code> {kind === 'stream-opened' ? 'opened' : 'closed'}
          </li>
        ))}
      </ul>
    </section>
  );
}
