import { useInspector } from '../inspector.ts';
import { replyOf } from '../inspector-client.ts';
import { countOf } from '../parts.tsx';
import { RemovingButton, useUndoableChange } from '../undo.tsx';
import type { Key, KeyData, RotatedKey } from './key-data.ts';

interface DetailProps {
  readonly apiKey: Key;
  readonly data: KeyData;
  rotated(next: RotatedKey): void;
}

/** What a leak of one key exposes, and a button that rotates it. */
export function KeyDetail({ apiKey, data, rotated }: DetailProps) {
  const { client } = useInspector();
  const { id, tenantId } = apiKey;
  const rotate = useUndoableChange('Before the rotation', async () => {
    const params = { path: { id: String(id) } };
    rotated(await replyOf(client.POST('/__mock/keys/{id}/rotate', { params })));
  });
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
      {id !== null && (
        <RemovingButton
          label="Rotate"
          warning="A new key takes the place of this one, which is refused from then on; its streams are closed. An undo brings the key back, and removes all deliveries, requests and sandboxes."
          change={rotate}
        />
      )}
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
