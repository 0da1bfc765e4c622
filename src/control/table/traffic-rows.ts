import { z } from 'zod';
import { createListInParts } from '../../basics/json-pieces.ts';
import { EVENT_KINDS } from '../../contract/events.ts';
import { queryFlag } from '../../contract/query.ts';
import { timestamp } from '../../contract/schemas.ts';
import { deliveryReply, lossesReply } from '../../service/delivery/delivery.ts';
import { addedWebhook } from '../add-webhook.ts';
import { deliveryFilter, redeliverOptions, releaseOptions, webhookWithSecret } from '../delivery-controls.ts';
import type { FeedEvent } from '../journal/feed-event.ts';
import { droppedRequests } from '../journal/from-entries/entry-requests.ts';
import { createHar, harReply } from '../journal/har.ts';
import {
  type JournalLoss,
  journalEntryReply,
  journalUrlQuery,
  lossesReply as lossesOfJournal,
} from '../journal/journal-entry.ts';
import { type RequestEntry, requestQuery, requestReply, summaryReply } from '../journal/request-entry.ts';
import { connectionReply } from '../journal-controls.ts';
import { triggerOptions } from '../trigger.ts';
import { defineControl, fileReply, idInPath } from './row.ts';

const dropped = () =>
  z
    .strictObject({ count: z.int().min(1), until: timestamp() })
    .exactOptional()
    .describe('How many earlier requests the journal no longer has; left out if it has them all.');

const requestsReply = z.strictObject({ requests: z.array(requestReply()), dropped: dropped() });

const summariesReply = z.strictObject({
  requests: z.array(summaryReply()),
  dropped: dropped(),
});

/** Adds to a list of requests how many the journal no longer has; nothing if it has them all. */
function withLoss<Reply extends object>(reply: Reply, dropped: JournalLoss | undefined) {
  return dropped ? { ...reply, dropped } : reply;
}

/** An event of the feed: an entry of the journal, or a gap. */
const feedEventReply = z
  .custom<FeedEvent>(
    (event) => z.looseObject({ id: z.string(), realTime: timestamp(), kind: z.string() }).safeParse(event).success,
  )
  .meta({
    type: 'object',
    description:
      'An entry of the journal with an id, without what may be long; or a gap, which has the number of the events that ' +
      'are missing.',
    properties: {
      id: { type: 'string' },
      realTime: { type: 'string' },
      kind: { type: 'string' },
      data: { type: 'object', description: 'The details of an entry, which depend on the kind.' },
      missed: { type: ['integer', 'null'], description: 'Only for a gap; null if the number is unknown.' },
    },
    required: ['id', 'realTime', 'kind'],
  });

/** The calls for webhooks and their deliveries, for requests, and for the live feed. */
export const TRAFFIC_ROWS = {
  triggerEvent: defineControl(
    'Triggers an event and shows the deliveries that it created.',
    {
      body: triggerOptions().extend({
        /** The kind of the event. */
        event: z.enum(EVENT_KINDS),
      }),
      reply: z.strictObject({ deliveries: z.array(deliveryReply()) }),
    },
    (mailbox, { body: { event, ...options } }) => ({ deliveries: mailbox.trigger(event, options) }),
  ),
  listDeliveries: defineControl(
    'Lists deliveries, oldest first, with each attempt, and counts those that were removed because the log was full.',
    { query: deliveryFilter(), reply: z.strictObject({ deliveries: z.array(deliveryReply()), losses: lossesReply() }) },
    (mailbox, { query }) => ({
      deliveries: mailbox.deliveries(query),
      losses: mailbox.losses({ tenant: query.tenant }),
    }),
  ),
  getDelivery: defineControl(
    'Shows one delivery.',
    { params: idInPath('delivery'), reply: deliveryReply() },
    (mailbox, { params }) => mailbox.delivery(params.id),
  ),
  redeliver: defineControl(
    'Sends a delivery again immediately; a URL in the body is for this time only.',
    { params: idInPath('delivery'), body: redeliverOptions(), reply: deliveryReply(), errors: ['CONFLICT'] },
    (mailbox, { params, body }) => mailbox.redeliver(params.id, body),
  ),
  releaseDeliveries: defineControl(
    'Sends deliveries that a fault has held back.',
    { body: releaseOptions(), reply: z.strictObject({ deliveries: z.array(deliveryReply()) }) },
    (mailbox, { body }) => ({ deliveries: mailbox.release(body) }),
  ),
  listWebhookSettings: defineControl(
    'Lists every webhook with its secret, grouped by tenant, oldest first.',
    { reply: z.strictObject({ webhooks: z.array(webhookWithSecret()) }) },
    (mailbox) => ({ webhooks: mailbox.webhooks() }),
  ),
  addWebhook: defineControl(
    'Adds a webhook, and shows it with its secret.',
    { body: addedWebhook(), reply: webhookWithSecret() },
    (mailbox, { body }) => mailbox.addWebhook(body),
  ),
  listRequests: defineControl(
    'Lists the requests that the service has handled, oldest first; also as a HAR document, or without headers, ' +
      'queries and bodies.',
    { query: requestQuery(), reply: z.union([requestsReply, harReply(), summariesReply]) },
    (mailbox, { query: { format, ...filter } }) => {
      const dropped = droppedRequests(mailbox.journalLosses());
      if (format === 'summary') return withLoss({ requests: mailbox.requestSummaries(filter) }, dropped);
      const requests = createListInParts<RequestEntry>(filter.limit, (limit, _, last) =>
        mailbox.requests({ ...filter, limit, after: last?.id ?? filter.after }),
      );
      return format === 'har' ? createHar(requests, mailbox.baseUrl, dropped?.count) : withLoss({ requests }, dropped);
    },
  ),
  getRequest: defineControl(
    'Shows one request.',
    { params: idInPath('request'), reply: requestReply() },
    (mailbox, { params }) => mailbox.request(params.id),
  ),
  listConnections: defineControl(
    'Lists the clients that are connected now, the oldest first: those of event streams, of IMAP and of SMTP.',
    { reply: z.strictObject({ connections: z.array(connectionReply()) }) },
    (mailbox) => ({ connections: mailbox.connections() }),
  ),
  readJournal: defineControl(
    'Lists what has happened since the start or the latest reset, oldest first, and how many entries were dropped.',
    {
      query: journalUrlQuery(),
      reply: z.strictObject({ entries: z.array(journalEntryReply()), dropped: lossesOfJournal() }),
    },
    (mailbox, { query }) => ({
      entries: mailbox.journal(query) as object[] as never,
      dropped: mailbox.journalLosses(),
    }),
  ),
  readTrace: defineControl(
    'Sends what has happened since the start or the latest reset as a trace: JSON Lines, to be saved as a file.',
    { content: 'application/octet-stream', query: z.strictObject({ bytes: queryFlag().optional() }), reply: fileReply },
    (mailbox, { query }) => {
      return { filename: 'trace.jsonl', content: new TextEncoder().encode(mailbox.trace(query)) };
    },
  ),
  clearRequests: defineControl(
    'Makes the list of requests start after the present ones.',
    { reply: requestsReply },
    (mailbox) => {
      mailbox.clearRequests();
      return { requests: mailbox.requests() };
    },
  ),
  restoreRequests: defineControl(
    'Makes the list of requests start where it started before it was last cleared.',
    { reply: requestsReply },
    (mailbox) => {
      mailbox.restoreRequests();
      return { requests: mailbox.requests() };
    },
  ),
  readFeed: defineControl(
    'Streams what happens in the emulator, as server-sent events.',
    {
      content: 'text/event-stream',
      query: z.strictObject({ follow: queryFlag().optional(), lastEventId: z.string().optional() }),
      reply: feedEventReply,
    },
    (mailbox, { query, headers }) =>
      mailbox.feed({ ...query, lastEventId: headers.get('last-event-id') ?? query.lastEventId }),
  ),
};
