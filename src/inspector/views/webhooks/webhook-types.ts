import type { ReplyTo } from '../../../control/table/client.ts';

/** A delivery with its attempts. */
export type Delivery = ReplyTo<'getDelivery'>;

/** One attempt of a delivery. */
export type Attempt = Delivery['attempts'][number];

/** A webhook with its secret. */
export type Webhook = ReplyTo<'listWebhookSettings'>['webhooks'][number];
