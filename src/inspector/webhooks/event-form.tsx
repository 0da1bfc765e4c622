import { useState } from 'preact/hooks';
import { useInspector } from '../inspector.ts';
import { replyOf } from '../inspector-client.ts';
import { open, type Route } from '../page-route.ts';
import { Failure, Field } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { webhookLink } from './webhook-link.ts';
import type { Delivery, Webhook } from './webhook-types.ts';

interface EventFormProps {
  readonly webhooks: readonly Webhook[];
  /** The delivery whose payload fills the form. */
  readonly start: Delivery | undefined;
  readonly route: Route;
  readonly reload: () => void;
}

const EVENTS = ['message.received', 'message.sent', 'message.bounced'] as const;

/** A form that triggers an event with any payload. */
export function EventForm({ webhooks, start, route, reload }: EventFormProps) {
  const { client } = useInspector();
  const { run, error, isRunning } = useAction();
  const [event, setEvent] = useState<(typeof EVENTS)[number]>(start?.event ?? EVENTS[0]);
  const [webhookId, setWebhookId] = useState(start?.webhookId ?? '');
  const [payload, setPayload] = useState(() => JSON.stringify(payloadOf(start), null, 2));
  const trigger = async () => {
    const body = { ...readPayload(payload), event, ...(webhookId !== '' && { webhookId }) };
    const { deliveries } = await replyOf(client.POST('/__mock/events', { body }));
    reload();
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
        <Field label="Event">
          <select value={event} onChange={({ currentTarget }) => setEvent(currentTarget.value as typeof event)}>
            {EVENTS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </Field>
        <Field label="Webhook">
          <select value={webhookId} onChange={({ currentTarget }) => setWebhookId(currentTarget.value)}>
            <option value="">every webhook that gets such events</option>
            {webhooks.map(({ id, url, isActive }) => (
              <option key={id} value={id}>
                {isActive ? url : `${url} (inactive)`}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Fields of the payload, as JSON; the others are filled in">
          <textarea
            class="tall"
            spellcheck={false}
            value={payload}
            onInput={({ currentTarget }) => setPayload(currentTarget.value)}
          />
        </Field>
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

/** The payload to edit: without the id, so that the copy is an event of its own. */
function payloadOf(start: Delivery | undefined): object {
  if (!start) return { subject: 'Order 1042' };
  const { id: _, event: __, ...rest } = start.payload as Record<string, unknown>;
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
