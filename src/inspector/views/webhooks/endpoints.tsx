import { Eye, Pause, Zap } from 'lucide';
import { useState } from 'preact/hooks';
import { LiveOnly } from '../../inspector.ts';
import { createLivePart } from '../../live-view.tsx';
import { deliveryLink, type Route } from '../../page-route.ts';
import { Button, Chip, CopyButton, Facts, Frame } from '../../parts.tsx';
import { createNameFinder, isInScope, useScope } from '../../scope.ts';
import { Time, UserText } from '../../text.tsx';
import {
  type Delivery,
  type DeliveryListProps,
  failedOf,
  markOf,
  summarise,
  type Webhook,
} from './explain-delivery.ts';
import { FailureCauses } from './failure-causes.tsx';
import { WebhookTabs } from './webhook-tabs.tsx';

/** What changes endpoints, which a trace does not have. */
const EndpointActions = createLivePart(async () => (await import('../live-views.ts')).EndpointActions);
const AddEndpoint = createLivePart(async () => (await import('../live-views.ts')).AddEndpoint);

/** How many results of an endpoint are shown. */
const SHOWN_RESULTS = 20;

/** The webhooks, each with its latest results. Those with the most failures come first. */
export function Endpoints({ deliveries, webhooks, route }: DeliveryListProps) {
  const scope = useScope();
  const results = new Map<string, Delivery[]>(webhooks.map(({ id }) => [id, []]));
  for (const delivery of deliveries.toReversed()) results.get(delivery.webhookId)?.push(delivery);
  const shown = webhooks
    .filter((webhook) => isInScope(scope, webhook))
    .map((webhook) => ({ webhook, results: results.get(webhook.id) ?? [] }))
    .sort((one, other) => countFailures(other.results) - countFailures(one.results));
  return (
    <>
      <Frame title="Webhooks">
        <WebhookTabs route={route} current="endpoints" />
      </Frame>
      <div class="page">
        {shown.length === 0 && (
          <p class="hint">There is no webhook yet. Add one, and it gets the events of its owner.</p>
        )}
        <FailureCauses deliveries={deliveries.filter((one) => isInScope(scope, one))} route={route} />
        <ul class="endpoints" aria-label={`Endpoints, ${shown.length}`}>
          {shown.map(({ webhook, results }) => (
            <Endpoint key={webhook.id} webhook={webhook} results={results} route={route} />
          ))}
        </ul>
        <LiveOnly>
          <AddEndpoint isOpen={shown.length === 0} />
        </LiveOnly>
      </div>
    </>
  );
}

/** Returns how many of the latest deliveries failed. */
function countFailures(results: readonly Delivery[]): number {
  return failedOf(results.slice(-SHOWN_RESULTS)).length;
}

interface EndpointProps {
  readonly webhook: Webhook;
  /** All its deliveries that are kept, oldest first. */
  readonly results: readonly Delivery[];
  readonly route: Route;
}

function Endpoint({ webhook, results, route }: EndpointProps) {
  const { url, events, isActive } = webhook;
  const failed = failedOf(results);
  const lastError = results.findLast(({ attempts }) => attempts.some(({ error }) => error !== null));
  return (
    <li class="endpoint">
      <div class="head">
        <UserText inside="h2" text={url} />
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
          ['Error rate', failed.length > 0 && <ErrorRate results={results} />],
          ['Last error', lastError && <LastError delivery={lastError} route={route} />],
          ['Secret', webhook.secret && <Secret text={webhook.secret} />],
        ]}
      />
      <LiveOnly>
        <EndpointActions webhook={webhook} route={route} failed={failed} />
      </LiveOnly>
    </li>
  );
}

/** How many of the attempts to reach an endpoint failed. */
function ErrorRate({ results }: Pick<EndpointProps, 'results'>) {
  const attempts = results.flatMap(({ attempts }) => attempts);
  const failed = attempts.filter(({ error }) => error !== null).length;
  return (
    <>
      {Math.round((100 * failed) / Math.max(1, attempts.length))} %{' '}
      <span class="soft">
        {failed.toLocaleString('en')} of {attempts.length.toLocaleString('en')} attempts failed
      </span>
    </>
  );
}

/** Why the latest attempt that failed did so, and when, with a link to its delivery. */
function LastError({ delivery: { id, attempts }, route }: { readonly delivery: Delivery; readonly route: Route }) {
  const last = attempts.findLast(({ error }) => error !== null);
  if (!last?.error) return null;
  return (
    <>
      <a class="quiet-link" href={deliveryLink(route, id)}>
        <UserText text={last.error} />
      </a>{' '}
      <Time at={last.at} />
    </>
  );
}

/** The secret of a webhook, hidden until somebody asks for it. */
function Secret({ text }: { readonly text: string }) {
  const [isShown, setShown] = useState(false);
  if (!isShown)
    return <Button icon={Eye} text="Show" class="quiet" aria-label="Show the secret" onClick={() => setShown(true)} />;
  return (
    <>
      <code>{text}</code> <CopyButton text={text} />
    </>
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
function Results({ webhook: { id }, results: all, route }: EndpointProps) {
  const results = all.slice(-SHOWN_RESULTS);
  if (results.length === 0) return <span class="soft">none yet</span>;
  const failures = countFailures(results);
  const text =
    failures > 0 ? `${failures} of the last ${results.length} failed` : `none of the last ${results.length} failed`;
  const empty = Array.from({ length: SHOWN_RESULTS - results.length }, (_, index) => index);
  return (
    <a class="results" href={deliveryLink(route, undefined, { webhook: id })}>
      {empty.map((index) => (
        <i key={index} class="none" />
      ))}
      {results.map((delivery) => (
        <i key={delivery.id} class={markOf(delivery).tone} title={`${markOf(delivery).text}: ${summarise(delivery)}`} />
      ))}{' '}
      <span class={failures > 0 ? 'small bad' : 'small soft'}>{text}</span>
    </a>
  );
}
