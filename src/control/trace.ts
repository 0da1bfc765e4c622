import { z } from 'zod';
import { lazy, type OutputOf } from '../basics/lazy-schema.ts';
import { NAME, VERSION } from '../basics/version.ts';
import { timestamp } from '../contract/schemas.ts';
import type { ControlScope } from './control-scope.ts';
import { type JournalEntry, type JournalMail, journalEntryReply, lossesReply } from './journal/journal-entry.ts';
import { showTenants, tenantSummary } from './journal/mail-inspection.ts';
import { readJournal, readLosses } from './journal/read-journal.ts';
import { sampleReply, showSamples } from './samples/delivered-samples.ts';
import { withCachedJournal } from './verdicts/evidence.ts';
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

/** The schema of one line of a trace: the header, a tenant, an entry of the journal, the story of a mail, or a sample. */
export const traceLine = lazy(() =>
  z.discriminatedUnion('type', [
    z.strictObject(headerFields()),
    tenantSummary().extend({
      type: z.literal('tenant').describe('A tenant or a sandbox at the end, with its inboxes.'),
      name: z.string().describe('For a sandbox, the name that it was created with, if it has one.'),
      domain: z.string().nullable().describe('The domain of a sandbox; null for another tenant.'),
    }),
    journalEntryReply().extend({ type: z.literal('entry').describe('An entry of the journal.') }),
    storyReply().extend({ type: z.literal('story').describe('What became of a mail.') }),
    sampleReply().extend({ type: z.literal('sample').describe('A sample, with what the agent did.') }),
  ]),
);

/** A line of a trace. */
export type TraceLine = z.output<ReturnType<typeof traceLine>>;

/**
 * Writes what has happened since the start or the latest reset as JSON Lines: a header, the tenants, every entry of the
 * journal, the stories of the latest mails, and the samples with their results. Keys and secrets are masked.
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
  const mails = entries.flatMap((entry) =>
    entry.kind === 'mail-received' || entry.kind === 'mail-sent' ? entry.data.mail.id : [],
  );
  const tenants = showTenants(worlds).map((tenant) => {
    const world = worlds.get(tenant.id);
    const sandbox = world && worlds.sandboxOf(world);
    const name = sandbox?.name ?? tenant.name;
    return { ...tenant, name, domain: sandbox?.domain ?? null };
  });
  const samples = () => samplesOf.in(worlds.ownWorlds()).flatMap(({ list }) => list);
  const lines = [
    header,
    ...tenants.map((tenant) => ({ type: 'tenant', ...tenant })),
    ...entries.map((entry) => ({ type: 'entry', ...(bytes ? entry : withoutContent(entry)) })),
    ...mails.slice(-MAX_STORIES).map((id) => ({ type: 'story', ...tellStory(scope, id, evidence) })),
    ...showSamples({ ...evidence, samples }).map((sample) => ({ type: 'sample', ...sample })),
  ];
  return lines.map((line) => `${JSON.stringify(mask.deep(line))}\n`).join('');
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
