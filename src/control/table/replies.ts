import { z } from 'zod';
import { isBytes } from '../../basics/base64.ts';
import type { AssumptionId, ChangeableId } from '../../contract/behaviours.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import { EVENT_KINDS } from '../../contract/events.ts';
import type { OperationId } from '../../contract/operations.ts';
import { TIERS } from '../../contract/tiers.ts';
import { DELIVERY_STATES } from '../../service/delivery/delivery.ts';
import type { DeliveryPayload } from '../../service/delivery/request.ts';
import { anyCorrespondent } from '../../service/mail/correspondents/correspondent.ts';
import { DELIVERY_FAULT_KINDS } from '../../world/delivery-fault.ts';
import { anyFault } from '../../world/fault.ts';
import type { FeedEvent } from '../journal/feed-event.ts';

/** A text that is one of these, which the OpenAPI document of the control calls does not list. */
const textOf = <Value extends string>() => z.string() as z.ZodType<string> as z.ZodType<Value>;

const json = z.record(z.string(), z.unknown());
const headers = z.record(z.string(), z.string());
const count = z.int().min(0);
const addresses = z.array(z.string());
const time = z.iso.datetime({ precision: 3 });

export const callsReply = z.strictObject({
  calls: z.array(z.strictObject({ method: z.string(), path: z.string(), summary: z.string() })),
});

const listening = z.strictObject({ port: z.int() }).optional();

/** The process that answers. */
const ownProcess = {
  url: z.string().describe('What the process is called from outside.'),
  smtp: listening,
  imap: listening,
};

export const healthReply = z.strictObject({ status: z.literal('ok'), version: z.string(), ...ownProcess });

export const readyReply = z.strictObject({ ready: z.literal(true) });

export const removedReply = z.strictObject({ removed: count.describe('How many mails were removed.') });

export const resetReply = z.strictObject({ reset: z.literal(true) });

const texts = z.record(z.string(), z.string());

/** A sandbox with what its clients need. */
export const sandboxReply = z.strictObject({
  id: z.string().describe('Also the id of its tenant.'),
  name: z.string().nullable(),
  domain: z.string().describe("The domain of its addresses, instead of the fixture's first domain."),
  keys: z.strictObject({ tenant: z.string(), workspaces: texts, inboxes: texts }).describe('By handle.'),
  ids: z.strictObject({ tenant: z.string(), workspaces: texts, inboxes: texts, webhooks: texts }),
  ...ownProcess,
});

export const sandboxesReply = z.strictObject({ ...ownProcess, sandboxes: z.array(sandboxReply) });

const openPoint = {
  id: z.string(),
  question: z.string().describe('The point that is open, as a question.'),
  section: z.string().describe('The section of the service document.'),
  origin: z.enum(['document', 'reference', 'assumed']).describe('The source of the default or of the assumption.'),
  told: z.string().describe('What tells it of a running service, besides a tenant key, or why it cannot be told.'),
};

const changeableBehaviour = z.strictObject({
  ...openPoint,
  choices: z.record(z.string(), z.string()).describe('Each possible value with its meaning.'),
  otherValues: z.strictObject({ rule: z.string() }).optional().describe('Further possible values.'),
  default: z.string(),
  value: z.string().describe('The current value.'),
  source: z.enum(['changed', 'option', 'profile', 'default']).describe('Where the current value comes from.'),
  start: z.string().describe('The value at the start, which a reset restores.'),
  isPinned: z.boolean().describe('Whether the profile of the mailbox names it.'),
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
  webhooks: json.optional(),
  components: json,
});

/** An AsyncAPI 3.0 document. */
export const asyncApiReply = z.strictObject({
  asyncapi: z.literal('3.0.0'),
  ...{ info: json, channels: json, operations: json, components: json },
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
  problems: z.array(z.string()).exactOptional().describe('What could not be read of a raw mail, each in one sentence.'),
  streams: count.exactOptional().describe('To how many event streams its event was sent; left out if to none.'),
});

/** Mail, oldest first. */
export const mailListReply = z.strictObject({ messages: z.array(mailReply) });

const attempt = z.strictObject({
  at: time,
  url: z.string(),
  requestHeaders: headers,
  requestBody: z.string(),
  fault: z.enum(DELIVERY_FAULT_KINDS).nullable().describe('The fault that applied to it.'),
  faultId: z.string().nullable().describe('The id of this fault.'),
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
  held: z
    .array(heldMail)
    .exactOptional()
    .describe('The mail that is held because of a loop; left out if there is none.'),
  refused: z
    .array(z.strictObject({ webhookId: z.string(), url: z.string(), reason: z.string().nullable() }))
    .exactOptional()
    .describe('The webhooks whose deliveries were refused; left out if there are none.'),
});

export const correspondentsReply = z.strictObject({ correspondents: z.array(anyCorrespondent()) });

export const faultsReply = z.strictObject({ faults: z.array(anyFault()) });

const content = {
  headers: z.record(z.string(), z.string()),
  body: z.string().nullable().describe('At most the first 16 KiB; null if there is none, or if it is not text.'),
  bodyBytes: z.int().nullable(),
};

/** A request of the journal. */
export const requestReply = z.strictObject({
  id: z.string(),
  at: time.describe("By the tenant's clock."),
  realTime: time,
  durationMs: z.number(),
  protocol: z.enum(['http', 'smtp', 'imap']),
  operation: textOf<OperationId>().nullable(),
  method: z.string(),
  path: z.string(),
  key: z.string().nullable().describe('The start of the key.'),
  keyId: z
    .string()
    .nullable()
    .describe("The id of a valid key, as `GET /__mock/keys` shows it; null for the operator's."),
  principal: z
    .strictObject({
      tier: z.enum(TIERS),
      tenantId: z.string().nullable(),
      workspaceId: z.string().nullable(),
      inboxId: z.string().nullable(),
    })
    .nullable(),
  status: z.int(),
  code: textOf<ErrorCode>().nullable(),
  reason: z.string().nullable().describe('Why it was refused, with the details that the reply omits.'),
  ignored: z.array(z.string()).describe('What the operation did not read, with what may have been meant.'),
  assumptions: z.array(textOf<AssumptionId>()),
  choices: z.record(z.string(), z.string()) as z.ZodType<Partial<Record<ChangeableId, string>>>,
  faults: z.array(z.string()),
  messages: z.array(z.string()).describe('The ids of the messages that it has sent or received.'),
  deliveries: z.array(z.string()).describe('The ids of the deliveries that it has caused.'),
  request: z.strictObject({ ...content, query: z.array(z.tuple([z.string(), z.string()])) }),
  reply: z.strictObject(content),
});

const harReply = z.strictObject({
  log: z.strictObject({
    version: z.literal('1.2'),
    creator: z.strictObject({ name: z.string(), version: z.string() }),
    entries: z.array(z.record(z.string(), z.unknown())),
  }),
});

/** The requests of the journal, or with `format=har` a HAR document. */
export const requestsReply = z.union([z.strictObject({ requests: z.array(requestReply) }), harReply]);

export const clearedRequestsReply = z.strictObject({ requests: z.array(requestReply) });

/** An event of the feed; its other fields depend on the kind. */
export const feedEventReply = z
  .custom<FeedEvent>(
    (event) => z.looseObject({ id: z.string(), realTime: time, kind: z.string() }).safeParse(event).success,
  )
  .meta({
    type: 'object',
    description: 'What happened: its id, realTime and kind, and further fields by kind.',
    properties: { id: { type: 'string' }, realTime: { type: 'string' }, kind: { type: 'string' } },
    required: ['id', 'realTime', 'kind'],
  });

const inbox = z.strictObject({
  ...{ id: z.string(), address: z.string(), displayName: z.string().nullable(), isPaused: z.boolean() },
  messages: count.describe('Without those in the trash.'),
  unread: count,
});

export const tenantsReply = z.strictObject({
  tenants: z.array(
    z.strictObject({
      ...{ id: z.string(), name: z.string(), isSandbox: z.boolean() },
      workspaces: z.array(z.strictObject({ id: z.string(), name: z.string(), inboxes: z.array(inbox) })),
    }),
  ),
});

const summary = z.strictObject({
  ...{ id: z.string(), tenantId: z.string(), inboxId: z.string(), threadId: z.string() },
  direction: z.enum(['inbound', 'outbound']),
  ...{ from: z.string(), to: addresses, subject: z.string(), snippet: z.string() },
  receivedAt: time.describe("By the tenant's clock."),
  ...{ isRead: z.boolean(), isStarred: z.boolean(), bouncedAt: time.nullable() },
  ...{ attachments: count, messagesInThread: count },
});

export const pageReply = z.strictObject({
  total: count,
  index: count
    .nullable()
    .describe('The place of the message that `indexOf` names; null if the search did not find it.'),
  messages: z.array(summary).describe('Newest first.'),
  words: z.array(z.string()).describe('The texts that `search` looked for, in lower case, to mark hits.'),
});

const file = z.strictObject({ id: z.string(), filename: z.string(), contentType: z.string(), sizeBytes: count });

const headerField = z.strictObject({ name: z.string(), value: z.string(), isTrace: z.boolean() });
const shownLink = z.strictObject({ url: z.string(), text: z.string() });

export const detailsReply = summary.extend({
  ...{ inbox: z.string(), cc: addresses, bcc: addresses, replyTo: z.string().nullable() },
  ...{ plainBody: z.string(), htmlBody: z.string().nullable() },
  ...{ messageIdHeader: z.string(), inReplyTo: z.string().nullable(), references: addresses },
  ...{ isArchived: z.boolean(), deletedAt: time.nullable() },
  headers: z.array(headerField).describe('Each field of the raw form, in order; `isTrace` if the emulator added it.'),
  files: z.array(file),
  links: addresses.describe('The web addresses that it links to, each once.'),
  misleadingLinks: z.array(shownLink).describe('The links whose text shows an address of another host.'),
  thread: z.array(summary).describe('Oldest first, this one and deleted ones too.'),
  request: z.string().nullable().describe('The id of the request that sent it, if the journal has it.'),
  deliveries: addresses.describe('The ids of its deliveries, oldest first.'),
  api: z.record(z.string(), z.unknown()).describe('What the service replies to a request for this message.'),
});

/** A file that a browser saves. */
export const fileReply = z
  .custom<{ readonly filename: string; readonly content: Uint8Array }>((value) => isBytes(value))
  .meta({ type: 'string', description: 'The bytes.' });

export const webhookReply = z.strictObject({
  id: z.string(),
  tenantId: z.string(),
  workspaceId: z.string().nullable().describe('Null for a webhook that gets the events of the whole tenant.'),
  url: z.string(),
  events: z.array(z.enum(EVENT_KINDS)),
  isActive: z.boolean(),
  secret: z.string().describe('Signs its deliveries.'),
});

const createdAt = time.describe('By the clock of the mailbox or the sandbox.');
export const checkpointReply = z.strictObject({ name: z.string(), createdAt });

const byKindAndId = <Value extends z.ZodType>(value: Value) => z.record(z.string(), z.record(z.string(), value));
export const item = z.record(z.string(), z.unknown());

export const diffReply = z.strictObject({
  added: byKindAndId(item).describe('What only the second state has, by kind and id.'),
  removed: byKindAndId(item).describe('What only the first state has, by kind and id.'),
  changed: byKindAndId(z.record(z.string(), z.strictObject({ from: z.unknown(), to: z.unknown() }))).describe(
    'What both have with different fields: by kind, id and field.',
  ),
});
