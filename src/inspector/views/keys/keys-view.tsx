import { KeyRound } from 'lucide';
import { plural } from '../../../basics/text.ts';
import type { ReplyTo } from '../../../control/table/client.ts';
import { useLinkKeys } from '../../link-keys.ts';
import { ListView } from '../../list-view.tsx';
import { linkTo, open, type Route, useTitle } from '../../page-route.ts';
import { ButtonLink, Chip, CopyButton, Loading } from '../../parts.tsx';
import { createNameFinder, type Tenant, useScope } from '../../scope.ts';
import { COST_OF_UNDO, RemovalButton, useUndoableChange } from '../../undo.tsx';
import { useLoaded } from '../../use-loaded.ts';

/** The keys as a tree, and what a leak of the chosen key exposes. */
export function KeysView({ route }: { readonly route: Route }) {
  const { tenant } = useScope();
  const { value, error } = useLoaded((client) => client.listKeys({ tenant }), `keys ${tenant}`);
  const keys = value?.keys;
  const chosen = keys?.find((key) => linkIdOf(key) === route.id);
  const tree = useLinkKeys({ isMainList: true });
  return (
    <ListView
      title="Keys"
      list={
        <nav class="tree" aria-label="Keys" ref={tree}>
          {keys ? <KeyTree keys={keys} chosen={route.id} /> : <Loading error={error} />}
        </nav>
      }
      detailLabel="Open key"
      detail={
        route.id !== undefined &&
        (chosen ? (
          <KeyDetail key={chosen.id} apiKey={chosen} />
        ) : (
          keys && <p class="hint">This key is not valid any more: it was rotated, or its owner is gone.</p>
        ))
      }
      hint="Choose a key to see what somebody can reach with it."
      back={linkTo('keys')}
    />
  );
}

/** Returns the owners of keys, in the order of the tree: the operator, then each tenant with what belongs to it. */
function listOwners(keys: readonly Key[], tenants: readonly Tenant[]) {
  const keysOf = (tier: Key['tier'], isOwned: (key: Key) => boolean) =>
    keys.filter((key) => key.tier === tier && isOwned(key));
  return [
    { depth: 0, name: 'Operator', keys: keysOf('operator', () => true) },
    ...tenants.flatMap((tenant) => [
      { depth: 1, name: tenant.name, keys: keysOf('tenant', (key) => key.tenantId === tenant.id) },
      ...tenant.workspaces.flatMap(({ id, name, inboxes }) => [
        { depth: 2, name, keys: keysOf('workspace', ({ workspaces }) => workspaces[0] === id) },
        ...inboxes.map(({ id, address }) => {
          return { depth: 3, name: address, keys: keysOf('inbox', ({ inboxes }) => inboxes[0] === id) };
        }),
      ]),
    ]),
  ];
}

/** The keys, each below its owner. An owner without keys is left out. */
function KeyTree({ keys, chosen }: { readonly keys: readonly Key[]; readonly chosen: string | undefined }) {
  const owners = listOwners(keys, useScope().tenants).filter(({ keys }) => keys.length > 0);
  return (
    <ul>
      {owners.map(({ depth, name, keys }, index) => (
        <li key={`${index} ${name}`} class={`depth depth-${depth}`}>
          {keys.map((key) => (
            <a
              key={linkIdOf(key)}
              class="branch"
              href={linkTo('keys', linkIdOf(key))}
              aria-current={linkIdOf(key) === chosen ? 'true' : undefined}
            >
              <span>
                {name}
                <br />
                <code class="soft">{key.text}</code>
              </span>
              <Chip icon={KeyRound} text={key.tier} />
            </a>
          ))}
        </li>
      ))}
    </ul>
  );
}

const ROTATION = {
  title: 'Rotate the key?',
  text: `A new key takes the place of this one, which is refused from then on; its streams are closed. ${COST_OF_UNDO}`,
};

/** What a leak of one key exposes, and a button that rotates it. */
function KeyDetail({ apiKey: { id, text, tier, tenantId, handle, ...reach } }: { readonly apiKey: Key }) {
  const nameOf = createNameFinder(useScope());
  const rotate = useUndoableChange('Before the rotation', async (client) => {
    const newKey = await client.rotateKey({ id: String(id) });
    open(linkTo('keys', newKey.id), { replace: true });
  });
  useTitle(text);
  return (
    <>
      <h1>
        <code>{text}</code>
      </h1>
      <p>
        {[`${tier[0]?.toUpperCase()}${tier.slice(1)} key`, tenantId && (nameOf(tenantId) ?? tenantId)]
          .filter(Boolean)
          .join(' · ')}
        {handle && (
          <>
            {' · in code: '}
            <code>keys.{handle}</code>
          </>
        )}
      </p>
      <div class="buttons">
        <CopyButton text={text} />
        {id !== null && <RemovalButton label="Rotate" question={ROTATION} change={rotate} />}
        <ButtonLink text="Requests with this key" href={linkTo('requests', undefined, { search: text.slice(0, 9) })} />
      </div>
      <h2>Whoever has this key can reach</h2>
      <ReachList noun={['workspace', 'workspaces']} items={reach.workspaces.map((each) => nameOf(each) ?? each)} />
      <ReachList noun={['inbox', 'inboxes']} items={reach.inboxes.map((each) => nameOf(each) ?? each)} />
      <ReachList noun={['webhook', 'webhooks']} items={reach.webhooks} />
      <ReachList noun={['operation', 'operations']} items={reach.operations} />
    </>
  );
}

/** The items of one kind that a key can reach, with their number. */
function ReachList({ noun, items }: { noun: readonly [one: string, many: string]; items: readonly string[] }) {
  return (
    <details open={items.length > 0 && items.length < 20}>
      <summary>{plural(items.length, ...noun)}</summary>
      <ul>
        {items.map((item, index) => (
          <li key={`${index} ${item}`}>{item}</li>
        ))}
      </ul>
    </details>
  );
}

/** A key, and what its leak exposes. */
export type Key = ReplyTo<'listKeys'>['keys'][number];

/** Returns what the URL contains for a key: its id, or `operator` for the key of the operator, which has no id. */
export const linkIdOf = ({ id }: Key) => id ?? 'operator';
