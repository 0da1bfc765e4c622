import { ApiError } from '../contract/errors.ts';
import type { AddedWebhook } from './add-webhook.ts';

/** The part of a receiver that `addWebhook` uses. The receiver can be one from `createReceiver`, or your own. */
export interface SecretReceiver {
  /** Starts to listen, unless the receiver is already listening, and resolves with the URL of the receiver. */
  listen(): Promise<string>;
  /** The secret with which the receiver verifies deliveries. */
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

/** Adds a webhook with a URL, or with the URL of a receiver. The receiver then gets the secret of the webhook. */
export async function addWebhookWith<Added extends { readonly secret: string }>(
  given: AddWebhookOptions,
  add: (webhook: AddedWebhook) => Added | Promise<Added>,
): Promise<Added> {
  const options = { ...given };
  if (!('receiver' in options)) return add(options);
  const { receiver, ...others } = options;
  if (typeof receiver?.listen !== 'function') {
    throw new ApiError(
      'VALIDATION_ERROR',
      'The webhook is not valid: receiver must be one that createReceiver creates.',
    );
  }
  const added = await add({ ...others, url: await receiver.listen() });
  receiver.secret = added.secret;
  return added;
}
