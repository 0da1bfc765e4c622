import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { EVENT_KINDS } from '../events.ts';
import { fieldsOf, texts, timestamp, uuid } from '../schemas.ts';

const kind = () => z.enum(EVENT_KINDS);

/** The fields that only the event of a bounce has, and only if the inbox got a delivery report. */
const bounceFields = (statusField: 'statusCode' | 'status_code') => ({
  recipient: z.string().optional().describe('Who did not get the message: addresses, separated by commas.'),
  [statusField]: z.string().optional().describe('Their status codes (RFC 3463), in the same order.'),
});

const referencePayload = () =>
  z.object({
    event: kind(),
    ...fieldsOf(uuid, 'messageId', 'inboxId', 'threadId'),
    from: z.string().describe('The sender, with the display name.'),
    to: z.string().describe('The recipients, separated by commas.'),
  });

const PAYLOADS = {
  reference: referencePayload,
  'reference-and-content': () =>
    referencePayload().extend({
      id: z.string().describe('The id of the event.'),
      workspaceId: uuid(),
      ...fieldsOf(() => z.string(), 'subject', 'plainBody'),
      htmlBody: z.string().nullable(),
      receivedAt: timestamp(),
      ...bounceFields('statusCode'),
    }),
};

/** The schema of the body of a delivery (reference, "Delivery"). */
export const deliveryPayload = (readBehaviour: ReadBehaviour) =>
  PAYLOADS[readBehaviour('deliveries.payload')]().meta({ id: 'DeliveryPayload' });

/** The schemas of the frames that the service sends (reference, "Event stream"), by type. */
export const serverFrames = (readBehaviour: ReadBehaviour) => ({
  connected: z.strictObject({
    type: z.literal('connected'),
    inboxId: uuid().nullable().describe('The inbox of a stream for a single inbox.'),
    email: z.string().nullable(),
  }),
  subscribed: z.strictObject({
    type: z.literal('subscribed'),
    event_types: z.array(kind()),
    ...fieldsOf(texts, 'inbox_ids', 'workspace_ids'),
  }),
  event: z.strictObject({
    type: z.literal('event'),
    event_type: kind(),
    event_id: z.string(),
    message: z.strictObject({
      ...(readBehaviour('stream.event.message') === 'with-id' && { message_id: z.string() }),
      ...fieldsOf(() => z.string(), 'inbox_id', 'thread_id', 'from'),
      to: texts(),
      ...fieldsOf(() => z.string(), 'subject', 'plain_body'),
      html_body: z.string().nullable(),
      timestamp: timestamp(),
      ...bounceFields('status_code'),
    }),
    thread: z.strictObject({ thread_id: z.string(), subject: z.string() }),
  }),
  ping: z.strictObject({ type: z.literal('ping') }),
  error: z.strictObject({ type: z.literal('error'), message: z.string() }),
});
