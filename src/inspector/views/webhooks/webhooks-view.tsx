import { Play, ShieldCheck, Zap } from 'lucide';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import { undefinedIfRefused } from '../../../control/table/client.ts';
import { webhookLink } from '../../links.ts';
import { ListView } from '../../list-view.tsx';
import type { Route } from '../../page-route.ts';
import { Button, ButtonLink, Failure, Loading } from '../../parts.tsx';
import { ALL, useAction, useLoaded, useLog } from '../../use-loaded.ts';
import { DeliveryDetail } from './delivery-detail.tsx';
import { DeliveryList, type DeliveryListProps } from './delivery-list.tsx';
import { EventForm } from './event-form.tsx';
import type { Delivery } from './explain-delivery.ts';
import { SignatureForm } from './signature-form.tsx';

/** The deliveries to webhooks: a list, and what is open: a delivery, or a form. */
export function WebhooksView({ route }: { readonly route: Route }) {
  const { list, error: failure } = useDeliveries();
  const { value, error = failure } = useLoaded((client) => client.listWebhookSettings(), 'webhooks');
  const shown = list && value && { deliveries: list, webhooks: value.webhooks, route };
  const isOpen = route.id !== undefined || route.options.open !== undefined;
  return (
    <ListView
      title="Webhooks"
      list={
        <>
          {(!shown || error) && <Loading error={error} />}
          {shown && <DeliveryList {...shown} />}
          {shown && <Actions held={shown.deliveries.filter(({ state }) => state === 'held').length} route={route} />}
        </>
      }
      detailLabel="Open delivery"
      detail={isOpen && shown && <Detail {...shown} />}
      hint="Choose a delivery to see each attempt."
      back={webhookLink(route, undefined)}
    />
  );
}

/** What can be done without a delivery. */
function Actions({ held, route }: { readonly held: number; readonly route: Route }) {
  const { run, error, isRunning } = useAction();
  return (
    <div class="tools">
      <ButtonLink icon={Zap} text="Trigger an event" href={webhookLink(route, undefined, { open: 'event' })} />
      <ButtonLink
        icon={ShieldCheck}
        text="Check a signature"
        href={webhookLink(route, undefined, { open: 'signature' })}
      />
      {held > 0 && (
        <Button
          icon={Play}
          text={`Release ${held} held`}
          disabled={isRunning}
          onClick={() => run((client) => client.releaseDeliveries({}))}
        />
      )}
      <Failure error={error} />
    </div>
  );
}

/** What the route opens: a form, or a delivery. */
function Detail(props: DeliveryListProps) {
  const { id: openId, options } = props.route;
  const id = openId ?? options.from;
  const delivery = props.deliveries.find((each) => each.id === id);
  if (options.open === 'signature') return <SignatureForm key={id} {...props} start={delivery} />;
  if (options.open === 'event') return <EventForm key={id} {...props} start={delivery} />;
  if (delivery) return <DeliveryDetail key={id} {...props} delivery={delivery} />;
  return <p class="hint">There is no delivery with this id: the data was reset, or the log was full.</p>;
}

const isAnew = ({ kind }: FeedEvent) => kind === 'reset' || kind === 'gap';

/** Loads all deliveries, and each one again when it changes. */
function useDeliveries() {
  const { value, error } = useLog<Delivery>({
    loadAll: async (client) => (await client.listDeliveries()).deliveries,
    loadOne: (client, id) => client.getDelivery({ id }).catch(undefinedIfRefused),
    changeOf: (event) => ('deliveryId' in event ? [event.deliveryId] : isAnew(event) ? ALL : undefined),
  });
  // Each tenant has its own clock.
  const byTime = (a: Delivery, b: Delivery) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0);
  return { list: value?.toSorted(byTime), error };
}
