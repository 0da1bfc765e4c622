import { EVENT_KINDS } from 'agent-mailbox-mock';
import { createReceiver, type Receiver, type ReceiverAnswer } from 'agent-mailbox-mock/receiver';
import { expect } from 'vitest';
import type { Service } from './everywhere.ts';
import { IDS } from './ids.ts';

/** The frozen time in tests of deliveries. */
export const START = '2026-03-01T09:00:00.000Z';

/** The time this long after `START`, as the service writes it. */
export const after = (durationMs: number) => new Date(Date.parse(START) + durationMs).toISOString();

/** A webhook as it was created. */
export interface CreatedWebhook {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

/** The fields of a webhook besides its URL; by default, it belongs to Acme and gets every event. */
export interface WebhookFields {
  readonly key?: string;
  readonly [field: string]: unknown;
}

/** Creates a webhook with this URL. */
export async function createWebhook(
  { mailbox, send }: Pick<Service, 'mailbox' | 'send'>,
  url: string,
  { key = mailbox.keys.acme.tenant, ...fields }: WebhookFields = {},
): Promise<CreatedWebhook> {
  const created = await send('POST', '/v1/webhooks', { key, json: { url, events: EVENT_KINDS, ...fields } });
  expect(created.status).toBe(201);
  return created.json;
}

/** Creates a webhook for a receiver, which then verifies with its secret too. */
export async function hook(
  service: Pick<Service, 'mailbox' | 'send'>,
  receiver: Receiver,
  { path = '/in', ...fields }: WebhookFields & { readonly path?: string } = {},
): Promise<CreatedWebhook> {
  const webhook = await createWebhook(service, (await receiver.listen()) + path, fields);
  receiver.secret = [receiver.secret ?? [], webhook.secret].flat();
  return webhook;
}

/** Creates a receiver with scripted answers that verifies as the mailbox signs, and freezes the time of the mailbox. */
export function startReceiver({ mailbox }: Pick<Service, 'mailbox'>, ...answers: ReceiverAnswer[]): Receiver {
  mailbox.clock.freeze(START);
  const isByClock = mailbox.behaviours['deliveries.timestamp'] === 'clock';
  return createReceiver({ answers, now: isByClock ? () => mailbox.clock.now({ tenant: IDS.acme.tenant }) : undefined });
}
