import { z } from 'zod';
import { EVENT_KINDS } from '../contract/events.ts';
import { CONTROL_PATH } from './control-path.ts';
import { type ControlRow, defineControl } from './row.ts';

const webhookReply = z.strictObject({
  id: z.string(),
  tenantId: z.string(),
  workspaceId: z.string().nullable().describe('Null for a webhook that gets the events of the whole tenant.'),
  url: z.string(),
  events: z.array(z.enum(EVENT_KINDS)),
  isActive: z.boolean(),
  secret: z.string().describe('Signs its deliveries.'),
});

/** The control calls for webhooks. */
export const WEBHOOK_ROWS: readonly ControlRow[] = [
  defineControl({
    id: 'listWebhookSettings',
    method: 'GET',
    path: `${CONTROL_PATH}/webhooks`,
    summary: 'Lists every webhook with its secret.',
    takesSandbox: true,
    reply: z.strictObject({ webhooks: z.array(webhookReply) }),
    run: (mailbox) => ({ webhooks: mailbox.webhooks() }),
  }),
];
