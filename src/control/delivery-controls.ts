import { z } from 'zod';
import { type FieldsOf, type InputOf, lazy, type OutputOf } from '../basics/lazy-schema.ts';
import { isUrlWithScheme } from '../basics/text.ts';
import { createResetError, parseOrRefuse } from '../contract/errors.ts';
import { EVENT_KINDS, type EventKind } from '../contract/events.ts';
import {
  DELIVERY_STATES,
  type Delivery,
  type DeliveryFilter,
  type DeliveryLosses,
} from '../service/delivery/delivery.ts';
import { deliveryIdsIn } from '../service/journal/entry-kinds.ts';
import type { Mask } from '../world/secrets/mask.ts';
import type { WebhookRow } from '../world/store/rows.ts';
import type { World } from '../world/store/world.ts';
import { addWebhook } from './add-webhook.ts';
import { MAX_COUNT, tenantField, webhookField, wholeNumber } from './call-fields.ts';
import { type ControlScope, findWorlds, parseTenantOption, type TenantOption } from './control-scope.ts';
import { type TriggerOptions, trigger } from './trigger.ts';
import { type AddWebhookOptions, addWebhookWith } from './webhook-receiver.ts';

/** The control methods for webhook deliveries. */
export interface DeliveryControls {
  /**
   * Returns the deliveries that match a filter, with each attempt: tenant by tenant, and the oldest first in each
   * tenant. Without a filter, returns all that the logs have.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid filter.
   * @example
   * const [delivery] = mailbox.deliveries({ webhookId, state: 'delivered' });
   */
  deliveries(filter?: DeliveryFilter): Delivery[];
  /** Returns one delivery. @throws {ApiError} NOT_FOUND if the log does not contain it. */
  delivery(id: string): Delivery;
  /**
   * Returns how many deliveries were removed because a delivery log was full. Includes all tenants or, with
   * `tenant`, only this tenant. An unknown tenant has lost none.
   */
  losses(options?: TenantOption): DeliveryLosses;
  /**
   * Sends a delivery again, immediately, with the same id and a new signature. The delivery may be in any state, but
   * none of its attempts may be running. If the new attempt fails, the retries start again with the first delay. With
   * `url`, the delivery is sent once to this URL: the new attempt is added to its `attempts`, but its state
   * and its retries do not change.
   *
   * @throws {ApiError} NOT_FOUND if the log does not contain the delivery; CONFLICT while it is being sent, or if its
   *   webhook was deleted; VALIDATION_ERROR for an invalid URL.
   * @example
   * mailbox.redeliver(delivery.id, { url: 'http://127.0.0.1:3001/hooks' });
   */
  redeliver(id: string, options?: RedeliverOptions): Delivery;
  /**
   * Triggers an event and returns the deliveries that it created, oldest first.
   *
   * @throws {ApiError} VALIDATION_ERROR for an unknown kind or an invalid payload, NOT_FOUND for an unknown tenant,
   *   webhook or inbox. After an error no event is triggered.
   * @example
   * mailbox.trigger('message.bounced', { inboxId, subject: 'Invoice 12' });
   */
  trigger(kind: EventKind, options?: TriggerOptions): Delivery[];
  /**
   * Sends deliveries that a fault has held back, and returns them, tenant by tenant, oldest first: at most `count`.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid count, NOT_FOUND for an unknown tenant or webhook.
   * @example
   * mailbox.release({ webhookId, count: 1 });
   */
  release(options?: ReleaseOptions): Delivery[];
}

/** The schema of a delivery filter. */
export const deliveryFilter = lazy(() =>
  z.strictObject(
    {
      tenant: tenantField().optional(),
      webhookId: webhookField().optional(),
      event: z.enum(EVENT_KINDS, `must be one of ${EVENT_KINDS.join(', ')}`).optional(),
      state: z.enum(DELIVERY_STATES, `must be one of ${DELIVERY_STATES.join(', ')}`).optional(),
    } satisfies FieldsOf<DeliveryFilter>,
    'must be an object',
  ),
);

const redeliverFields = () => ({
  /**
   * Send the delivery once to this URL instead of the URL of the webhook. The same rules as for the URL of a webhook
   * apply.
   */
  url: z
    .string('must be a URL')
    .refine((url) => isUrlWithScheme(url, /^https?$/), 'must be an absolute http or https URL')
    .optional(),
});

/** The schema of the options of `redeliver`. */
export const redeliverOptions = lazy(() => z.strictObject(redeliverFields(), 'must be an object'));

/** The options of `redeliver`. */
export type RedeliverOptions = InputOf<ReturnType<typeof redeliverFields>>;

const releaseFields = () => ({
  /** Release only deliveries of the tenant with this id. */
  tenant: tenantField().optional(),
  /** Release only deliveries to the webhook with this id. */
  webhookId: webhookField().optional(),
  /** Maximum number of deliveries to release. Default: all. */
  count: wholeNumber(1, MAX_COUNT).optional(),
});

/** The schema of the options of `release`. */
export const releaseOptions = lazy(() => z.strictObject(releaseFields(), 'must be an object'));

/** The options of `release`: which held deliveries to send. */
export type ReleaseOptions = InputOf<ReturnType<typeof releaseFields>>;

/** Creates the delivery controls of a mailbox. */
export function createDeliveryControls({ worlds, service, dispatcher }: ControlScope): DeliveryControls {
  const { mask } = worlds.mailbox;
  const show = (delivery: Delivery) => maskResponses(delivery, mask);
  return {
    deliveries: (filter = {}) =>
      dispatcher.list(worlds.all(), parseOrRefuse('The filter', deliveryFilter(), filter)).map(show),
    delivery: (id) => show(dispatcher.find(worlds.all(), id).delivery),
    losses(options) {
      const id = parseTenantOption('losses', options).tenant?.toLowerCase();
      return dispatcher.losses(worlds.all().filter((world) => id === undefined || world.id === id));
    },
    redeliver(id, options = {}) {
      const { url } = parseOrRefuse('The input of redeliver', redeliverOptions(), options);
      const { delivery, schedule } = dispatcher.find(worlds.all(), id);
      schedule.redeliver(delivery, url);
      // The log replaces a delivery when its state changes.
      return show(schedule.log.get(delivery.id) ?? delivery);
    },
    trigger(kind, options) {
      const entries = service.journals.collect(() => trigger(worlds, service.journals, kind, options));
      // If the events created more deliveries than the log can hold, the oldest are already gone.
      const logs = dispatcher.scheduleOf.in(worlds.all()).map(({ log }) => log);
      return deliveryIdsIn(entries)
        .flatMap((id) => logs.flatMap((log) => log.get(id) ?? []))
        .map(show);
    },
    release(options = {}) {
      const parsed = parseOrRefuse('The input of release', releaseOptions(), options);
      const { count = Number.POSITIVE_INFINITY, ...target } = parsed;
      const released: Delivery[] = [];
      for (const world of findWorlds(worlds, target)) {
        released.push(...dispatcher.scheduleOf(world).release(count - released.length, target.webhookId));
      }
      return released.map(show);
    },
  };
}

/**
 * Returns a delivery in which the URLs and the responses have no secrets, such as a session that a receiver has set. What
 * the emulator has sent stays as it was, so that its signature can be checked.
 */
function maskResponses(delivery: Delivery, mask: Mask): Delivery {
  const reason = delivery.reason === null ? null : mask.text(delivery.reason);
  const attempts = delivery.attempts.map((attempt) => {
    const { url, error, responseHeaders, responseBody } = attempt;
    const headers = Object.entries(responseHeaders).map(([name, value]) => [name, mask.named(name, value)]);
    return {
      ...attempt,
      url: mask.text(url),
      error: error === null ? null : mask.text(error),
      responseHeaders: Object.fromEntries(headers),
      responseBody: mask.text(responseBody),
    };
  });
  return { ...delivery, reason, attempts };
}

const webhookWithSecretFields = () => ({
  /** The id of the webhook. */
  id: z.string(),
  /** The id of its tenant. */
  tenantId: z.string(),
  /** The id of the workspace whose events the webhook gets; null if it gets the events of the whole tenant. */
  workspaceId: z.string().nullable().describe('Null for a webhook that gets the events of the whole tenant.'),
  /** The URL to which events are delivered. */
  url: z.string(),
  /** The kinds of event that the webhook gets. */
  events: z.array(z.enum(EVENT_KINDS)),
  /** Whether events are delivered. */
  isActive: z.boolean(),
  /** The secret that signs its deliveries. The service shows it only in the reply that creates the webhook. */
  secret: z.string().describe('The secret that signs its deliveries.'),
});

/** The schema of a webhook with its secret. */
export const webhookWithSecret = lazy(() => z.strictObject(webhookWithSecretFields()));

/** A webhook with its secret. */
export interface WebhookSettings extends OutputOf<ReturnType<typeof webhookWithSecretFields>> {}

/** The control methods for webhooks. */
export interface WebhookControls {
  /** Returns every webhook with its secret, grouped by tenant, oldest first. */
  webhooks(): WebhookSettings[];
  /**
   * Adds a webhook, and resolves with the webhook and its secret. With a `receiver` of `createReceiver`, the receiver
   * starts to listen, and gets the secret.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid option, or if the options do not determine the tenant; NOT_FOUND
   *   for an unknown inbox, workspace or tenant.
   * @example
   * const receiver = createReceiver();
   * await mailbox.addWebhook({ receiver, workspaceOf: 'helpdesk@acme.test' });
   */
  addWebhook(options: AddWebhookOptions): Promise<WebhookSettings>;
}

/** Shows a webhook with its secret. */
export function showWebhook({ id: tenantId }: World, webhook: WebhookRow): WebhookSettings {
  const { id, workspaceId, url, events, isActive, secret } = webhook;
  return { id, tenantId, workspaceId, url, events: [...events], isActive, secret };
}

/** Creates the webhook methods of a mailbox. */
export function createWebhookControls(scope: ControlScope): WebhookControls {
  return {
    webhooks: () => scope.worlds.all().flatMap((world) => world.webhooks.all().map((row) => showWebhook(world, row))),
    addWebhook(options) {
      const { epoch } = scope.worlds.mailbox;
      return addWebhookWith(options, (given) => {
        // A reset may have come while the receiver started to listen.
        if (scope.worlds.isOver(epoch)) throw createResetError();
        const { world, row } = addWebhook(scope, given);
        return showWebhook(world, row);
      });
    },
  };
}
