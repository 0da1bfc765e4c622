import { z } from 'zod';
import { lazy, type OutputOf } from '../basics/lazy-schema.ts';
import { NAME, VERSION } from '../basics/version.ts';
import { timestamp } from '../contract/schemas.ts';
import { attemptFields, type Delivery, deliveryReply } from '../service/delivery/delivery.ts';
import { viewFields } from '../service/mail/show-mail.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import type { MessageRow } from '../world/store/rows.ts';
import type { World } from '../world/store/world.ts';
import type { ControlScope } from './control-scope.ts';
import { createDeliveryControls, createWebhookControls, webhookWithSecret } from './delivery-controls.ts';
import { type JournalEntry, type JournalMail, journalEntryReply, lossesReply } from './journal/journal-entry.ts';
import { readJournal, readLosses } from './journal/read-journal.ts';
import { detailsReply, showTenant, tenantSummary } from './mail/mail-inspection.ts';
import { linksOf, misleadingLinksOf } from './mail/mail-links.ts';
import { sampleReply, showSamples } from './samples/delivered-samples.ts';
import { type Evidence, withCachedJournal } from './verdicts/evidence.ts';
import { evidenceOf, storyReply, tellStory } from './verdicts/story.ts';

/** The version of the format. A program that reads traces refuses a higher one. */
export const TRACE_VERSION = 1;

/** How many mails a trace has a story of: the latest ones. */
const MAX_STORIES = 200;

const optionFields = () => ({
  /** Whether the trace has the bytes of attachments, in base64. Default: false. */
  bytes: z.boolean('must be true or false').optional(),
});

/** The schema of the options of `trace`. */
export const traceOptions = lazy(() => z.strictObject(optionFields(), 'must be an object'));

/** The options of `trace`. */
export type TraceOptions = z.input<ReturnType<typeof traceOptions>>;

const headerFields = () => ({
  type: z.literal('trace').describe('The first line of a trace.'),
  version: z.int().min(1).max(TRACE_VERSION).describe('The version of the format.'),
  writtenBy: z.strictObject({ name: z.string(), version: z.string() }),
  writtenAt: timestamp().describe('In real time.'),
  sandbox: z.string().nullable().describe('The id of the sandbox; null for the whole mailbox.'),
  hasBytes: z.boolean().describe('Whether the files of mails have their bytes.'),
  losses: lossesReply().describe('How many entries of each kind the journal had dropped.'),
});

/** The first line of a trace. */
export interface TraceHeader extends OutputOf<ReturnType<typeof headerFields>> {}

const tenantFields = () => ({
  type: z.literal('tenant').describe('A tenant or a sandbox at the end, with its inboxes.'),
  name: z.string().describe('For a sandbox, the name that it was created with, if it has one.'),
  domain: z.string().nullable().describe('The domain of a sandbox; null for another tenant.'),
  addresses: z
    .record(z.string(), z.array(z.string()))
    .describe('The further addresses of inboxes that have some, by the id of the inbox.'),
});

/** What a trace has of a mail beside its entry. */
const mailFields = () => {
  const { isRead, isStarred, bouncedAt } = viewFields('summary');
  const { references, isArchived, deletedAt } = viewFields('details');
  const { links, misleadingLinks } = detailsReply().shape;
  const state = { isRead, isStarred, isArchived, deletedAt, bouncedAt, references, links, misleadingLinks };
  return { type: z.literal('mail').describe('How a mail was at the end.'), id: z.string(), ...state };
};

/** What a trace has of a delivery beside its entries: all but what was sent, and what was answered. */
const deliveryFields = () => {
  const { payload: _, ...delivery } = deliveryReply().shape;
  const { requestHeaders, requestBody, responseHeaders, responseBody, ...attempt } = attemptFields();
  return {
    ...delivery,
    type: z.literal('delivery').describe('How a delivery was at the end.'),
    messageId: z.string().describe('The id of the message that its event is about.'),
    attempts: z.array(z.strictObject(attempt)),
  };
};

/** The schema of one line of a trace. */
export const traceLine = lazy(() =>
  z.discriminatedUnion('type', [
    z.strictObject(headerFields()),
    tenantSummary().extend(tenantFields()),
    webhookWithSecret()
      .omit({ secret: true })
      .extend({ type: z.literal('webhook').describe('A webhook at the end, without its secret.') }),
    journalEntryReply().extend({ type: z.literal('entry').describe('An entry of the journal.') }),
    z.strictObject(mailFields()),
    z.strictObject(deliveryFields()),
    storyReply().extend({ type: z.literal('story').describe('What became of a mail.') }),
    sampleReply().extend({ type: z.literal('sample').describe('A sample, with what the agent did.') }),
  ]),
);

/** A line of a trace. */
export type TraceLine = z.output<ReturnType<typeof traceLine>>;

/**
 * Writes what has happened since the start or the latest reset as JSON Lines: a header, the tenants and webhooks, every
 * entry of the journal, how its mails and the deliveries are now, the stories of the latest mails, and the samples with
 * their results. Keys and secrets are masked.
 */
export function writeTrace(scope: ControlScope, { bytes = false }: TraceOptions): string {
  const { worlds, service, samplesOf } = scope;
  const { journals, worlds: whole } = service;
  const { mask } = whole;
  const header: TraceHeader = {
    type: 'trace',
    version: TRACE_VERSION,
    writtenBy: { name: NAME, version: VERSION },
    writtenAt: whole.environment.realNow().toISOString(),
    sandbox: worlds.sandboxId ?? null,
    hasBytes: bytes,
    losses: readLosses(journals, worlds),
  };
  const entries = readJournal(journals, worlds, {});
  const evidence = withCachedJournal(evidenceOf(scope));
  const mails = entries.filter((entry) => entry.kind === 'mail-received' || entry.kind === 'mail-sent');
  const samples = () => samplesOf.in(worlds.withoutSandboxes()).flatMap(({ list }) => list);
  const sandboxes = worlds.all().filter((world) => !worlds.withoutSandboxes().includes(world));
  // What a sandbox did is judged by its own entries, as in the sandbox itself.
  const samplesIn = (sandbox: World) => {
    const journal: Evidence['journal'] = (query) =>
      evidence.journal(query).filter(({ tenantId }) => tenantId === sandbox.id);
    return showSamples({ ...evidence, journal, samples: () => samplesOf(sandbox).list });
  };
  const lines = [
    header,
    ...worlds.all().map((world) => ({ type: 'tenant', ...showTenantAtEnd(worlds, world) })),
    ...createWebhookControls(scope)
      .webhooks()
      .map(({ secret: _, ...webhook }) => ({ type: 'webhook', ...webhook })),
    ...entries.map((entry) => ({ type: 'entry', ...(bytes ? entry : withoutContent(entry)) })),
    ...mails.flatMap(({ tenantId, data }) => {
      const message = worlds.get(tenantId ?? '')?.messages.get(data.mail.id);
      return message ? { type: 'mail', ...showMailAtEnd(message) } : [];
    }),
    ...createDeliveryControls(scope)
      .deliveries()
      .map((delivery) => ({ type: 'delivery', ...showDeliveryAtEnd(delivery) })),
    ...mails.slice(-MAX_STORIES).map(({ data }) => ({ type: 'story', ...tellStory(scope, data.mail.id, evidence) })),
    ...[...showSamples({ ...evidence, samples }), ...sandboxes.flatMap(samplesIn)].map((sample) => ({
      type: 'sample',
      ...sample,
    })),
  ];
  return lines.map((line) => `${JSON.stringify(mask.deep(line))}\n`).join('');
}

function showTenantAtEnd(worlds: ReachableWorlds, world: World) {
  const sandbox = worlds.sandboxOf(world);
  const tenant = showTenant(world, sandbox !== undefined);
  const addresses: Record<string, string[]> = {};
  for (const { inboxId, address } of world.addresses.all()) {
    addresses[inboxId] = [...(addresses[inboxId] ?? []), address];
  }
  return { ...tenant, name: sandbox?.name ?? tenant.name, domain: sandbox?.domain ?? null, addresses };
}

function showMailAtEnd(message: MessageRow) {
  const { id, isRead, isStarred, isArchived, deletedAt, bouncedAt, references } = message;
  const links = linksOf(message);
  const misleadingLinks = misleadingLinksOf(message);
  return { id, isRead, isStarred, isArchived, deletedAt, bouncedAt, references, links, misleadingLinks };
}

function showDeliveryAtEnd({ payload, attempts, ...delivery }: Delivery) {
  return {
    ...delivery,
    messageId: String(payload.messageId),
    attempts: attempts.map(({ requestHeaders, requestBody, responseHeaders, responseBody, ...attempt }) => attempt),
  };
}

/** Returns an entry without the bytes of files. */
function withoutContent(entry: JournalEntry): JournalEntry {
  if (!('mail' in entry.data)) return entry;
  const { mail, ...others }: JournalMail = entry.data;
  const { headers, attachments, ...texts } = mail;
  const files = attachments.map(({ id, filename, contentType, sizeBytes }) => ({
    id,
    filename,
    contentType,
    sizeBytes,
    content: '',
  }));
  return { ...entry, data: { ...others, mail: { ...texts, headers, attachments: files } } } as JournalEntry;
}
