import { useInspector } from '../../inspector.ts';
import { webhookLink } from '../../links.ts';
import { open, type Route } from '../../page-route.ts';
import { Failure } from '../../parts.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { useAction } from '../../use-action.ts';
import { useLoaded } from '../../use-loaded.ts';
import { DeliveryDetail } from './delivery-detail.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { EventForm } from './event-form.tsx';
import type { Webhook } from './explain-delivery.ts';
import { SignatureForm } from './signature-form.tsx';
import { type Deliveries, useDeliveries } from './use-deliveries.ts';

/** The deliveries to webhooks: a list, and what is open: a delivery, or a form. */
export function WebhooksView({ route }: { readonly route: Route }) {
  const { client } = useInspector();
  const deliveries = useDeliveries();
  const { value, error } = useLoaded(() => client.listWebhookSettings(), 'webhooks');
  const isOpen = route.id !== undefined || route.options.open !== undefined;
  useShortcuts({ Escape: () => isOpen && open(webhookLink(route, undefined)) });
  return (
    <>
      <h1 class="hidden">Webhooks</h1>
      <Failure error={deliveries.error ?? error} />
      <Toolbar deliveries={deliveries} route={route} />
      <div class={isOpen ? 'columns open' : 'columns'}>
        <DeliveryList deliveries={deliveries.list} webhooks={value?.webhooks ?? []} route={route} />
        <section class="detail" aria-label="Open delivery">
          {isOpen && (
            <a class="back" href={webhookLink(route, undefined)}>
              ← Back to the list
            </a>
          )}
          {deliveries.list && value && <Detail deliveries={deliveries} webhooks={value.webhooks} route={route} />}
        </section>
      </div>
    </>
  );
}

function Toolbar({ deliveries: { list }, route }: { readonly deliveries: Deliveries; readonly route: Route }) {
  const { client } = useInspector();
  const { run, error, isRunning } = useAction();
  const held = list?.filter(({ state }) => state === 'held').length ?? 0;
  const release = () => run(() => client.releaseDeliveries({}));
  return (
    <div class="tools">
      <a class="button" href={webhookLink(route, undefined, { open: 'event' })}>
        Trigger an event
      </a>
      <a class="button" href={webhookLink(route, undefined, { open: 'signature' })}>
        Check a signature
      </a>
      {held > 0 && (
        <button type="button" disabled={isRunning} onClick={release}>
          Release {held} held
        </button>
      )}
      <Failure error={error} />
    </div>
  );
}

interface DetailProps {
  readonly deliveries: Deliveries;
  readonly webhooks: readonly Webhook[];
  readonly route: Route;
}

/** What the route opens: a form, a delivery, or nothing. */
function Detail({ deliveries: { list = [] }, webhooks, route }: DetailProps) {
  const { open, from } = route.options;
  const id = route.id ?? from;
  const delivery = list.find((each) => each.id === id);
  if (open === 'signature') return <SignatureForm key={id} deliveries={list} webhooks={webhooks} start={delivery} />;
  if (open === 'event') return <EventForm key={id} webhooks={webhooks} start={delivery} route={route} />;
  if (delivery) return <DeliveryDetail key={id} delivery={delivery} webhooks={webhooks} route={route} />;
  return (
    <p class="hint">
      {id === undefined
        ? 'Choose a delivery to see each attempt. The keys j and k go through the list, and ? shows all keys.'
        : 'There is no delivery with this id: the data was reset, or the log was full.'}
    </p>
  );
}
