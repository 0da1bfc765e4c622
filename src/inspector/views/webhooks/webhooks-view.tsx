import { Play, ShieldCheck, Zap } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import { undefinedIfRefused } from '../../../control/table/client.ts';
import { type Inspector, useInspector } from '../../inspector.ts';
import { webhookLink } from '../../links.ts';
import { ListView } from '../../list-view.tsx';
import type { Route } from '../../page-route.ts';
import { Failure, Icon, Loading } from '../../parts.tsx';
import { useAction, useLoaded } from '../../use-loaded.ts';
import { DeliveryDetail } from './delivery-detail.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { EventForm } from './event-form.tsx';
import type { Delivery, Webhook } from './explain-delivery.ts';
import { SignatureForm } from './signature-form.tsx';

/** The deliveries to webhooks: a list, and what is open: a delivery, or a form. */
export function WebhooksView({ route }: { readonly route: Route }) {
  const { client } = useInspector();
  const deliveries = useDeliveries();
  const { value, error } = useLoaded(() => client.listWebhookSettings(), 'webhooks');
  const { list } = deliveries;
  const isLoaded = list !== undefined && value !== undefined;
  const isOpen = route.id !== undefined || route.options.open !== undefined;
  return (
    <ListView
      title="Webhooks"
      list={
        isLoaded ? (
          <>
            <Failure error={deliveries.error ?? error} />
            <DeliveryList deliveries={list} webhooks={value.webhooks} route={route} />
            <Actions held={list.filter(({ state }) => state === 'held').length} route={route} />
          </>
        ) : (
          <Loading error={deliveries.error ?? error} />
        )
      }
      detailLabel="Open delivery"
      detail={isOpen && isLoaded && <Detail deliveries={list} webhooks={value.webhooks} route={route} />}
      hint="Choose a delivery to see each attempt."
      back={webhookLink(route, undefined)}
    />
  );
}

/** What can be done without a delivery. */
function Actions({ held, route }: { readonly held: number; readonly route: Route }) {
  const { client } = useInspector();
  const { run, error, isRunning } = useAction();
  return (
    <div class="tools">
      <a class="button" href={webhookLink(route, undefined, { open: 'event' })}>
        <Icon of={Zap} /> Trigger an event
      </a>
      <a class="button" href={webhookLink(route, undefined, { open: 'signature' })}>
        <Icon of={ShieldCheck} /> Check a signature
      </a>
      {held > 0 && (
        <button type="button" disabled={isRunning} onClick={() => run(() => client.releaseDeliveries({}))}>
          <Icon of={Play} /> Release {held} held
        </button>
      )}
      <Failure error={error} />
    </div>
  );
}

interface DetailProps {
  readonly deliveries: readonly Delivery[];
  readonly webhooks: readonly Webhook[];
  readonly route: Route;
}

/** What the route opens: a form, or a delivery. */
function Detail({ deliveries, webhooks, route }: DetailProps) {
  const { open, from } = route.options;
  const id = route.id ?? from;
  const delivery = deliveries.find((each) => each.id === id);
  if (open === 'signature') {
    return <SignatureForm key={id} deliveries={deliveries} webhooks={webhooks} start={delivery} />;
  }
  if (open === 'event') return <EventForm key={id} webhooks={webhooks} start={delivery} route={route} />;
  if (delivery) return <DeliveryDetail key={id} delivery={delivery} webhooks={webhooks} route={route} />;
  return <p class="hint">There is no delivery with this id: the data was reset, or the log was full.</p>;
}

/** The deliveries of the log, which stay up to date. */
export interface Deliveries {
  /** The newest first; `undefined` until they are loaded. */
  readonly list: readonly Delivery[] | undefined;
  /** Why they could not be loaded. */
  readonly error: string | undefined;
}

type ById = ReadonlyMap<string, Delivery>;

type Show = (state: { byId?: ById; error?: string }) => void;

/** Events come in large numbers, so the page waits this long before it loads again, in milliseconds. */
const INTERVAL_MS = 200;

/** If more deliveries than this have changed, all are loaded again. */
const MAX_SINGLE = 20;

/** Loads all deliveries, and each one again when it changes. */
export function useDeliveries(): Deliveries {
  const inspector = useInspector();
  const [{ byId, error }, setState] = useState<{ byId?: ById; error?: string }>({});
  useEffect(() => {
    const loader = new DeliveryLoader(inspector, setState);
    return () => loader.stop();
  }, [inspector]);
  return { list: byId && newestFirst(byId), error };
}

function newestFirst(byId: ById): Delivery[] {
  return [...byId.values()]
    .reverse()
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0));
}

/** Loads deliveries, and follows the feed. */
class DeliveryLoader {
  readonly #client: Inspector['client'];
  readonly #show: Show;
  readonly #unsubscribe: () => void;
  readonly #changed = new Set<string>();
  #known: ById = new Map();
  #isAllChanged = true;
  #isStopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ client, feed }: Inspector, show: Show) {
    this.#client = client;
    this.#show = show;
    this.#unsubscribe = feed.subscribe({
      event: (event) => this.#note(event),
      // While the connection was lost, anything may have happened.
      state: (state) => state === 'live' && this.#loadAll(),
    });
    if (feed.state === 'live') this.#loadAll();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unsubscribe();
    clearTimeout(this.#timer);
  }

  #loadAll(): void {
    this.#isAllChanged = true;
    this.#loadSoon(0);
  }

  #note(event: FeedEvent): void {
    if ('deliveryId' in event) this.#changed.add(event.deliveryId);
    else if (event.kind === 'reset' || event.kind === 'gap') this.#isAllChanged = true;
    else return;
    this.#loadSoon(INTERVAL_MS);
  }

  #loadSoon(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#loadAndShow(), delayMs);
  }

  async #loadAndShow(): Promise<void> {
    const startedMs = performance.now();
    try {
      this.#known = await this.#load();
      this.#show({ byId: this.#known });
    } catch (error) {
      this.#show({ byId: this.#known, error: (error as Error).message });
    }
    if (this.#isStopped) return;
    // A large log takes long to load, and the emulator has other work to do.
    const pauseMs = Math.max(INTERVAL_MS, 2 * (performance.now() - startedMs));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isAllChanged || this.#changed.size > 0) this.#loadSoon(0);
    }, pauseMs);
  }

  async #load(): Promise<ById> {
    const ids = [...this.#changed];
    const isAllChanged = this.#isAllChanged || ids.length > MAX_SINGLE;
    this.#changed.clear();
    this.#isAllChanged = false;
    if (isAllChanged) {
      const { deliveries } = await this.#client.listDeliveries();
      return new Map(deliveries.map((delivery) => [delivery.id, delivery]));
    }
    const found = await Promise.all(ids.map((id) => this.#client.getDelivery({ id }).catch(undefinedIfRefused)));
    const byId = new Map(this.#known);
    for (const delivery of found) if (delivery) byId.set(delivery.id, delivery);
    return byId;
  }
}
