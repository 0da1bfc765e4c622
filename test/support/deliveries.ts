import {
  type BehaviourOptions,
  createMailbox,
  type Delivery,
  type DeliveryFilter,
  type Environment,
  type EnvironmentOverrides,
  type RedeliverOptions,
  type TriggerOptions,
} from 'agent-mailbox-mock';
import { control } from './control.ts';
import type { Service } from './everywhere.ts';
import { ADDRESS } from './inbox-clients.ts';
import { PATIENCE_MS } from './patience.ts';
import { senderTo } from './send.ts';
import { createWebhook, START } from './webhooks.ts';

/** The form of generated event ids. */
export const EVENT_ID = /^evt_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The end of the error for an unknown kind of event. */
export const KINDS = 'must be one of message.received, message.sent, message.bounced.';

/** A mail to the helpdesk with characters outside ASCII. */
export const MAIL = {
  from: 'Dana Reyes <dana@customer.test>',
  to: ADDRESS.helpdesk,
  subject: 'Größe 😀',
  plainBody: 'Grüße',
};

/** Creates a client of the deliveries: the mailbox's methods in process, its control plane over HTTP. */
export function openDeliveryClient(service: Service) {
  const { mailbox } = service;
  return {
    deliveries: (filter: DeliveryFilter = {}) =>
      control(service, `GET /deliveries?${new URLSearchParams(filter as Record<string, string>)}`, undefined, () => ({
        deliveries: mailbox.deliveries(filter),
        losses: mailbox.losses({ tenant: filter.tenant }),
      })),
    delivery: (id: string) => control(service, `GET /deliveries/${id}`, undefined, () => mailbox.delivery(id)),
    redeliver: (id: string, options?: RedeliverOptions) =>
      control(service, `POST /deliveries/${id}/redeliver`, options, () => mailbox.redeliver(id, options)),
    trigger: (event: string, options: TriggerOptions = {}) =>
      control(service, 'POST /events', { event, ...options }, () => ({
        deliveries: mailbox.trigger(event as never, options),
      })),
    settled: (timeout?: number | string) =>
      control(service, 'POST /settle', { timeout }, async () => ({
        settled: true,
        ...(await mailbox.settled({ timeout })),
      })),
  };
}

/** Fires an event at one webhook and waits until it has been tried once. */
export async function fire(
  { mailbox }: Pick<Service, 'mailbox'>,
  webhookId: string,
  options: TriggerOptions = {},
): Promise<Delivery> {
  const [delivery] = mailbox.trigger('message.received', { webhookId, ...options });
  await mailbox.settled({ timeout: PATIENCE_MS });
  return mailbox.delivery(delivery?.id ?? '');
}

/** The current state of a delivery. */
export const stateOf = ({ mailbox }: Pick<Service, 'mailbox'>, { id }: Delivery) => mailbox.delivery(id).state;

/** Creates a mailbox with frozen time and this many webhooks of Acme, whose requests the given `fetch` answers. */
export async function startCalling(
  fetch: Environment['fetch'],
  webhooks: number,
  behaviours: BehaviourOptions = {},
  others: Pick<EnvironmentOverrides, 'memory'> = {},
) {
  const mailbox = createMailbox({ behaviours, environment: { ...others, fetch } });
  mailbox.clock.freeze(START);
  const service = { mailbox, send: senderTo(mailbox) };
  const ids: string[] = [];
  for (let count = 0; count < webhooks; count += 1) {
    ids.push((await createWebhook(service, `https://agent.example/${count}`)).id);
  }
  return { mailbox, ids };
}
