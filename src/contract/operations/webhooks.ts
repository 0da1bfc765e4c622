import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { EVENT_KINDS, type EventKind } from '../events.ts';
import { chooseBy, defineOperations } from '../operation.ts';
import { deleteReplies, expected, flag, idInRequest, object, timestamp, updatedReply, url, uuid } from '../schemas.ts';

const URL_RULES = {
  'http-or-https': { protocol: /^https?$/, message: 'must be an absolute http or https URL' },
  https: { protocol: /^https$/, message: 'must be an absolute https URL' },
};

const EVENT_RULES = { known: EVENT_KINDS, 'received-only': ['message.received'] } as const satisfies Record<
  string,
  readonly EventKind[]
>;

function webhookUrl(readBehaviour: ReadBehaviour) {
  const { protocol, message } = URL_RULES[readBehaviour('webhooks.create.url')];
  return url(protocol, message);
}

function listedEvents(readBehaviour: ReadBehaviour) {
  const kinds = EVENT_RULES[readBehaviour('webhooks.create.events')];
  const kind = z.enum(kinds, { error: () => `must be one of ${kinds.join(', ')}` });
  return z
    .array(kind, { error: expected('an array of event kinds') })
    .min(1, 'must list at least one event kind')
    .max(100, 'must list at most 100 event kinds');
}

function webhookEvents(readBehaviour: ReadBehaviour) {
  const events = listedEvents(readBehaviour);
  return readBehaviour('webhooks.create.required') === 'url' ? events.optional() : events;
}

/** A webhook in a reply: exactly the six documented fields (service document, section 2). */
const webhookReply = () =>
  object('Webhook', {
    id: uuid(),
    url: z.string(),
    events: z.array(z.enum(EVENT_KINDS)),
    secret: z.string().describe('The secret in Standard Webhooks form: `whsec_` followed by base64.'),
    isActive: z.boolean(),
    createdAt: timestamp(),
  });

const secretReplies = () => ({
  included: webhookReply(),
  omitted: webhookReply().omit({ secret: true }).meta({ id: 'WebhookSummary' }),
});

const listedWebhook = chooseBy('webhooks.list.secret', secretReplies);
const singleWebhook = chooseBy('webhooks.get.secret', secretReplies);

const UPDATE_REPLIES = { webhook: singleWebhook, 'updated-and-id': () => updatedReply() };

/** Creates the row of an operation on webhooks. */
const operation = defineOperations({
  tiers: 'webhooks.tiers',
});

export const webhookOperations = {
  createWebhook: operation('POST /v1/webhooks', 'Create a webhook', {
    origin: 'document',
    section: '4.1',
    body: (readBehaviour) =>
      z.object({
        url: webhookUrl(readBehaviour),
        events: webhookEvents(readBehaviour),
        workspaceId: idInRequest().nullish(),
      }),
    reply: webhookReply,
    status: 201,
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  listWebhooks: operation('GET /v1/webhooks', 'List webhooks', {
    origin: 'document',
    section: '4.2',
    query: () => z.object({ workspace: idInRequest().optional() }),
    reply: (readBehaviour) => z.strictObject({ webhooks: z.array(listedWebhook(readBehaviour)) }),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getWebhook: operation('GET /v1/webhooks/{id}', 'Read a webhook', { origin: 'reference', reply: singleWebhook }),
  updateWebhook: operation('PATCH /v1/webhooks/{id}', 'Update a webhook', {
    origin: 'reference',
    body: (readBehaviour) =>
      z.object({
        url: webhookUrl(readBehaviour).optional(),
        events: listedEvents(readBehaviour).optional(),
        isActive: flag().optional(),
      }),
    reply: (readBehaviour) => UPDATE_REPLIES[readBehaviour('webhooks.update.reply')](readBehaviour),
  }),
  deleteWebhook: operation('DELETE /v1/webhooks/{id}', 'Delete a webhook', {
    origin: 'document',
    section: '4.3',
    reply: chooseBy('webhooks.delete.body', () => ({ ...deleteReplies(), none: undefined })),
  }),
};
