import { Pause, Play, Plus, Zap } from 'lucide';
import type { ControlClient } from '../../../control/table/client.ts';
import { callService } from '../../call-service.ts';
import { deliveryLink, type Route } from '../../page-route.ts';
import { Button, ButtonLink, Failure, Field, Form, TextField, textIn } from '../../parts.tsx';
import { type Scope, useScope } from '../../scope.ts';
import { COST_OF_UNDO, RemovalButton, useUndoableChange } from '../../undo.tsx';
import { useAction } from '../../use-loaded.ts';
import { type Delivery, EVENTS, type Webhook } from './explain-delivery.ts';
import { SendAgainButton } from './failure-causes.tsx';

const ofTenant = (keys: Parameters<Parameters<typeof callService>[2]>[0]) => keys.find(({ tier }) => tier === 'tenant');

interface ActionsProps {
  readonly webhook: Webhook;
  readonly route: Route;
  /** Its deliveries that failed. */
  readonly failed: readonly Delivery[];
}

/** Pauses, continues and deletes a webhook, by requests with the key of its tenant. */
export function EndpointActions({ webhook: { id, tenantId, url, isActive }, route, failed }: ActionsProps) {
  const { tenants } = useScope();
  const { run, error, isRunning } = useAction();
  const path = `/v1/webhooks/${id}`;
  const change = (client: ControlClient) =>
    callService(client, tenantId, ofTenant, path, { method: 'PATCH', body: JSON.stringify({ isActive: !isActive }) });
  const remove = (client: ControlClient) => callService(client, tenantId, ofTenant, path, { method: 'DELETE' });
  const sandbox = tenants.find((tenant) => tenant.isSandbox && tenant.id === tenantId)?.id;
  const removeWithUndo = useUndoableChange('Before a webhook was deleted', remove, async () => sandbox);
  return (
    <>
      <p class="buttons">
        <Button
          icon={isActive ? Pause : Play}
          text={isActive ? 'Pause' : 'Turn on'}
          disabled={isRunning}
          onClick={() => run(change)}
        />
        <ButtonLink
          icon={Zap}
          text="Trigger an event"
          href={deliveryLink(route, undefined, { open: 'event', webhook: id })}
        />
        <SendAgainButton deliveries={failed} />
        <RemovalButton
          label="Delete"
          question={{ title: `Delete the webhook ${url}?`, text: `Its deliveries end. ${COST_OF_UNDO}` }}
          change={removeWithUndo}
        />
      </p>
      <Failure error={error} />
    </>
  );
}

/** The owners that a new webhook can have: each tenant in the scope, and each of its workspaces. */
function listOwners({ tenants, tenant }: Scope) {
  return tenants
    .filter(({ id }) => tenant === undefined || id === tenant)
    .flatMap(({ id: tenantId, name, workspaces }) => [
      { tenantId, workspaceId: null, name: `${name}, all workspaces` },
      ...workspaces.map((one) => ({ tenantId, workspaceId: one.id, name: `${name}, workspace ${one.name}` })),
    ]);
}

/** A form that adds an endpoint, by a request with the key of its tenant. */
export function AddEndpoint({ isOpen }: { readonly isOpen: boolean }) {
  const { run, error, isRunning } = useAction();
  const scope = useScope();
  const owners = listOwners(scope);
  const add = async (client: ControlClient, data: FormData) => {
    const owner = owners[Number(textIn(data, 'owner'))];
    if (!owner) throw new Error('Choose an owner.');
    const { tenantId, workspaceId } = owner;
    const body = { url: textIn(data, 'url'), events: data.getAll('event'), ...(workspaceId && { workspaceId }) };
    await callService(client, tenantId, ofTenant, '/v1/webhooks', { method: 'POST', body: JSON.stringify(body) });
  };
  const submit = async (data: FormData, { currentTarget: form }: { readonly currentTarget: HTMLFormElement }) => {
    if (await run((client) => add(client, data))) form.reset();
  };
  return (
    <details class="card" open={isOpen}>
      <summary>Add an endpoint</summary>
      <Form label="Add an endpoint" submit={submit}>
        <TextField label="URL" name="url" type="url" required placeholder="http://127.0.0.1:3000/hook" />
        <fieldset>
          <legend class="small soft">Events</legend>
          <span class="buttons">
            {EVENTS.map((event) => (
              <label key={event} class="check">
                <input type="checkbox" name="event" value={event} defaultChecked={event === EVENTS[0]} />
                {event}
              </label>
            ))}
          </span>
        </fieldset>
        <Field label="Owner">
          <select name="owner">
            {owners.map(({ name }, index) => (
              <option key={name} value={index}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        <Failure error={error} />
        <p>
          <Button icon={Plus} text="Add" type="submit" class="primary" disabled={isRunning} />
        </p>
      </Form>
    </details>
  );
}
