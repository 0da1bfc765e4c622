import { z } from 'zod';
import type { ReadBehaviour } from '../../behaviours.ts';
import { defineReplies } from '../../operation.ts';
import { timestamp, uuid } from '../../schemas.ts';
import { deleteReplies, updatedReply } from './common.ts';

/** A webhook in a reply: exactly the six documented fields (service document, section 2). */
const webhookReply = () =>
  z.strictObject({
    id: uuid(),
    url: z.string(),
    events: z.array(z.string()),
    secret: z.string().describe('The secret in Standard Webhooks form: `whsec_` followed by base64.'),
    isActive: z.boolean(),
    createdAt: timestamp(),
  });

const listedWebhook = () => ({ included: webhookReply(), omitted: webhookReply().omit({ secret: true }) });

const readWebhook = (readBehaviour: ReadBehaviour) => listedWebhook()[readBehaviour('webhooks.get.secret')];

const UPDATE_REPLIES = { webhook: readWebhook, 'updated-and-id': () => updatedReply() };

const deleted = () => ({ ...deleteReplies(), none: undefined });

/** The bodies of the successful replies of these operations. */
export const webhookReplies = defineReplies({
  createWebhook: webhookReply,
  listWebhooks: (readBehaviour) =>
    z.strictObject({ webhooks: z.array(listedWebhook()[readBehaviour('webhooks.list.secret')]) }),
  getWebhook: readWebhook,
  updateWebhook: (readBehaviour) => UPDATE_REPLIES[readBehaviour('webhooks.update.reply')](readBehaviour),
  deleteWebhook: (readBehaviour) => deleted()[readBehaviour('webhooks.delete.body')],
});
