import { useState } from 'preact/hooks';
import { useInspector } from '../../inspector.ts';
import { webhookLink } from '../../links.ts';
import { open } from '../../page-route.ts';
import { Button, Failure, Field, Form, Select, TextField, textIn } from '../../parts.tsx';
import { useAction } from '../../use-loaded.ts';
import type { Delivery, DeliveryListProps, Webhook } from './explain-delivery.ts';

const EVENTS = ['message.received', 'message.sent', 'message.bounced'] as const;

/** A form that triggers an event with any payload; at first, it has the payload of the delivery `start`. */
export function EventForm({ webhooks, start, route }: DeliveryListProps & { start: Delivery | undefined }) {
  const { client } = useInspector();
  const { run, error, isRunning } = useAction();
  const [event, setEvent] = useState<(typeof EVENTS)[number]>(start?.event ?? EVENTS[0]);
  const [webhookId, setWebhookId] = useState(start?.webhookId ?? '');
  const trigger = async (data: FormData) => {
    const body = { ...readPayload(textIn(data, 'payload')), event, ...(webhookId !== '' && { webhookId }) };
    const { deliveries } = await client.triggerEvent(body);
    if (deliveries.length === 0) throw new Error('No webhook gets this event: none is active and lists this kind.');
    open(webhookLink(route, deliveries[0]?.id));
  };
  return (
    <>
      <h1>Trigger an event</h1>
      <Form submit={(data) => run(() => trigger(data))}>
        <Field label="Event">
          <Select label="Event" value={event} options={EVENTS} choose={setEvent} />
        </Field>
        <Field label="Webhook">
          <Select label="Webhook" value={webhookId} options={webhookOptions(webhooks)} choose={setWebhookId} />
        </Field>
        <TextField
          label="Fields of the payload, as JSON; the others are filled in"
          isLong
          name="payload"
          class="tall"
          spellcheck={false}
          defaultValue={JSON.stringify(payloadOf(start), null, 2)}
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

/** Returns the payload to edit. It has no id, so that the copy is an event of its own. */
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
