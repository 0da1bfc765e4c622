import { useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import { undefinedIfRefused } from '../../../control/table/client.ts';
import { type Inspector, useInspector } from '../../inspector.ts';
import { webhookLink } from '../../links.ts';
import { open, type Route } from '../../page-route.ts';
import { Failure, Field } from '../../parts.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { useAction, useLoaded } from '../../use-loaded.ts';
import { DeliveryDetail } from './delivery-detail.tsx';
import { DeliveryList } from './delivery-list.tsx';
import type { Delivery, Webhook } from './explain-delivery.ts';
import { SignatureForm } from './signature-form.tsx';

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

interface EventFormProps {
  readonly webhooks: readonly Webhook[];
  /** The delivery whose payload fills the form. */
  readonly start: Delivery | undefined;
  readonly route: Route;
}

const EVENTS = ['message.received', 'message.sent', 'message.bounced'] as const;

/** A form that triggers an event with any payload. */
export function EventForm({ webhooks, start, route }: EventFormProps) {
  const { client } = useInspector();
  const { run, error, isRunning } = useAction();
  const [event, setEvent] = useState<(typeof EVENTS)[number]>(start?.event ?? EVENTS[0]);
  const [webhookId, setWebhookId] = useState(start?.webhookId ?? '');
  const [payload, setPayload] = useState(() => JSON.stringify(payloadOf(start), null, 2));
  const trigger = async () => {
    const body = { ...readPayload(payload), event, ...(webhookId !== '' && { webhookId }) };
    const { deliveries } = await client.triggerEvent(body);
    if (deliveries.length === 0) throw new Error('No webhook gets this event: none is active and lists this kind.');
    open(webhookLink(route, deliveries[0]?.id));
  };
  return (
    <>
      <h1>Trigger an event</h1>
      <form
        class="fields"
        onSubmit={(submit) => {
          submit.preventDefault();
          void run(trigger);
        }}
      >
        <Select label="Event" value={event} options={EVENTS.map((name) => [name, name])} choose={setEvent} />
        <Select label="Webhook" value={webhookId} options={webhookOptions(webhooks)} choose={setWebhookId} />
        <Payload value={payload} change={setPayload} />
        <Failure error={error} />
        <p>
          <button type="submit" class="primary" disabled={isRunning}>
            Trigger
          </button>
        </p>
      </form>
    </>
  );
}

function Payload({ value, change }: { readonly value: string; readonly change: (text: string) => void }) {
  return (
    <Field label="Fields of the payload, as JSON; the others are filled in">
      <textarea
        class="tall"
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </Field>
  );
}

function webhookOptions(webhooks: readonly Webhook[]): [value: string, text: string][] {
  return [
    ['', 'every webhook that gets such events'],
    ...webhooks.map(({ id, url, isActive }): [string, string] => [id, isActive ? url : `${url} (inactive)`]),
  ];
}

interface SelectProps<Value> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, text: string])[];
  readonly choose: (value: Value) => void;
}

function Select<Value extends string>({ label, value, options, choose }: SelectProps<Value>) {
  return (
    <Field label={label}>
      <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value as Value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** The payload to edit: without the id, so that the copy is an event of its own. */
function payloadOf(start: Delivery | undefined): object {
  if (!start) return { subject: 'Order 1042' };
  const { id: _, event: __, ...rest } = start.payload;
  return rest;
}

/** @throws {Error} if the text is not a JSON object. */
function readPayload(text: string): Record<string, unknown> {
  const payload = parseJson(text);
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return { ...payload };
  throw new Error('The payload must be a JSON object, such as { "subject": "Order 1042" }.');
}

function parseJson(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    throw new Error(`The payload is not JSON: ${(error as Error).message}`);
  }
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
