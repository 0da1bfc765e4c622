import type { paths } from '../control-plane.d.ts';

type ReplyTo<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Reply } } } };
}
  ? Reply
  : never;

/** A delivery with its attempts. */
export type Delivery = ReplyTo<'/__mock/deliveries/{id}'>;

/** One attempt of a delivery. */
export type Attempt = Delivery['attempts'][number];

/** A webhook with its secret. */
export type Webhook = ReplyTo<'/__mock/webhooks'>['webhooks'][number];
