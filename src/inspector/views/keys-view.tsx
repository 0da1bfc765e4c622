import { useState } from 'preact/hooks';
import { useInspector } from '../inspector.ts';
import { linkIdOf, loadKeys, type RotatedKey } from '../keys/key-data.ts';
import { KeyDetail } from '../keys/key-detail.tsx';
import { KeyTree } from '../keys/key-tree.tsx';
import { StreamEvents } from '../keys/stream-events.tsx';
import { linkTo, open, type Route } from '../page-route.ts';
import { Failure } from '../parts.tsx';
import { useLoaded } from '../use-loaded.ts';

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
