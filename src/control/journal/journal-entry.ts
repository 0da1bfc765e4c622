import { z } from 'zod';
import { type InputOf, lazy } from '../../basics/lazy-schema.ts';
import { timestamp } from '../../contract/schemas.ts';
import type {
  BounceDetails,
  MailSource,
  PlainEntryData,
  ProtocolPart,
  RecipientRoute,
  ShownPart,
} from '../../service/journal/entry-data.ts';
import { ENTRY_KINDS, type EntryKind } from '../../service/journal/entry-kinds.ts';
import type { Mail } from '../../service/mail/show-mail.ts';
import type { RequestEntry } from './request-entry.ts';

/** A mail as it was when it arrived, was sent, or bounced. Its bytes are base64. */
export interface JournalMail {
  /** What caused the mail. */
  readonly source: MailSource;
  /** Only for a sent mail: where it goes for each recipient. */
  readonly routes?: readonly RecipientRoute[];
  /** Only for a sent mail that forwards another: the Message-ID of that mail. */
  readonly forwardOf?: string;
  /** Only for a bounce with a report in the inbox. */
  readonly bounce?: BounceDetails;
  /** The id of the event, as deliveries have it. */
  readonly eventId: string;
  /** The canonical address of the inbox; an empty text if there is no such inbox. */
  readonly inbox: string;
  /** The mail. */
  readonly mail: Omit<Mail, 'problems' | 'streams'>;
  /** True if the journal has dropped the bytes of the mail; left out if it has them. */
  readonly lacksBytes?: true;
}

/**
 * A request or command that named some mails, or whose reply showed parts of them that no reply had shown before. Later
 * requests that show nothing more of these mails have no such entry.
 */
export type MailRead = ProtocolPart & {
  /** The id of the request, such as `req_12`. The journal may have dropped the request itself. */
  readonly request: string;
  /** The path without the query; for IMAP the folder. */
  readonly path: string;
  /** What the reply showed of each mail; empty if the request only named the mails. */
  readonly parts: readonly ShownPart[];
  /** The ids of the mails of which this is new. */
  readonly messageIds: readonly string[];
  /** The ids of the files whose bytes the reply showed. */
  readonly attachmentIds: readonly string[];
};

/** A failure of the emulator itself, or of the code of a correspondent. */
export interface FailureMessage {
  /** What failed: the emulator, because of a bug in it, or the code of a correspondent that a test gave. */
  readonly failed: 'emulator' | 'correspondent';
  /** The message of the error. */
  readonly error: string;
}

/** What a journal entry says, by its kind. */
export interface JournalData extends PlainEntryData {
  /** A mail that was there when the epoch began, such as a mail of the fixture. */
  'mail-at-start': JournalMail;
  /** A mail that arrived in an inbox. */
  'mail-received': JournalMail;
  /** A mail that an inbox sent. */
  'mail-sent': JournalMail;
  /** A mail of an inbox that bounced. */
  'mail-bounced': JournalMail;
  /** An event that a test triggered. A mail with its id need not exist. */
  'mail-triggered': JournalMail;
  /** A request of the API. */
  request: RequestEntry;
  /** A command of SMTP or IMAP. */
  'mail-command': RequestEntry;
  /**
   * A request or a command that was to change something and that the service or a fault refused. It is a `request` or a
   * `mail-command`, too; this entry is kept as long as mail, so that many other requests do not push it out.
   */
  'refused-request': RequestEntry;
  /** The first request or command that named some mails, or whose reply showed a part of them. */
  read: MailRead;
  /** A failure of the emulator itself, or of the code of a correspondent. */
  failure: FailureMessage;
}

/** The number of an entry, and its owner. */
export interface EntryReference {
  /** The id of the tenant or the sandbox; null for the mailbox. */
  readonly tenantId: string | null;
  /** Its number among the entries of its owner. */
  readonly number: number;
}

/** The fields that every entry has, whatever its kind. */
export interface EntryFields<Kind extends EntryKind = EntryKind> extends EntryReference {
  /** When it happened: ISO 8601 UTC, by the clock of the tenant. */
  readonly at: string;
  /** When it happened, in real time. */
  readonly realTime: string;
  /** What happened. */
  readonly kind: Kind;
  /**
   * What led to it; null if that is not known, or belongs to another sandbox. The feed does not know it yet while the
   * request that led to it goes on.
   */
  readonly cause: EntryReference | null;
}

/**
 * Something that happened. The journal drops its oldest entries when it is full, and a second reset removes the entries
 * of the epoch before the former one. An entry does not change, except that the journal may drop the bytes of its mail.
 */
export type JournalEntry<Kind extends EntryKind = EntryKind> = {
  readonly [Each in Kind]: EntryFields<Each> & {
    /** The details, which depend on the kind. */
    readonly data: JournalData[Each];
  };
}[Kind];

const KINDS = Object.keys(ENTRY_KINDS) as EntryKind[];
const KIND_RULE = `must be kinds of entries: ${KINDS.join(', ')}`;

const kindField = () => z.enum(KINDS, KIND_RULE);

const queryFields = () => ({
  /** Only entries of these kinds. Default: every kind except `mail-at-start` and `refused-request`. */
  kinds: z.array(kindField(), KIND_RULE).optional(),
  /**
   * `present`: the time since the start, or since the latest reset or restore. `former`: the epoch before it. Default:
   * `present`.
   */
  epoch: z.enum(['present', 'former'], 'must be present or former').optional(),
});

/** The schema of a journal query. */
export const journalQuery = lazy(() => z.strictObject(queryFields(), 'must be an object'));

/** The schema of a journal query in a URL, where the kinds are one text with commas. */
export const journalUrlQuery = () =>
  journalQuery().extend({
    kinds: z
      .string()
      .transform((kinds) => kinds.split(',').map((kind) => kind.trim()))
      .pipe(z.array(kindField(), KIND_RULE))
      .describe(
        'Kinds of entries, with commas between them. Default: every kind except mail-at-start and refused-request.',
      )
      .optional(),
  });

/** Selects entries of the journal. */
export type JournalQuery = InputOf<ReturnType<typeof queryFields>>;

const referenceFields = () => ({ tenantId: z.string().nullable(), number: z.int() });

/** The schema of a journal entry. */
export const journalEntryReply = lazy(() =>
  z.strictObject({
    ...referenceFields(),
    at: timestamp().describe("By the tenant's clock."),
    realTime: timestamp(),
    kind: kindField(),
    cause: z
      .strictObject(referenceFields())
      .nullable()
      .describe('What led to it; null if that is not known, or belongs to another sandbox.'),
    data: z.looseObject({}).describe('The details, which depend on the kind.'),
  }),
);

/** The schema of how many entries were dropped. */
export const lossesReply = lazy(() =>
  z.partialRecord(kindField(), z.strictObject({ count: z.int().min(1), until: timestamp() })),
);

/** How many entries of a kind were dropped. */
export interface JournalLoss {
  /** Their number: at least 1. */
  readonly count: number;
  /** When the last of them happened, in real time: ISO 8601 UTC. */
  readonly until: string;
}

/** How many entries of each kind were dropped; without a field for a kind that is complete. */
export type JournalLosses = { readonly [Kind in EntryKind]?: JournalLoss };
