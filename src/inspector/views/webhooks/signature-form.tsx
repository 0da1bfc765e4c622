import { useState } from 'preact/hooks';
import { isObject } from '../../../basics/objects.ts';
import { useInspector } from '../../inspector.ts';
import { deliveryLink, open } from '../../page-route.ts';
import { Button, Failure, Field, Form, Select, TextField, textIn } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { useAction } from '../../use-loaded.ts';
import { type Delivery, type DeliveryListProps, EVENTS, type Webhook } from './explain-delivery.ts';
import type { SignatureCheck, SignatureInput } from './signature/explain-signature.ts';
import { explainComputed, explainSignature } from './signature/explain-signature.ts';
import { SignatureResult } from './signature-result.tsx';

type FormProps = DeliveryListProps & { readonly initialDelivery: Delivery | undefined };

type Texts = Readonly<Record<'headers' | 'body' | 'secret' | 'computed', string>>;

/** The fields of the form. Long texts have more than one line. */
const FIELDS = [
  ['headers', 'Headers, as your code prints them', 'textarea'],
  ['body', 'Body, as your code verifies it', 'textarea'],
  ['secret', 'Secret of the webhook', 'input'],
  ['computed', 'Signature that your code computed (may be empty)', 'input'],
] as const;

/**
 * A form that says why a signature does not verify. At first it is empty, also for a delivery: what the emulator sent
 * always verifies, so only what the code of the user has can show the mistake.
 */
export function SignatureForm({ initialDelivery, ...log }: FormProps) {
  const [result, setResult] = useState<{ checks: readonly SignatureCheck[]; computed: string | undefined }>();
  const check = (data: FormData) => {
    const { computed, ...request } = Object.fromEntries(data) as Texts;
    const sent = findSent(request.headers, log);
    // A receiver compares the time when it gets a request, and not when somebody pastes the request here.
    const now = sent ? new Date(sent.realTime) : new Date();
    const input = { ...request, now, mailboxTime: sent && new Date(sent.at), sent };
    setResult({ checks: explainSignature(input), computed: describeComputed(computed, input) });
  };
  return (
    <>
      <h1>Check a signature</h1>
      <p class="hint">
        Paste what your receiver has: print it in your code, just before it verifies. The page compares it with what the
        emulator sent, and says why its signature does not verify. Nothing is sent.
      </p>
      {initialDelivery && (
        <p class="hint">
          For {initialDelivery.event},{' '}
          <a href={deliveryLink(log.route, initialDelivery.id)}>which was sent like this</a>.
        </p>
      )}
      <Form submit={check} change={() => setResult(undefined)}>
        {FIELDS.map(([name, label, Input]) => (
          <Field key={name} label={label}>
            <Input name={name} required={name !== 'computed'} spellcheck={false} autocomplete="off" />
          </Field>
        ))}
        <p>
          <Button text="Check" type="submit" class="primary" />
        </p>
      </Form>
      <div role="status">
        {result && <h2>Result</h2>}
        {result?.computed !== undefined && <p class="reason warn-edge">{result.computed}</p>}
        {result && <SignatureResult checks={result.checks} />}
      </div>
    </>
  );
}

/**
 * Finds the attempt whose signature is in the pasted headers. If there is none, finds the latest attempt whose
 * `webhook-id` is in the headers.
 */
function findSent(pasted: string, { deliveries, webhooks }: DeliveryListProps) {
  const attempts = deliveries.flatMap(({ webhookId, attempts }) => attempts.map((attempt) => ({ webhookId, attempt })));
  const findByHeader = (name: string) =>
    attempts.findLast(({ attempt: { requestHeaders } }) => {
      const value = requestHeaders[name];
      return value !== undefined && pasted.includes(value);
    });
  const found = findByHeader('webhook-signature') ?? findByHeader('webhook-id');
  if (!found) return undefined;
  const { requestHeaders: headers, requestBody: body, fault, at, realTime } = found.attempt;
  return { headers, body, fault, at, realTime, secret: webhooks.find(({ id }) => id === found.webhookId)?.secret };
}

function describeComputed(computed: string, input: SignatureInput): string | undefined {
  if (computed === '') return undefined;
  const mistakes = explainComputed(computed, input);
  if (!mistakes) {
    return 'No single mistake that this page knows leads to the signature of your code: it is another mistake, or more than one.';
  }
  return mistakes.length === 0 ? 'Your code computed the correct signature.' : mistakes.join(' ');
}

/** A form that triggers an event with any payload. At first it contains the payload of `initialDelivery`. */
export function EventForm({ webhooks, initialDelivery, route }: FormProps) {
  const { client } = useInspector();
  const { run, error, isRunning } = useAction();
  const [event, setEvent] = useState<(typeof EVENTS)[number]>(initialDelivery?.event ?? EVENTS[0]);
  const scope = useScope();
  const [webhookId, setWebhookId] = useState(initialDelivery?.webhookId ?? route.options.webhook ?? '');
  const trigger = async (data: FormData) => {
    const payload = readPayload(textIn(data, 'payload'));
    const target = webhookId !== '' ? { webhookId } : scope.tenant !== undefined && { tenant: scope.tenant };
    const body = { ...payload, event, ...target };
    const { deliveries } = await client.triggerEvent(body);
    if (deliveries.length === 0) throw new Error('No webhook gets this event: none is active and lists this kind.');
    open(deliveryLink(route, deliveries[0]?.id));
  };
  return (
    <>
      <h1>Trigger an event</h1>
      <Form submit={(data) => run(() => trigger(data))}>
        <Field label="Event">
          <Select label="Event" value={event} options={EVENTS} choose={setEvent} />
        </Field>
        <Field label="Webhook">
          <Select
            label="Webhook"
            value={webhookId}
            options={webhookOptions(webhooks.filter((one) => isInScope(scope, one)))}
            choose={setWebhookId}
          />
        </Field>
        <TextField
          label="Fields of the payload, as JSON; the others are filled in"
          isLong
          name="payload"
          class="tall"
          spellcheck={false}
          defaultValue={JSON.stringify(payloadOf(initialDelivery), null, 2)}
        />
        <Failure error={error} />
        <p>
          <Button text="Trigger" type="submit" class="primary" disabled={isRunning} />
        </p>
      </Form>
    </>
  );
}

function webhookOptions(webhooks: readonly Webhook[]): [value: string, text: string][] {
  return [
    ['', 'every webhook that gets such events'],
    ...webhooks.map(({ id, url, isActive }): [string, string] => [id, isActive ? url : `${url} (inactive)`]),
  ];
}

/** Returns the payload to edit. The payload has no id, because the copy becomes a new event with an id of its own. */
function payloadOf(delivery: Delivery | undefined): object {
  if (!delivery) return { subject: 'Order 1042' };
  const { id: _, event: __, ...rest } = delivery.payload;
  return rest;
}

/** @throws {Error} if the text is not a JSON object. */
function readPayload(text: string): Record<string, unknown> {
  const payload = parsePayload(text);
  if (isObject(payload)) return { ...payload };
  throw new Error('The payload must be a JSON object, such as { "subject": "Order 1042" }.');
}

function parsePayload(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    throw new Error(`The payload is not JSON: ${(error as Error).message}`);
  }
}
