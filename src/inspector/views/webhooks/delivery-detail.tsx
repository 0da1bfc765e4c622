import { useMemo, useState } from 'preact/hooks';
import { webhookLink } from '../../links.ts';
import { linkTo, type Route, useTitle } from '../../page-route.ts';
import { Button, ButtonLink, Chip, Facts, Failure, Form, TextField, textIn } from '../../parts.tsx';
import { FullTime, formatSpan, fullTime } from '../../time.tsx';
import { useAction, useLoaded } from '../../use-loaded.ts';
import { AttemptItem, isSignedWith } from './attempt-item.tsx';
import { type DeliveryListProps, urlOf } from './delivery-list.tsx';
import { causeOf, type Delivery, explainEarlier, markOf, summarise, type Webhook } from './explain-delivery.ts';

/** One delivery: what became of it and why, what can be done, and each attempt. */
export function DeliveryDetail({ delivery, webhooks, route }: DeliveryListProps & { readonly delivery: Delivery }) {
  const { event, attempts, webhookId } = delivery;
  const webhook = webhooks.find(({ id }) => id === webhookId);
  const { text, tone } = markOf(delivery);
  useTitle(`${event}, ${text}`);
  return (
    <>
      <div class="head">
        <h1>{event}</h1>
        <Chip tone={tone} text={text} />
      </div>
      <p class="soft">to {urlOf(delivery, new Map(webhooks.map(({ id, url }) => [id, url])))}</p>
      <Reason delivery={delivery} secret={webhook?.secret} route={route} />
      <Actions delivery={delivery} route={route} />
      <h2>Attempts</h2>
      <ol class="attempts" aria-label="Attempts, the newest first">
        <NextAttempt delivery={delivery} />
        {attempts.toReversed().map((attempt, index) => (
          <AttemptItem
            key={attempts.length - index}
            attempt={attempt}
            number={attempts.length - index}
            isLast={index === 0}
            secret={webhook?.secret}
          />
        ))}
      </ol>
      <h2>Details</h2>
      <Details delivery={delivery} webhook={webhook} />
    </>
  );
}

function Details({ delivery, webhook }: { readonly delivery: Delivery; readonly webhook: Webhook | undefined }) {
  const { id, eventId, webhookId, createdAt, payload } = delivery;
  const { messageId } = payload as { readonly messageId?: string };
  return (
    <Facts
      facts={[
        ['Mail', messageId && <a href={linkTo('mail', messageId)}>Open the mail of this event</a>],
        ['Delivery', id],
        ['Event', eventId],
        ['Webhook', webhook ? webhookId : `${webhookId} (deleted)`],
        ['Its events', webhook?.events.join(', ')],
        ['Its state', webhook && !webhook.isActive && 'inactive: it gets no events'],
        ['Created', <FullTime key="created" at={createdAt} />],
      ]}
    />
  );
}

/** Why the delivery is in its state, and what often causes that. */
function Reason({ delivery, secret, route }: { delivery: Delivery; secret: string | undefined; route: Route }) {
  const last = delivery.attempts.at(-1);
  const failed = delivery.state === 'delivered' || last?.error === null ? undefined : last;
  const cause = failed && causeOf(failed);
  const isSigned = useMemo(() => failed && secret && isSignedWith(failed, secret), [failed, secret]);
  return (
    <div class={`reason ${markOf(delivery).tone}-edge`} role="status">
      <p>
        <strong>{summarise(delivery)}</strong>
      </p>
      {failed && failed.fault !== null && (
        <p>
          The fault <code>{failed.fault}</code> applied to this attempt, so the failure may be intended.
        </p>
      )}
      {cause && <p>{cause.advice}</p>}
      {failed && cause?.isAboutSignature && secret !== undefined && (
        <p>
          {isSigned
            ? 'The signature of this attempt is correct. So the receiver may have another secret, or change the ' +
              'body before it verifies it.'
            : 'The signature of this attempt is not correct.'}{' '}
          <a href={webhookLink(route, undefined, { open: 'signature', from: delivery.id })}>
            Find out why your code does not verify it
          </a>
        </p>
      )}
      {explainEarlier(delivery).map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
}

/** The label of the button that sends the delivery; the others have ended. */
const SEND_LABELS: Partial<Record<Delivery['state'], string>> = { pending: 'Send now', held: 'Release' };

function Actions({ delivery: { id, state }, route }: { readonly delivery: Delivery; readonly route: Route }) {
  const { run, error, isRunning } = useAction();
  const [isElsewhere, setElsewhere] = useState(false);
  return (
    <Form
      className=""
      submit={(data) => run((client) => client.redeliver({ id, url: textIn(data, 'url') || undefined }))}
    >
      {isElsewhere && (
        <TextField
          label="URL, only for this time"
          name="url"
          type="url"
          required
          defaultValue="http://127.0.0.1:3000/"
        />
      )}
      <p class="buttons">
        <Button text={SEND_LABELS[state] ?? 'Send again'} type="submit" class="primary" disabled={isRunning} />
        {!isElsewhere && <Button text="To another URL" onClick={() => setElsewhere(true)} />}
        <ButtonLink text="Send an edited copy" href={webhookLink(route, undefined, { open: 'event', from: id })} />
        <ButtonLink text="Check its signature" href={webhookLink(route, undefined, { open: 'signature', from: id })} />
      </p>
      <Failure error={error} />
    </Form>
  );
}

/** When the next attempt is due, by the clock of the tenant, and a button that moves the clock there. */
function NextAttempt({ delivery }: { readonly delivery: Delivery }) {
  const { run, error, isRunning } = useAction();
  const { tenantId: tenant, nextAttemptAt, attempts } = delivery;
  const key = `${delivery.id} ${nextAttemptAt}`;
  const { value: clock } = useLoaded(
    (client) => client.getClock({ tenant }),
    key,
    ({ kind }) => kind === 'clock',
  );
  if (nextAttemptAt === null || !clock) return null;
  const leftMs = Date.parse(nextAttemptAt) - Date.parse(clock.now);
  const advance = () => run((client) => client.changeClock({ advance: Math.max(leftMs, 0), tenant }));
  return (
    <li class="reason">
      <p>
        <strong>Attempt {attempts.length + 1}</strong> is due in {formatSpan(leftMs)}, at{' '}
        <time>{fullTime(nextAttemptAt)}</time>
        {clock.frozen && ', by a clock that is frozen'}.
      </p>
      <Button text="Advance the clock to it" disabled={isRunning} onClick={advance} />
      <Failure error={error} />
    </li>
  );
}
