import { z } from 'zod';
import { EVENT_KINDS } from '../contract/events.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { TIERS } from '../contract/tiers.ts';
import { DELIVERY_STATES } from '../delivery/delivery.ts';
import type { DeliveryPayload } from '../delivery/request.ts';
import { DELIVERY_FAULT_KINDS } from '../faults/delivery-fault.ts';
import { anyFault } from '../faults/fault.ts';

const json = z.record(z.string(), z.unknown());
const headers = z.record(z.string(), z.string());
const count = z.int().min(0);
const addresses = z.array(z.string());
const time = z.iso.datetime({ precision: 3 });

export const callsReply = z.strictObject({
  calls: z.array(z.strictObject({ method: z.string(), path: z.string(), summary: z.string() })),
});

export const healthReply = z.strictObject({ status: z.literal('ok'), version: z.string() });

export const resetReply = z.strictObject({ reset: z.literal(true) });

const texts = z.record(z.string(), z.string());

/** A sandbox with what its clients need. */
export const sandboxReply = z.strictObject({
  id: z.string().describe('Also the id of its tenant.'),
  name: z.string().nullable(),
  domain: z.string().describe("The domain of its addresses, instead of the fixture's first domain."),
  keys: z.strictObject({ tenant: z.string(), workspaces: texts, inboxes: texts }).describe('By handle.'),
  ids: z.strictObject({ tenant: z.string(), workspaces: texts, inboxes: texts, webhooks: texts }),
});

export const sandboxesReply = z.strictObject({ sandboxes: z.array(sandboxReply) });

const openPoint = {
  id: z.string(),
  question: z.string().describe('The point that is open, as a question.'),
  section: z.string().describe('The section of the service document.'),
  origin: z.enum(['document', 'reference', 'assumed']).describe('The source of the default or of the assumption.'),
};

const changeableBehaviour = z.strictObject({
  ...openPoint,
  choices: z.record(z.string(), z.string()).describe('Each possible value with its meaning.'),
  otherValues: z.strictObject({ rule: z.string() }).optional().describe('Further possible values.'),
  default: z.string(),
  value: z.string().describe('The current value.'),
});

const assumption = z.strictObject({
  ...openPoint,
  assumption: z.string().describe('What the emulator does.'),
  affects: z.array(z.enum(['access', 'query', 'body', 'reply'])).optional(),
});

/** All behaviours, with their current values. */
export const behavioursReply = z.strictObject({ behaviours: z.array(z.union([changeableBehaviour, assumption])) });

/** An OpenAPI 3.1 document. */
export const openApiReply = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: json,
  servers: z.array(json),
  tags: z.array(json),
  paths: z.record(z.string(), z.record(z.string(), json)),
  components: json,
});

export const clockReply = z.strictObject({ now: time, frozen: z.boolean() });

/** The messages that an inbound mail created, one for each inbox. */
export const receivedMessagesReply = z.strictObject({
  messages: z.array(
    z.strictObject({ id: z.string(), inboxId: z.string(), threadId: z.string(), tenantId: z.string() }),
  ),
});

/** A mail that arrived or was sent. */
export const mailReply = z.strictObject({
  ...{ id: z.string(), tenantId: z.string(), inboxId: z.string(), threadId: z.string() },
  direction: z.enum(['inbound', 'outbound']),
  ...{ from: z.string(), to: addresses, cc: addresses, bcc: addresses, replyTo: z.string().nullable() },
  ...{ subject: z.string(), plainBody: z.string(), htmlBody: z.string().nullable() },
  ...{ messageIdHeader: z.string(), inReplyTo: z.string().nullable() },
  receivedAt: time.describe("By the tenant's clock."),
  headers: headers.describe('By lower-case name.'),
  attachments: z.array(
    z.strictObject({
      ...{ id: z.string(), filename: z.string(), contentType: z.string(), sizeBytes: count },
      content: z.string().describe('The bytes, in base64.'),
    }),
  ),
  problems: z.array(z.string()).optional().describe('What could not be read of a raw mail, each in one sentence.'),
  streams: count.optional().describe('To how many event streams its event was sent; left out if to none.'),
});

/** Mail, oldest first. */
export const mailListReply = z.strictObject({ messages: z.array(mailReply) });

const attempt = z.strictObject({
  at: time,
  url: z.string(),
  requestHeaders: headers,
  requestBody: z.string(),
  fault: z.enum(DELIVERY_FAULT_KINDS).nullable().describe('The fault that applied to it.'),
  status: z.int().nullable().describe('The status of the response; null if there was none.'),
  responseHeaders: headers,
  responseBody: z.string().describe('At most the first 16 KiB.'),
  error: z.string().nullable(),
  durationMs: z.number(),
  nextAttemptAt: time.nullable(),
});

/** A loose schema, because a triggered event can replace any field. */
const payload = z
  .custom<DeliveryPayload>((value) => typeof value === 'object' && value !== null)
  .meta({ type: 'object', description: 'The body of the delivery: the fields of the event.' });

/** A delivery of one event to one webhook. */
export const deliveryReply = z.strictObject({
  id: z.string(),
  tenantId: z.string(),
  webhookId: z.string(),
  event: z.enum(EVENT_KINDS),
  eventId: z.string(),
  payload,
  state: z.enum(DELIVERY_STATES),
  reason: z.string().nullable(),
  createdAt: time,
  nextAttemptAt: time.nullable(),
  attempts: z.array(attempt).describe('Oldest first.'),
});

const losses = z
  .strictObject({ dropped: count, forgotten: count })
  .describe('The number of deliveries that were removed because a log was full.');

const deliveries = z.array(deliveryReply);

export const deliveriesReply = z.strictObject({ deliveries, losses });

export const affectedDeliveriesReply = z.strictObject({ deliveries });

const heldMail = z.strictObject({
  ...{ tenantId: z.string(), from: z.string(), to: z.string(), subject: z.string(), messageIdHeader: z.string() },
  heldAt: time.describe("By the tenant's clock."),
  reason: z.string(),
});

export const settledReply = z.strictObject({
  settled: z.literal(true),
  losses,
  held: z.array(heldMail).optional().describe('The mail that is held because of a loop; left out if there is none.'),
  refused: z
    .array(z.strictObject({ webhookId: z.string(), url: z.string(), reason: z.string().nullable() }))
    .optional()
    .describe('The webhooks whose deliveries were refused; left out if there are none.'),
});

export const faultsReply = z.strictObject({ faults: z.array(anyFault) });

/** What a leak of one key exposes. */
const exposure = z.strictObject({
  id: z.string().nullable().describe("Null for the operator's key."),
  key: z.string().describe('The first nine characters of the key, and `…`.'),
  handle: z.string().nullable().describe('Where `mailbox.keys` has it; null for a key that was created later.'),
  tier: z.enum(TIERS),
  tenantId: z.string().nullable().describe("Null for the operator's key."),
  workspaces: z.array(z.string()).describe('The ids of the workspaces that it can reach.'),
  inboxes: z.array(z.string()).describe('The ids of the inboxes that it can reach.'),
  webhooks: z.array(z.string()).describe('The ids of the webhooks that it can reach.'),
  operations: z.array(z.enum(OPERATION_IDS)).describe('The operations that it may call.'),
});

export const exposuresReply = z.strictObject({ keys: z.array(exposure) });
