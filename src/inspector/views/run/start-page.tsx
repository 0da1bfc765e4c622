import { useState } from 'preact/hooks';
import { useInspector } from '../../inspector.ts';
import { linkTo } from '../../page-route.ts';
import { Code, Failure, Field } from '../../parts.tsx';
import { useAction, useLoaded } from '../../use-loaded.ts';
import type { Tenant } from '../mail/mail-types.ts';

/** What a person does first: a request with a key of an inbox, a mail, or a sample. */
export function StartPage({ tenants }: { readonly tenants: readonly Tenant[] }) {
  const { client } = useInspector();
  const { value: key } = useLoaded(async () => findKey(await client.exportState()), 'start-key');
  return (
    <section class="start" aria-label="Start here">
      <p>Nothing has happened yet. Let your agent call the API, or deliver a mail; both appear here at once.</p>
      <Code label="URL of the API" text={location.origin} />
      {key && (
        <>
          <Code label="A key of an inbox" text={key} />
          <Code label="A first request" text={`curl ${location.origin}/v1/messages -H 'X-API-Key: ${key}'`} />
        </>
      )}
      <p class="buttons">
        <a class="button primary" href={linkTo('mail', undefined, { compose: 'true' })}>
          Deliver a first mail
        </a>
      </p>
      <SampleForm tenants={tenants} />
      <p>
        <a href="/__mock/openapi.json">OpenAPI document of the API</a> ·{' '}
        <a href="/__mock/control.json">OpenAPI document of the control calls</a> ·{' '}
        <a href="https://www.npmjs.com/package/agent-mailbox-mock">README</a>
      </p>
    </section>
  );
}

/** Returns the first key of an inbox in an exported fixture. */
function findKey(state: unknown): string | undefined {
  return /"(ak_[\w-]+)"/.exec(JSON.stringify(state))?.[1];
}

/** Delivers a sample: a mail that agents have difficulties with. */
function SampleForm({ tenants }: { readonly tenants: readonly Tenant[] }) {
  const { client } = useInspector();
  const action = useAction();
  const [sample, setSample] = useState('out-of-office');
  const [inbox] = tenants.flatMap(({ workspaces }) => workspaces.flatMap(({ inboxes }) => inboxes));
  if (!inbox) return null;
  return (
    <form
      class="buttons"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(() => client.receiveMessage({ sample, to: inbox.address }));
      }}
    >
      <Field label={`Sample, to ${inbox.address}`}>
        <input required value={sample} onInput={(event) => setSample(event.currentTarget.value)} />
      </Field>
      <button type="submit" disabled={action.isRunning}>
        Deliver a sample
      </button>
      <Failure error={action.error} />
    </form>
  );
}
