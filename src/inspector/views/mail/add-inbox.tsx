import { Plus } from 'lucide';
import { useState } from 'preact/hooks';
import type { ControlClient } from '../../../control/table/client.ts';
import { linkTo, open } from '../../page-route.ts';
import { Button, Failure, Field, Form, Select, TextField, textIn } from '../../parts.tsx';
import { useScope } from '../../scope.ts';
import { useAction } from '../../use-loaded.ts';

/**
 * Adds an inbox by a control call, which is no request of a client. Without any tenant, it is one button that creates a
 * tenant, too; otherwise a form in a part that can be opened.
 */
export function AddInbox() {
  const scope = useScope();
  const tenants = scope.tenants.filter(({ id }) => (scope.tenant ?? id) === id);
  const { run, error, isRunning } = useAction();
  const [owner, setOwner] = useState('');
  const add = async (client: ControlClient, inbox: Parameters<ControlClient['addInbox']>[0]) => {
    const { id } = await client.addInbox(inbox);
    open(linkTo('mail', undefined, { inbox: id }));
  };
  if (scope.tenants.length === 0) {
    return (
      <p>
        <Button
          icon={Plus}
          text="Create a tenant with an inbox"
          class="primary"
          disabled={isRunning}
          onClick={() => run((client) => add(client, { newTenant: 'Acme', username: 'helpdesk' }))}
        />
        <Failure error={error} />
      </p>
    );
  }
  const chosen = owner === NEW_TENANT || tenants.some(({ id }) => id === owner) ? owner : (tenants[0]?.id ?? '');
  const submit = (data: FormData) => {
    const username = textIn(data, 'username') || undefined;
    const target = chosen === NEW_TENANT ? { newTenant: textIn(data, 'name') } : { tenant: chosen };
    return run((client) => add(client, { username, ...target }));
  };
  return (
    <details>
      <summary class="small soft">Add an inbox</summary>
      <Form label="Add an inbox" submit={submit}>
        <Field label="Tenant">
          <Select
            label="Tenant of the inbox"
            value={chosen}
            options={[...tenants.map(({ id, name }) => [id, name] as const), [NEW_TENANT, 'A new tenant'] as const]}
            choose={setOwner}
          />
        </Field>
        {chosen === NEW_TENANT && <TextField label="Name of the tenant" name="name" required />}
        <TextField label="Name before the @" name="username" placeholder="helpdesk" />
        <Failure error={error} />
        <Button icon={Plus} text="Add" type="submit" disabled={isRunning} />
      </Form>
    </details>
  );
}

/** The value of the field for the tenant that stands for a new one. */
const NEW_TENANT = 'new';
