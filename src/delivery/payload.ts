import type { Choices } from '../contract/behaviours.ts';
import type { MailEvent } from '../events/event-bus.ts';

/** What a delivery tells of an event: one flat object (reference, "Delivery"; what it leaves open is in the ledger). */
export interface DeliveryPayload {
  /** The id of the event. */
  readonly id?: string;
  readonly event: string;
  readonly messageId: string;
  readonly inboxId: string;
  readonly threadId: string;
  readonly workspaceId?: string;
  /** The display form, such as `Dana Reyes <dana@customer.test>`. */
  readonly from: string;
  /** The recipients, with commas between them. */
  readonly to: string;
  readonly subject?: string;
  readonly plainBody?: string;
  readonly htmlBody?: string | null;
  readonly receivedAt?: string;
}

/** Writes an event as a delivery carries it. */
export function toPayload(event: MailEvent, choices: Choices): DeliveryPayload {
  return freeze({ ...PAYLOADS[choices['deliveries.payload']](event), ...event.overrides });
}

/** A payload is sent again as it was, whoever has got hold of it. */
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

const PAYLOADS: Record<Choices['deliveries.payload'], (event: MailEvent) => DeliveryPayload> = {
  reference: referenceFields,
  'reference-and-content': (event) => ({
    id: event.id,
    ...referenceFields(event),
    workspaceId: event.workspaceId,
    subject: event.message.subject,
    plainBody: event.message.plainBody,
    htmlBody: event.message.htmlBody,
    receivedAt: event.message.receivedAt,
  }),
};

function referenceFields({ kind, inboxId, message }: MailEvent): DeliveryPayload {
  const { id, threadId, from, to } = message;
  return { event: kind, messageId: id, inboxId, threadId, from, to: to.join(', ') };
}
