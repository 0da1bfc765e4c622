import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { EVENT_KINDS, type EventKind } from '../events.ts';
import { defineOperation } from '../operation.ts';
import { DELETE_REPLIES, updatedReply } from '../replies.ts';
import { expected, flag, idInRequest, idParams, isUrlWithProtocol, text, timestamp, uuid } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const webhookTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('webhooks.tiers')];

/** A webhook in a reply: exactly the six documented fields (service document, section 2). */
const webhookReply = z.strictObject({
  id: uuid,
  url: z.string(),
  events: z.array(z.string()),
  secret: z.string().describe('The secret in Standard Webhooks form: `whsec_` followed by base64.'),
  isActive: z.boolean(),
  createdAt: timestamp,
});

const LISTED_WEBHOOK = {
  included: webhookReply,
  omitted: webhookReply.omit({ secret: true }),
};

const URL_RULES = {
  'http-or-https': { protocol: /^https?$/, message: 'must be an absolute http or https URL' },
  https: { protocol: /^https$/, message: 'must be an absolute https URL' },
};

const EVENT_RULES = {
  known: EVENT_KINDS,
  'received-only': ['message.received'],
} as const satisfies Record<string, readonly EventKind[]>;

function webhookUrl(readBehaviour: ReadBehaviour) {
  const { protocol, message } = URL_RULES[readBehaviour('webhooks.create.url')];
  return text(2048)
    .refine((url) => isUrlWithProtocol(url, protocol), message)
    .meta({ format: 'uri' });
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

const readWebhook = (readBehaviour: ReadBehaviour) => LISTED_WEBHOOK[readBehaviour('webhooks.get.secret')];

const UPDATE_REPLIES = { webhook: readWebhook, 'updated-and-id': () => updatedReply };

const DELETED = { ...DELETE_REPLIES, none: undefined };

export const webhookOperations = {
  createWebhook: defineOperation({
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Create a webhook',
    origin: 'document',
    section: '4.1',
    tiers: webhookTiers,
    assumes: ['webhooks.other-tiers', 'webhooks.create.secret'],
    body: (readBehaviour) =>
      z.object({
        url: webhookUrl(readBehaviour),
        events: webhookEvents(readBehaviour),
        workspaceId: idInRequest.nullish(),
      }),
    status: 201,
    reply: () => webhookReply,
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  listWebhooks: defineOperation({
    method: 'GET',
    path: '/v1/webhooks',
    summary: 'List webhooks',
    origin: 'document',
    section: '4.2',
    tiers: webhookTiers,
    assumes: ['webhooks.other-tiers'],
    query: () => z.object({ workspace: idInRequest.optional() }),
    status: 200,
    reply: (readBehaviour) =>
      z.strictObject({ webhooks: z.array(LISTED_WEBHOOK[readBehaviour('webhooks.list.secret')]) }),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getWebhook: defineOperation({
    method: 'GET',
    path: '/v1/webhooks/{id}',
    summary: 'Read a webhook',
    origin: 'reference',
    tiers: webhookTiers,
    assumes: ['webhooks.other-tiers'],
    params: idParams,
    status: 200,
    reply: readWebhook,
  }),
  updateWebhook: defineOperation({
    method: 'PATCH',
    path: '/v1/webhooks/{id}',
    summary: 'Update a webhook',
    origin: 'reference',
    tiers: webhookTiers,
    assumes: ['webhooks.other-tiers'],
    params: idParams,
    body: (readBehaviour) =>
      z.object({
        url: webhookUrl(readBehaviour).optional(),
        events: listedEvents(readBehaviour).optional(),
        isActive: flag.optional(),
      }),
    status: 200,
    reply: (readBehaviour) => UPDATE_REPLIES[readBehaviour('webhooks.update.reply')](readBehaviour),
  }),
  deleteWebhook: defineOperation({
    method: 'DELETE',
    path: '/v1/webhooks/{id}',
    summary: 'Delete a webhook',
    origin: 'document',
    section: '4.3',
    tiers: webhookTiers,
    assumes: ['webhooks.other-tiers'],
    params: idParams,
    status: 200,
    reply: (readBehaviour) => DELETED[readBehaviour('webhooks.delete.body')],
  }),
};
