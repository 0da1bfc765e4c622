import { useMemo, useState } from 'preact/hooks';
import { LiveOnly, useInspector } from '../../inspector.ts';
import { deliveryLink, linkTo, type Route, useTitle } from '../../page-route.ts';
import { Button, ButtonLink, Chip, Code, Facts, Failure, FaultLinks, Form, TextField, textIn } from '../../parts.tsx';
import { FullTime, formatFullTime, formatSpan, indentJson, Time } from '../../text.tsx';
import { type EventFilter, useAction, useLoaded } from '../../use-loaded.ts';
import type { Attempt, Delivery, DeliveryListProps, Webhook } from './explain-delivery.ts';
import { causeOf, explainEarlier, markOf, summarise, urlOf, writeHeaders } from './explain-delivery.ts';
import { explainSignature, type SignatureCheck } from './signature/explain-signature.ts';
import { SignatureResult } from './signature-result.tsx';

/** One delivery: what became of it and why, what can be done, and each attempt. */
export function DeliveryDetail({ delivery, webhooks, route }: DeliveryListProps & { readonly delivery: Delivery }) {
  const { event, attempts, webhookId } = delivery;
  const webhook = webhooks.find(({ id }) => id === webhookId);
  // A trace has no secrets.
  const secret = webhook?.secret || undefined;
  const { text, tone } = markOf(delivery);
  useTitle(`${event}, ${text}`);
  return (
    <>
      <div class="head">
        <h1>{event}</h1>
        <Chip tone={tone} text={text} />
      </div>
      <p class="soft">to {urlOf(delivery, new Map(webhooks.map(({ id, url }) => [id, url])))}</p>
      <Reason delivery={delivery} secret={secret} route={route} />
      <LiveOnly>
        <Actions delivery={delivery} route={route} />
      </LiveOnly>
      <h2>Attempts</h2>
      <ol class="attempts" aria-label="Attempts, the newest first">
        <LiveOnly>
          <NextAttempt delivery={delivery} />
        </LiveOnly>
        {attempts.toReversed().map((attempt, index) => (
          <AttemptItem
            key={attempts.length - index}
            attempt={attempt}
            number={attempts.length - index}
            isLast={index === 0}
            secret={secret}
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

/** Why the delivery is in its state and, after a failed attempt, what often causes such a failure. */
function Reason({ delivery, secret, route }: { delivery: Delivery; secret: string | undefined; route: Route }) {
  const last = delivery.attempts.at(-1);
  const failure = delivery.state === 'delivered' || last?.error === null ? undefined : last;
  const cause = failure && causeOf(failure);
  const problems = useMemo(() => (failure && secret ? findProblems(failure, secret) : []), [failure, secret]);
  return (
    <div class={`reason ${markOf(delivery).tone}-edge`} role="status">
      <p>
        <strong>{summarise(delivery)}</strong>
      </p>
      {failure?.fault && <FaultNote fault={failure.fault} id={failure.faultId} />}
      {cause && <p>{cause.advice}</p>}
      {cause?.isAboutSignature && secret !== undefined && (
        <p>
          {problems.length === 0
            ? 'The signature of this attempt is correct. So the receiver may have another secret, or change the ' +
              'body before it verifies it.'
            : `The signature of this attempt does not verify. ${problems.join(' ')}`}{' '}
          <a href={deliveryLink(route, undefined, { open: 'signature', from: delivery.id })}>
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

/** The label of the button that sends a delivery, before the delivery has ended. Afterwards it is `Send again`. */
const SEND_LABELS: Partial<Record<Delivery['state'], string>> = { pending: 'Send now', held: 'Release' };

/** Where a receiver on the machine of a developer often listens. */
const EXAMPLE_URL = 'http://127.0.0.1:3000/';

function Actions({ delivery: { id, state }, route }: { readonly delivery: Delivery; readonly route: Route }) {
  const { run, error, isRunning } = useAction();
  const [isOtherUrl, setOtherUrl] = useState(false);
  const send = (data: FormData) => run((client) => client.redeliver({ id, url: textIn(data, 'url') || undefined }));
  return (
    <Form className="" submit={send}>
      {isOtherUrl && (
        <TextField label="URL, only for this time" name="url" type="url" required defaultValue={EXAMPLE_URL} />
      )}
      <p class="buttons">
        <Button text={SEND_LABELS[state] ?? 'Send again'} type="submit" class="primary" disabled={isRunning} />
        {!isOtherUrl && <Button text="To another URL" onClick={() => setOtherUrl(true)} />}
        <ButtonLink text="Send an edited copy" href={deliveryLink(route, undefined, { open: 'event', from: id })} />
        <ButtonLink text="Check its signature" href={deliveryLink(route, undefined, { open: 'signature', from: id })} />
      </p>
      <Failure error={error} />
    </Form>
  );
}

const isClockEvent: EventFilter = ({ kind }) => kind === 'clock';

/** When the next attempt is due, by the clock of the tenant, and a button that moves the clock there. */
function NextAttempt({ delivery }: { readonly delivery: Delivery }) {
  const { run, error, isRunning } = useAction();
  const { tenantId: tenant, nextAttemptAt, attempts } = delivery;
  const key = `${delivery.id} ${nextAttemptAt}`;
  const { value: clock } = useLoaded((client) => client.getClock({ tenant }), key, isClockEvent);
  if (nextAttemptAt === null || !clock) return null;
  const dueInMs = Date.parse(nextAttemptAt) - Date.parse(clock.now);
  const advance = () => run((client) => client.changeClock({ advance: Math.max(dueInMs, 0), tenant }));
  return (
    <li class="reason">
      <p>
        <strong>Attempt {attempts.length + 1}</strong> is due in {formatSpan(dueInMs)}, at{' '}
        <time>{formatFullTime(nextAttemptAt)}</time>
        {clock.frozen && ', by a clock that is frozen'}.
      </p>
      <Button text="Advance the clock to it" disabled={isRunning} onClick={advance} />
      <Failure error={error} />
    </li>
  );
}

type AttemptProps = { readonly attempt: Attempt; readonly number: number; readonly secret: string | undefined };

/** One attempt in the timeline: what was sent and what the receiver answered. */
function AttemptItem({ attempt, number, secret, isLast }: AttemptProps & { readonly isLast: boolean }) {
  const { isTrace } = useInspector();
  const { at, status, error, durationMs, fault, faultId, url, requestBody, responseBody } = attempt;
  const tone = error === null ? 'good' : 'bad';
  const answer = `${status}\n${writeHeaders(attempt.responseHeaders)}\n\n${indentJson(responseBody) || '(no body)'}`;
  return (
    <li class={`reason ${tone}-edge`}>
      <details open={isLast}>
        <summary>
          <strong>Attempt {number}</strong>{' '}
          <Chip tone={tone} text={status === null ? 'no answer' : `answered ${status}`} />{' '}
          <span class="soft">
            in {durationMs} ms, <Time at={at} />
          </span>
        </summary>
        {error !== null && <p class="bad">{error}</p>}
        {fault !== null && <FaultNote fault={fault} id={faultId} />}
        {status !== null && <h3>Answer of the receiver</h3>}
        {status !== null && <Code label={`Answer to attempt ${number}`} text={answer} />}
        <h3>Request</h3>
        <Code label={`Request of attempt ${number}`} text={`POST ${url}\n${writeHeaders(attempt.requestHeaders)}`} />
        {isTrace ? (
          <p class="hint">A trace does not have the headers and the body that were sent.</p>
        ) : (
          <>
            <h3>Body, {new TextEncoder().encode(requestBody).length} bytes</h3>
            <Code label={`Body of attempt ${number}`} text={indentJson(requestBody)} />
          </>
        )}
        <SignatureSteps attempt={attempt} number={number} secret={secret} />
      </details>
    </li>
  );
}

/** Verifies the signatures of an attempt as its receiver does, at the time at which it was made. */
function checkAttempt({ requestHeaders, requestBody, at, realTime }: Attempt, secret: string): SignatureCheck[] {
  return explainSignature({
    headers: writeHeaders(requestHeaders),
    body: requestBody,
    secret,
    now: new Date(realTime),
    mailboxTime: new Date(at),
  });
}

/** Returns why the signatures of an attempt do not verify with a secret; an empty list if they do. */
function findProblems(attempt: Attempt, secret: string): string[] {
  return checkAttempt(attempt, secret).flatMap(({ problems }) => problems);
}

/** The signature of an attempt, computed again when somebody opens this part. */
function SignatureSteps({ attempt, number, secret }: AttemptProps) {
  const [isOpen, setOpen] = useState(false);
  if (secret === undefined) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The signature, step by step</summary>
      {isOpen && <SignatureResult checks={checkAttempt(attempt, secret)} label={`attempt ${number}`} />}
    </details>
  );
}

/** Says which fault applied to an attempt, and links to it. */
function FaultNote({ fault, id }: { readonly fault: string; readonly id: string | null }) {
  return (
    <p class="warn">
      The fault <code>{fault}</code> applied to this attempt, so its result may be intended.{' '}
      <FaultLinks ids={id === null ? [] : [id]} text="show it" />
    </p>
  );
}
