import { ArrowDownLeft, FlaskConical } from 'lucide';
import { linkTo } from '../../page-route.ts';
import { Button, ButtonLink, CopyButton, Facts, Failure, Form, TextField, textIn } from '../../parts.tsx';
import { useScope } from '../../scope.ts';
import { useAction, useLoaded } from '../../use-loaded.ts';

/** What a person does first: a request with a key of an inbox, a mail, or a sample. */
export function StartPage() {
  const { tenant } = useScope();
  const { value } = useLoaded((client) => client.listKeys({ tenant }), `start-key ${tenant}`);
  const key = value?.keys.find(({ tier }) => tier === 'inbox')?.text;
  const copied = (text: string | undefined) =>
    text && (
      <>
        <code>{text}</code> <CopyButton text={text} />
      </>
    );
  return (
    <section class="card start" aria-label="Start here">
      <h2>Nothing has happened yet</h2>
      <p>Let your agent call the API, or deliver a mail. Both appear here at once.</p>
      <Facts
        facts={[
          ['URL of the API', copied(location.origin)],
          ['A key of an inbox', copied(key)],
          ['A first request', copied(key && `curl ${location.origin}/v1/messages -H 'X-API-Key: ${key}'`)],
        ]}
      />
      <p class="buttons">
        <ButtonLink
          icon={ArrowDownLeft}
          text="Deliver a first mail"
          isPrimary
          href={linkTo('mail', undefined, { compose: 'true' })}
        />
      </p>
      <SampleForm />
      <p class="small">
        <a href="/__mock/openapi.json">OpenAPI document of the API</a> ·{' '}
        <a href="/__mock/control.json">OpenAPI document of the control calls</a> ·{' '}
        <a href="https://www.npmjs.com/package/agent-mailbox-mock">README</a>
      </p>
    </section>
  );
}

/** Delivers a sample: a mail that agents have difficulties with. */
export function SampleForm() {
  const scope = useScope();
  const { sandbox } = scope;
  const action = useAction();
  const [inbox] = scope.tenants
    .filter(({ id }) => scope.tenant === undefined || id === scope.tenant)
    .flatMap(({ workspaces }) => workspaces.flatMap(({ inboxes }) => inboxes));
  if (!inbox) return null;
  const deliver = (data: FormData) =>
    action.run((client) => client.receiveMessage({ sample: textIn(data, 'sample'), to: inbox.address }, { sandbox }));
  return (
    <Form className="inline" submit={deliver}>
      <TextField label={`Sample, to ${inbox.address}`} name="sample" required defaultValue="out-of-office" />
      <Button icon={FlaskConical} text="Deliver a sample" type="submit" disabled={action.isRunning} />
      <Failure error={action.error} />
    </Form>
  );
}
