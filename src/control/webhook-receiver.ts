import type { AddedWebhook } from './add-webhook.ts';

/** The part of a receiver that `addWebhook` uses: that of `createReceiver`, or one of your own. */
export interface SecretReceiver {
  /** Starts to listen, if it does not yet, and resolves with its URL. */
  listen(): Promise<string>;
  /** The secret by which it verifies deliveries. */
  secret: unknown;
}

/** The options of `addWebhook`: a URL, or a receiver that gets the secret. */
export type AddWebhookOptions = Omit<AddedWebhook, 'url'> &
  (
    | Pick<AddedWebhook, 'url'>
    | {
        /** The receiver to which events are delivered. */
        readonly receiver: SecretReceiver;
      }
  );

/** Adds a webhook by its URL, or by that of a receiver, which then gets the secret. */
export async function addWebhookWith<Added extends { readonly secret: string }>(
  { ...options }: AddWebhookOptions,
  add: (webhook: AddedWebhook) => Added | Promise<Added>,
): Promise<Added> {
  if (!('receiver' in options)) return add(options);
  const { receiver, ...others } = options;
  const added = await add({ ...others, url: await receiver.listen() });
  receiver.secret = added.secret;
  return added;
}
