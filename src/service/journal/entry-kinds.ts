import type { Entry as AnyEntry, KindRows } from '../../world/journal/entry.ts';
import { sizeInMemory, sizeOfMailRow } from '../../world/store/database.ts';
import type { AttemptExchange, Change, EntryData, KeptRequest, MailEvent } from './entry-data.ts';

/** The approximate size of an entry without its texts, in bytes. */
const ENTRY_BYTES = 512;

/** The size of an entry whose texts are always short. */
const small = () => ENTRY_BYTES;

/** The size of an entry that may hold much: the row of a draft, the answers of a correspondent, or the ids of many mails. */
const withTexts = (data: object) => ENTRY_BYTES + sizeInMemory(data);

function ofRequest({ requestBody, reply }: KeptRequest): number {
  return 2 * ENTRY_BYTES + (requestBody.start?.byteLength ?? 0) + (reply.body?.length ?? 0);
}

function ofAttempt({ responseBody, thrown }: AttemptExchange): number {
  return ENTRY_BYTES + responseBody.length + (thrown?.length ?? 0);
}

function ofMail({ message, attachments }: MailEvent): number {
  return attachments.reduce((sum, file) => sum + sizeOfMailRow(file), sizeOfMailRow(message));
}

/** Returns a mail without its bytes; undefined if it has none. */
function shrinkMail(event: MailEvent): MailEvent | undefined {
  const { message, attachments } = event;
  if (message.raw === null && attachments.every(({ content }) => content.byteLength === 0)) return undefined;
  const none = new Uint8Array(0);
  return Object.freeze({
    ...event,
    message: { ...message, raw: null },
    attachments: attachments.map((file) => ({ ...file, content: none })),
    lacksBytes: true,
  });
}

/** Returns a change without the bytes of its row; undefined if the row has none. */
function shrinkChange(change: Change): Change | undefined {
  const { row } = change;
  if (!(row && 'raw' in row && row.raw)) return undefined;
  return Object.freeze({ ...change, row: Object.freeze({ ...row, raw: null }) });
}

/** A mail is found by its Message-ID, because an answer names it so. */
const byMessageId = ({ message }: MailEvent) => message.messageIdHeader;

/**
 * Every kind of entry: what the journal keeps of it, and for how long. How a kind is shown, `SHOWN_KINDS` of
 * `control/journal/shown-kinds.ts` says.
 */
export const ENTRY_KINDS = {
  'mail-at-start': { keptAs: 'story', sizeOf: small, isInFeed: false, endsWithEpoch: true },
  'mail-received': {
    keptAs: 'story',
    sizeOf: ofMail,
    shrink: shrinkMail,
    keyOf: byMessageId,
    isInFeed: true,
    endsWithEpoch: true,
  },
  'mail-sent': {
    keptAs: 'story',
    sizeOf: ofMail,
    shrink: shrinkMail,
    keyOf: byMessageId,
    isInFeed: true,
    endsWithEpoch: true,
  },
  'mail-bounced': { keptAs: 'story', sizeOf: ofMail, shrink: shrinkMail, isInFeed: false, endsWithEpoch: true },
  'mail-triggered': { keptAs: 'story', sizeOf: ofMail, shrink: shrinkMail, isInFeed: false, endsWithEpoch: true },
  'mail-held': { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: true },
  request: { keptAs: 'requests', sizeOf: ofRequest, isInFeed: true, endsWithEpoch: true },
  'mail-command': { keptAs: 'requests', sizeOf: ofRequest, isInFeed: true, endsWithEpoch: true },
  refusal: { keptAs: 'traffic', sizeOf: small, isInFeed: false, endsWithEpoch: true },
  'refused-request': { keptAs: 'story', sizeOf: ofRequest, isInFeed: false, endsWithEpoch: true },
  read: { keptAs: 'story', sizeOf: withTexts, isInFeed: false, endsWithEpoch: true },
  change: { keptAs: 'story', sizeOf: withTexts, shrink: shrinkChange, isInFeed: false, endsWithEpoch: true },
  'delivery-created': { keptAs: 'traffic', sizeOf: small, isInFeed: true, endsWithEpoch: true },
  'delivery-released': { keptAs: 'traffic', sizeOf: small, isInFeed: true, endsWithEpoch: true },
  attempt: { keptAs: 'traffic', sizeOf: ofAttempt, isInFeed: true, endsWithEpoch: true },
  'delivery-ended': { keptAs: 'traffic', sizeOf: small, isInFeed: true, endsWithEpoch: true },
  'stream-opened': { keptAs: 'traffic', sizeOf: small, isInFeed: true, endsWithEpoch: true },
  'stream-closed': { keptAs: 'traffic', sizeOf: small, isInFeed: true, endsWithEpoch: true },
  frame: { keptAs: 'traffic', sizeOf: small, isInFeed: false, endsWithEpoch: true },
  'agent-done': { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false },
  correspondent: { keptAs: 'story', sizeOf: withTexts, isInFeed: false, endsWithEpoch: true },
  sample: { keptAs: 'story', sizeOf: withTexts, isInFeed: false, endsWithEpoch: true },
  fault: { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false },
  clock: { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false, isForAllTenants: true },
  sandbox: { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false },
  checkpoint: { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false },
  key: { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false },
  journal: { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false, isForAllTenants: true },
  messages: { keptAs: 'story', sizeOf: withTexts, isInFeed: true, endsWithEpoch: false },
  behaviours: { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false, isForAllTenants: true },
  reset: { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false },
  failure: { keptAs: 'story', sizeOf: small, isInFeed: true, endsWithEpoch: false },
} as const satisfies KindRows<EntryData>;

/** A kind of entry. */
export type EntryKind = keyof typeof ENTRY_KINDS;

/** A kind of entry that the live feed has. */
export type FeedKind = {
  [Kind in EntryKind]: (typeof ENTRY_KINDS)[Kind]['isInFeed'] extends true ? Kind : never;
}[EntryKind];

/** Something that happened. An entry never changes. */
export type Entry<Kind extends EntryKind = EntryKind> = AnyEntry<Kind, EntryData[Kind]>;

/** An entry of one of some kinds; `kind` says which. */
export type EntryOf<Kind extends EntryKind = EntryKind> = { [Each in Kind]: Entry<Each> }[Kind];

/** The kinds of an event about a mail. A `mail-at-start` is not among them: its mail was there already. */
export const MAIL_ENTRY_KINDS = ['mail-received', 'mail-sent', 'mail-bounced', 'mail-triggered'] as const;

/** A kind in `MAIL_ENTRY_KINDS`. */
export type MailEntryKind = (typeof MAIL_ENTRY_KINDS)[number];

/** Returns whether an entry is of one of these kinds. */
export function isEntryOf<Kind extends EntryKind>(entry: AnyEntry, ...kinds: readonly Kind[]): entry is EntryOf<Kind> {
  return (kinds as readonly string[]).includes(entry.kind);
}

/** Returns the ids of the deliveries that were created, each once. */
export function deliveryIdsIn(entries: readonly AnyEntry[]): string[] {
  const ids = entries.flatMap((entry) => (isEntryOf(entry, 'delivery-created') ? entry.data.deliveryId : []));
  return [...new Set(ids)];
}
