import { Play, ShieldCheck, Webhook as WebhookIcon, Zap } from 'lucide';
import { useMemo } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import { undefinedIfRefused } from '../../../control/table/client.ts';
import { LiveOnly } from '../../inspector.ts';
import {
  LINE_HEIGHT,
  LineHeadings,
  LineRow,
  ListView,
  Row,
  useComfortableRows,
  VirtualList,
} from '../../list-view.tsx';
import { createLivePart } from '../../live-view.tsx';
import { deliveryLink, open, type Route } from '../../page-route.ts';
import { Button, ButtonLink, Chip, Failure, Loading, SearchField, Select } from '../../parts.tsx';
import { createOwnerFinder, isInScope, useScope } from '../../scope.ts';
import { ClockTime, formatMs, shortenIds, Time, UserText, wordsOf } from '../../text.tsx';
import { ALL, useAction, useLoaded, useLog } from '../../use-loaded.ts';
import { DeliveryDetail } from './delivery-detail.tsx';
import { Endpoints } from './endpoints.tsx';
import {
  type Delivery,
  type DeliveryListProps,
  failedOf,
  MARK_TEXTS,
  markOf,
  shortenUrl,
  summarise,
  urlOf,
  type Webhook,
} from './explain-delivery.ts';
import { FailureCauses, SendAgainButton } from './failure-causes.tsx';
import { WebhookTabs } from './webhook-tabs.tsx';

/** The forms for a signature and for an event, which a trace does not have. */
const SignatureForm = createLivePart(async () => (await import('../live-views.ts')).SignatureForm);
const EventForm = createLivePart(async () => (await import('../live-views.ts')).EventForm);

/** The webhooks with their results; or the deliveries: a list, and beside it the open delivery or form. */
export function WebhooksView({ route }: { readonly route: Route }) {
  const { list, error: deliveriesError } = useDeliveries();
  const { value, error = deliveriesError } = useLoaded((client) => client.listWebhookSettings(), 'webhooks');
  const shown = list && value && { deliveries: list, webhooks: value.webhooks, route };
  const isOpen = route.id !== undefined || route.options.open !== undefined;
  if (route.options.tab === 'endpoints' && !isOpen) {
    return shown ? <Endpoints {...shown} /> : <Loading error={error} />;
  }
  return (
    <ListView
      title="Webhooks"
      list={
        <>
          {(!shown || error) && <Loading error={error} />}
          {shown && <DeliveryList {...shown} />}
        </>
      }
      actions={
        <>
          <WebhookTabs route={route} current="deliveries" />
          <LiveOnly>{shown && <Actions {...shown} />}</LiveOnly>
        </>
      }
      isWide
      detailLabel="Open delivery"
      detail={isOpen && (shown ? <Detail {...shown} /> : <Loading error={error} />)}
      hint="Choose a delivery to see each attempt."
      back={deliveryLink(route, undefined)}
    />
  );
}

/** The actions that do not need an open delivery. */
function Actions({ deliveries, webhooks, route }: DeliveryListProps) {
  const { run, error, isRunning } = useAction();
  const scope = useScope();
  const held = deliveries.filter((one) => one.state === 'held' && isInScope(scope, one)).length;
  const release = () => run((client) => client.releaseDeliveries({ tenant: scope.tenant }));
  const linkToForm = (open: string) => deliveryLink(route, undefined, { open });
  return (
    <>
      <ButtonLink icon={Zap} text="Trigger an event" href={linkToForm('event')} />
      <ButtonLink icon={ShieldCheck} text="Check a signature" href={linkToForm('signature')} />
      <SendAgainButton deliveries={failedOf(useChosenDeliveries({ deliveries, webhooks, route }).chosen)} />
      {held > 0 && <Button icon={Play} text={`Release ${held} held`} disabled={isRunning} onClick={release} />}
      <Failure error={error} />
    </>
  );
}

/** What the route opens: a form, or a delivery. */
function Detail(props: DeliveryListProps) {
  const { id: openId, options } = props.route;
  const id = openId ?? options.from;
  const delivery = props.deliveries.find((each) => each.id === id);
  if (options.open === 'signature') return <SignatureForm key={id} {...props} initialDelivery={delivery} />;
  if (options.open === 'event') return <EventForm key={id} {...props} initialDelivery={delivery} />;
  if (delivery) return <DeliveryDetail key={id} {...props} delivery={delivery} />;
  return <p class="hint">There is no delivery with this id: the data was reset, or the log was full.</p>;
}

/** Returns whether all deliveries have to be loaded again after an event. */
const changesAll = ({ kind }: FeedEvent) => kind === 'reset' || kind === 'gap';

/** Loads all deliveries, and loads a delivery again when it changes. */
export function useDeliveries() {
  const { value, error } = useLog<Delivery>({
    loadAll: async (client) => (await client.listDeliveries()).deliveries,
    loadOne: (client, id) => client.getDelivery({ id }).catch(undefinedIfRefused),
    changesOf(event) {
      if ('data' in event && 'deliveryId' in event.data) return [[event.data.deliveryId]];
      return changesAll(event) ? [ALL] : [];
    },
  });
  // The deliveries are sorted again, because each tenant has its own clock.
  const byTime = (a: Delivery, b: Delivery) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0);
  const list = useMemo(() => value?.toSorted(byTime), [value]);
  return { list, error };
}

/** Returns the deliveries of the tenant, and those of them that the search and the filters choose. */
function useChosenDeliveries({ deliveries, webhooks, route }: DeliveryListProps) {
  const scope = useScope();
  const { search = '', state, webhook } = route.options;
  return useMemo(() => {
    const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
    const findOwner = createOwnerFinder(scope);
    const owners = new Map(webhooks.map((one) => [one.id, ownerOf(one, findOwner)]));
    const inScope = deliveries.filter((one) => isInScope(scope, one));
    const words = wordsOf(search);
    const namesOf = (one: Delivery) => [urlOf(one, urls), owners.get(one.webhookId)];
    const chosen = inScope.filter((one) => isChosen(one, namesOf(one), words, route.options));
    return { urls, owners, inScope, words, chosen };
  }, [deliveries, webhooks, scope.tenants, scope.tenant, search, state, webhook]);
}

/** The deliveries that the search and the filters choose, and why they fail. */
function DeliveryList({ deliveries, webhooks, route }: DeliveryListProps) {
  const scope = useScope();
  const { isComfortable, rowsSwitch } = useComfortableRows();
  const ShownRow = isComfortable ? DeliveryRow : DeliveryLine;
  const { urls, owners, inScope, words, chosen } = useChosenDeliveries({ deliveries, webhooks, route });
  const { search = '', state = '', webhook = '' } = route.options;
  const change = (changes: Record<string, string>) =>
    open(deliveryLink(route, route.id, changes), { replace: 'search' in changes });
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
          options={[
            ['', 'Every webhook'],
            ...webhooks.filter((one) => isInScope(scope, one)).map(({ id, url }) => [id, url] as const),
          ]}
          choose={(webhook) => change({ webhook })}
        />
        {rowsSwitch}
      </div>
      <FailureCauses deliveries={chosen} route={route} />
      <VirtualList
        key={JSON.stringify([scope.tenant, search, state, webhook])}
        label={`Deliveries, ${chosen.length} of ${inScope.length}`}
        items={chosen}
        openId={route.id}
        empty={
          inScope.length > 0
            ? 'No delivery matches the search and the filters.'
            : explainNone(webhooks.filter((one) => isInScope(scope, one)))
        }
        headings={!isComfortable && <LineHeadings cells={HEADINGS} isKindLong />}
        rowHeight={isComfortable ? undefined : LINE_HEIGHT}
        renderRow={(one) =>
          one && (
            <ShownRow
              delivery={one}
              url={urlOf(one, urls)}
              owner={owners.get(one.webhookId) ?? 'a deleted webhook'}
              find={words}
              route={route}
            />
          )
        }
        createLink={(id) => deliveryLink(route, id)}
      />
    </>
  );
}

/** Says why there is no delivery yet, and what leads to one. */
function explainNone(webhooks: readonly Webhook[]): string {
  const [first] = webhooks;
  if (!first) return 'There is no delivery yet, because there is no webhook. Add one under Endpoints.';
  if (webhooks.some(({ isActive }) => isActive)) {
    return 'There is no delivery yet. Send or receive a mail, or trigger an event.';
  }
  return webhooks.length === 1
    ? `There is no delivery yet: the webhook ${first.url} is off. Turn it on under Endpoints.`
    : `There is no delivery yet: all ${webhooks.length} webhooks are off. Turn one on under Endpoints.`;
}

type Names = readonly (string | undefined)[];

/** Returns the text of a delivery in which a search looks for words. `names` are the URL and the owner of its webhook. */
function searchTextOf(delivery: Delivery, names: Names): string {
  const { id, eventId, event, payload, attempts } = delivery;
  const answers = attempts.flatMap(({ status, error, responseBody }) => [status, error, responseBody]);
  const fields = [markOf(delivery).text, id, eventId, event, summarise(delivery), JSON.stringify(payload)];
  return [...names, ...fields, ...answers].join('\n').toLowerCase();
}

/** Returns whether the search and the filters choose a delivery. */
function isChosen(delivery: Delivery, names: Names, words: readonly string[], options: Route['options']): boolean {
  const { state, webhook } = options;
  if ((state && markOf(delivery).text !== state) || (webhook && delivery.webhookId !== webhook)) return false;
  if (words.length === 0) return true;
  const text = searchTextOf(delivery, names);
  return words.every((word) => text.includes(word));
}

const HEADINGS = {
  kind: 'Event',
  what: 'URL',
  state: 'State',
  duration: 'Took',
  owner: 'Webhook of',
  when: 'At (UTC)',
};

/** Returns the name of the workspace or the tenant to which a webhook belongs. A trace does not have it. */
function ownerOf(webhook: Webhook, findOwner: ReturnType<typeof createOwnerFinder>): string {
  return (findOwner(webhook) ?? shortenIds(webhook.workspaceId ?? webhook.tenantId)) || 'not in the trace';
}

type RowProps = { delivery: Delivery; url: string; owner: string; find: readonly string[]; route: Route };

/** One delivery of the list, in one line. */
function DeliveryLine({ delivery, url, owner, find, route }: RowProps) {
  const { id, event, createdAt, attempts, state, nextAttemptAt } = delivery;
  const { text, tone } = markOf(delivery);
  const last = attempts.at(-1);
  return (
    <LineRow
      href={deliveryLink(route, id)}
      isOpen={route.id === id}
      isKindLong
      cells={{
        kind: <UserText text={event} find={find} />,
        what: (
          <>
            <UserText text={shortenUrl(url)} find={find} />{' '}
            {state !== 'delivered' && (
              <span class="soft">
                {nextAttemptAt !== null && attempts.length > 0 && (
                  <>
                    next <Time at={nextAttemptAt} /> ·{' '}
                  </>
                )}
                <UserText text={summarise(delivery)} find={find} />
              </span>
            )}
          </>
        ),
        state: <Chip tone={tone} text={[text, last?.status].filter(Boolean).join(' ')} />,
        duration: last && formatMs(last.durationMs),
        owner: <UserText text={owner} find={find} />,
        when: <ClockTime at={createdAt} />,
      }}
    />
  );
}

/** One delivery of the list, in three lines. */
function DeliveryRow({ delivery, url, owner, find, route }: RowProps) {
  const { id, event, createdAt } = delivery;
  const { text, tone } = markOf(delivery);
  return (
    <Row
      href={deliveryLink(route, id)}
      isOpen={route.id === id}
      icon={WebhookIcon}
      tone={tone}
      who={<UserText text={event} find={find} />}
      when={<ClockTime at={createdAt} />}
      what={<UserText text={shortenUrl(url)} find={find} />}
      state={<Chip tone={tone} text={text} />}
      more={<UserText text={`${owner} · ${summarise(delivery)}`} find={find} />}
    />
  );
}
