import { linkTo } from '../page-route.ts';
import { type Key, type KeyData, linkIdOf } from './key-data.ts';

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

/** The keys below what they belong to. */
export function KeyTree({ data, chosen }: { readonly data: KeyData; readonly chosen: string | undefined }) {
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
