import { Webhook as WebhookIcon } from 'lucide';
import { webhookLink } from '../../links.ts';
import { Row } from '../../list-view.tsx';
import { open, type Route } from '../../page-route.ts';
import { Chip, SearchField, Select } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { UserText, wordsOf } from '../../text.tsx';
import { Time } from '../../time.tsx';
import { VirtualList } from '../../virtual-list.tsx';
import { type Delivery, MARK_TEXTS, markOf, summarise, type Webhook } from './explain-delivery.ts';

/** What the view of webhooks shows. */
export interface DeliveryListProps {
  readonly deliveries: readonly Delivery[];
  readonly webhooks: readonly Webhook[];
  readonly route: Route;
}

/** The deliveries that the search and the filters choose. */
export function DeliveryList({ deliveries, webhooks, route }: DeliveryListProps) {
  const scope = useScope();
  const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
  const { search = '', state = '', webhook = '' } = route.options;
  const words = wordsOf(search);
  const chosen = deliveries.filter(
    (one) => isInScope(scope, one) && isChosen(one, urlOf(one, urls), words, route.options),
  );
  const change = (changes: Record<string, string>) =>
    open(webhookLink(route, route.id, changes), { replace: 'search' in changes });
  return (
    <>
      <div class="tools">
        <SearchField label="Search deliveries" value={search} search={(text) => change({ search: text })} />
        <Select
          label="State"
          value={state}
          options={[['', 'Every state'], ...MARK_TEXTS]}
          choose={(state) => change({ state })}
        />
        <Select
          label="Webhook"
          value={webhook}
          options={[['', 'Every webhook'], ...webhooks.map(({ id, url }) => [id, url] as const)]}
          choose={(webhook) => change({ webhook })}
        />
      </div>
      {chosen.length === 0 && <p class="hint empty">{emptyText(deliveries)}</p>}
      <VirtualList
        label={`Deliveries, ${chosen.length} of ${deliveries.length}`}
        items={chosen}
        openId={route.id}
        row={(one) => one && <DeliveryRow delivery={one} url={urlOf(one, urls)} find={words} route={route} />}
        link={(id) => webhookLink(route, id)}
      />
    </>
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

/** What a search looks at. */
function textOf(delivery: Delivery, url: string): string {
  const { id, eventId, event, payload, attempts } = delivery;
  const answers = attempts.flatMap(({ status, error, responseBody }) => [status, error, responseBody]);
  const own = [markOf(delivery).text, id, eventId, event, url, summarise(delivery), JSON.stringify(payload)];
  return [...own, ...answers].join('\n').toLowerCase();
}

/** Returns whether the search and the filters choose a delivery. */
function isChosen(delivery: Delivery, url: string, words: readonly string[], options: Route['options']): boolean {
  const { state, webhook } = options;
  if ((state && markOf(delivery).text !== state) || (webhook && delivery.webhookId !== webhook)) return false;
  if (words.length === 0) return true;
  const text = textOf(delivery, url);
  return words.every((word) => text.includes(word));
}

/** One delivery of the list. */
function DeliveryRow({
  delivery,
  url,
  find,
  route,
}: {
  delivery: Delivery;
  url: string;
  find: string[];
  route: Route;
}) {
  const { id, event, createdAt } = delivery;
  const { text, tone } = markOf(delivery);
  return (
    <Row
      href={webhookLink(route, id)}
      isOpen={route.id === id}
      icon={WebhookIcon}
      tone={tone}
      who={<UserText text={event} find={find} />}
      when={<Time at={createdAt} />}
      what={<UserText text={url.replace(/^https?:\/\//, '')} find={find} />}
      state={<Chip tone={tone} text={text} />}
      more={<UserText text={summarise(delivery)} find={find} />}
    />
  );
}
