import { webhookLink } from '../../links.ts';
import { open, type Route } from '../../page-route.ts';
import { SearchField } from '../../parts.tsx';
import { Time } from '../../time.tsx';
import { VirtualList } from '../../virtual-list.tsx';
import type { Delivery, Webhook } from './explain-delivery.ts';
import { MARK_TEXTS, markOf, summarise } from './explain-delivery.ts';

const ROW_HEIGHT = 68;

interface DeliveryListProps {
  /** `undefined` until they are loaded. */
  readonly deliveries: readonly Delivery[] | undefined;
  readonly webhooks: readonly Webhook[];
  readonly route: Route;
}

/** The deliveries that the search and the filters choose. */
export function DeliveryList({ deliveries, webhooks, route }: DeliveryListProps) {
  const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
  const chosen = (deliveries ?? []).filter((delivery) => isChosen(delivery, urlOf(delivery, urls), route));
  return (
    <div class="column">
      <Tools webhooks={webhooks} route={route} />
      {deliveries && chosen.length === 0 && <p class="hint empty">{emptyText(deliveries)}</p>}
      <VirtualList
        label={`Deliveries, ${chosen.length} of ${deliveries?.length ?? 0}`}
        total={chosen.length}
        rowHeight={ROW_HEIGHT}
        selected={chosen.findIndex(({ id }) => id === route.id)}
        openId={route.id}
        rowAt={(index) => {
          const delivery = chosen[index];
          return delivery && <DeliveryRow delivery={delivery} url={urlOf(delivery, urls)} route={route} />;
        }}
        idAt={(index) => chosen[index]?.id}
        open={(index) => open(webhookLink(route, chosen[index]?.id), { replace: true })}
      />
    </div>
  );
}

function emptyText({ length }: readonly Delivery[]): string {
  return length > 0
    ? 'No delivery matches the search and the filters.'
    : 'There is no delivery yet. Create a webhook, then send or receive a mail, or trigger an event.';
}

/** Returns the URL to which a delivery was sent, or will be sent. */
export function urlOf({ attempts, webhookId }: Delivery, urls: ReadonlyMap<string, string>): string {
  return attempts.at(-1)?.url ?? urls.get(webhookId) ?? `webhook ${webhookId}`;
}

function isChosen(delivery: Delivery, url: string, { options: { search = '', state, webhook } }: Route): boolean {
  const mark = markOf(delivery).text;
  if ((state && mark !== state) || (webhook && delivery.webhookId !== webhook)) return false;
  if (search === '') return true;
  const { id, eventId, event, payload, attempts } = delivery;
  const answers = attempts.flatMap(({ status, error, responseBody }) => [status, error, responseBody]);
  const texts = [mark, id, eventId, event, url, summarise(delivery), JSON.stringify(payload), ...answers];
  return texts.join('\n').toLowerCase().includes(search.toLowerCase());
}

/** Chooses what the list shows. */
function Tools({ webhooks, route }: { readonly webhooks: readonly Webhook[]; readonly route: Route }) {
  const change = (changes: Record<string, string>) => open(webhookLink(route, route.id, changes));
  const { search = '', state = '', webhook = '' } = route.options;
  return (
    <div class="tools">
      <SearchField label="Search deliveries" value={search} search={(text) => change({ search: text })} />
      <select aria-label="State" value={state} onChange={({ currentTarget: { value } }) => change({ state: value })}>
        <option value="">every state</option>
        {MARK_TEXTS.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select
        aria-label="Webhook"
        value={webhook}
        onChange={({ currentTarget: { value } }) => change({ webhook: value })}
      >
        <option value="">every webhook</option>
        {webhooks.map(({ id, url }) => (
          <option key={id} value={id}>
            {url}
          </option>
        ))}
      </select>
    </div>
  );
}

interface DeliveryRowProps {
  readonly delivery: Delivery;
  readonly url: string;
  readonly route: Route;
}

/** One delivery of the list. */
function DeliveryRow({ delivery, url, route }: DeliveryRowProps) {
  const { id, event, createdAt, attempts } = delivery;
  const { text, tone } = markOf(delivery);
  return (
    <a class="row" href={webhookLink(route, id)} aria-current={route.id === id ? 'true' : undefined}>
      <span>
        <strong class={tone}>{text}</strong> {event}
      </span>
      <Time at={createdAt} />
      <span class="soft">{url}</span>
      <span class="soft">{attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}</span>
      <span class="soft wide">{summarise(delivery)}</span>
    </a>
  );
}
