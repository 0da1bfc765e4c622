import { Pause, Play, Plus, Zap } from 'lucide';
import { plural } from '../../../basics/text.ts';
import type { ControlClient } from '../../../control/table/client.ts';
import { callService } from '../../call-service.ts';
import { LiveOnly } from '../../inspector.ts';
import { deliveryLink, type Route } from '../../page-route.ts';
import { Button, ButtonLink, Chip, Facts, Failure, Field, Form, TextField, textIn } from '../../parts.tsx';
import { createNameFinder, isInScope, type Scope, useScope } from '../../scope.ts';
import { UserText } from '../../text.tsx';
import { COST_OF_UNDO, RemovalButton, useUndoableChange } from '../../undo.tsx';
import { useAction } from '../../use-loaded.ts';
import { type Delivery, type DeliveryListProps, markOf, summarise, type Webhook } from './explain-delivery.ts';
import { EVENTS } from './signature-form.tsx';
import { WebhookTabs } from './webhook-tabs.tsx';

/** How many results of an endpoint are shown. */
const SHOWN_RESULTS = 20;

/** The webhooks, each with its latest results. Those with the most failures come first. */
export function Endpoints({ deliveries, webhooks, route }: DeliveryListProps) {
  const scope = useScope();
  const shown = webhooks
    .filter((webhook) => isInScope(scope, webhook))
    .map((webhook) => ({ webhook, results: findResults(webhook, deliveries) }))
    .sort((one, other) => countFailures(other.results) - countFailures(one.results));
  return (
    <div class="page">
      <h1 class="hidden">Webhooks</h1>
      <WebhookTabs route={route} current="endpoints" />
      {shown.length === 0 && <p class="hint">There is no webhook here.</p>}
      <ul class="endpoints" aria-label={`Endpoints, ${shown.length}`}>
        {shown.map(({ webhook, results }) => (
          <Endpoint key={webhook.id} webhook={webhook} results={results} route={route} />
        ))}
      </ul>
      <LiveOnly>
        <AddEndpoint isOpen={shown.length === 0} />
      </LiveOnly>
    </div>
  );
}

/** Returns the latest deliveries of a webhook, oldest first. `deliveries` begins with the newest. */
function findResults({ id }: Webhook, deliveries: readonly Delivery[]): Delivery[] {
  const own: Delivery[] = [];
  for (const delivery of deliveries) {
    if (delivery.webhookId === id && own.push(delivery) === SHOWN_RESULTS) break;
  }
  return own.reverse();
}

function countFailures(results: readonly Delivery[]): number {
  return results.filter((delivery) => markOf(delivery).tone === 'bad').length;
}

type EndpointProps = { readonly webhook: Webhook; readonly results: readonly Delivery[]; readonly route: Route };

function Endpoint({ webhook, results, route }: EndpointProps) {
  const { url, events, isActive } = webhook;
  const failures = countFailures(results);
  return (
    <li class="endpoint">
      <div class="head">
        <UserText inside="h2" text={url} />
        {failures > 0 && <Chip tone="bad" text={`${failures} of ${results.length} failed`} />}
        {isActive ? <Chip tone="good" text="On" /> : <Chip icon={Pause} text="Off: it gets no events" />}
      </div>
      <Facts
        facts={[
          [
            'Events',
            events.length > 0 && (
              <span class="buttons">
                {events.map((event) => (
                  <Chip key={event} icon={Zap} text={event} />
                ))}
              </span>
            ),
          ],
          ['Owner', <Owner key="owner" webhook={webhook} />],
          ['Latest results', <Results key="results" webhook={webhook} results={results} route={route} />],
        ]}
      />
      <LiveOnly>
        <Actions webhook={webhook} route={route} />
      </LiveOnly>
    </li>
  );
}

/** The tenant or the workspace whose events the webhook gets. A trace does not have it. */
function Owner({ webhook: { tenantId, workspaceId } }: { readonly webhook: Webhook }) {
  const findName = createNameFinder(useScope());
  const tenant = findName(tenantId) ?? tenantId;
  if (!tenant) return <span class="soft">not in the trace</span>;
  if (workspaceId === null) return <bdi>{tenant}, all workspaces</bdi>;
  return (
    <bdi>
      {tenant}, workspace {findName(workspaceId) ?? workspaceId}
    </bdi>
  );
}

/** The latest results as a bar that leads to the deliveries, the newest on the right. */
function Results({ webhook: { id }, results, route }: EndpointProps) {
  if (results.length === 0) return <span class="soft">none yet</span>;
  const delivered = results.filter(({ state }) => state === 'delivered').length;
  const text = `${delivered} of the latest ${plural(results.length, 'delivery', 'deliveries')} delivered`;
  const empty = Array.from({ length: SHOWN_RESULTS - results.length }, (_, index) => index);
  return (
    <a class="results" href={deliveryLink(route, undefined, { webhook: id })}>
      {empty.map((index) => (
        <i key={index} class="none" />
      ))}
      {results.map((delivery) => (
        <i key={delivery.id} class={markOf(delivery).tone} title={`${markOf(delivery).text}: ${summarise(delivery)}`} />
      ))}{' '}
      <span class="small">{text}</span>
    </a>
  );
}

const ofTenant = (keys: Parameters<Parameters<typeof callService>[2]>[0]) => keys.find(({ tier }) => tier === 'tenant');

/** Pauses, continues and deletes a webhook, by requests with the key of its tenant. */
function Actions({ webhook: { id, tenantId, url, isActive }, route }: Pick<EndpointProps, 'webhook' | 'route'>) {
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

function AddEndpoint({ isOpen }: { readonly isOpen: boolean }) {
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
