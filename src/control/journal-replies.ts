import { z } from 'zod';
import { TIERS } from '../contract/tiers.ts';
import type { FeedEvent } from '../journal/feed-event.ts';

const time = z.iso.datetime({ precision: 3 });
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
  operation: z.string().nullable(),
  method: z.string(),
  path: z.string(),
  key: z.string().nullable().describe('The start of the key.'),
  principal: z
    .strictObject({
      tier: z.enum(TIERS),
      tenantId: z.string().nullable(),
      workspaceId: z.string().nullable(),
      inboxId: z.string().nullable(),
    })
    .nullable(),
  status: z.int(),
  code: z.string().nullable(),
  reason: z.string().nullable().describe('Why it was refused, with the details that the reply omits.'),
  ignored: z.array(z.string()).describe('What the operation did not read, with what may have been meant.'),
  assumptions: z.array(z.string()),
  choices: z.record(z.string(), z.string()),
  faults: z.array(z.string()),
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
