import type { FeedKind } from '../../service/journal/entry-kinds.ts';
import type { EntryFields, JournalData, JournalMail } from './journal-entry.ts';
import type { RequestSummary } from './request-entry.ts';

/** A mail as the feed has it: without its headers, its HTML and its files, and with the start of its text. */
export interface FeedMail extends Omit<JournalMail, 'mail'> {
  /** The mail. Of `plainBody`, the feed has at most 240 characters. */
  readonly mail: Omit<JournalMail['mail'], 'headers' | 'htmlBody' | 'attachments'>;
}

/** The kinds of which the feed leaves something out. */
type ShortKind = 'mail-received' | 'mail-sent' | 'request' | 'mail-command' | 'attempt' | 'messages';

/** The details of an entry in the feed, by its kind: those of the journal without what may be long. */
export interface FeedData extends Pick<JournalData, Exclude<FeedKind, ShortKind>> {
  /** A mail that arrived in an inbox. */
  'mail-received': FeedMail;
  /** A mail that an inbox sent. */
  'mail-sent': FeedMail;
  /** A request of the API without its headers, query and bodies. */
  request: RequestSummary;
  /** A command of SMTP or IMAP without its text. */
  'mail-command': RequestSummary;
  /** An attempt without what the receiver answered. */
  attempt: Omit<JournalData['attempt'], 'responseHeaders' | 'responseBody' | 'thrown'>;
  /** Mail that a test removed, without the ids of the messages. */
  messages: Omit<JournalData['messages'], 'messageIds'>;
}

/** An entry as the feed has it: the entry of the journal, without what may be long. Its `data` depend on `kind`. */
export type FeedEntry<Kind extends FeedKind = FeedKind> = {
  readonly [Each in Kind]: EntryFields<Each> & {
    /** The details, which depend on the kind. API keys, secrets and passwords are masked, in mail too. */
    readonly data: FeedData[Each];
  };
}[Kind];

/** Entries that are missing here, because they are too old or were published before a restart. */
export interface FeedGap {
  /** Always `gap`. */
  readonly kind: 'gap';
  /** When the gap was found, in real time: ISO 8601 UTC. */
  readonly realTime: string;
  /** How many entries are missing; null if that is unknown. */
  readonly missed: number | null;
}

/** An event of the feed: an entry of the journal, or a gap between entries. */
export type FeedEvent = (FeedEntry | FeedGap) & {
  /** The id of the event, for `lastEventId`. */
  readonly id: string;
};

/** Where the feed starts, and whether it ends. */
export interface FeedOptions {
  /**
   * The id of the last event that the reader has; the feed continues after it. With `0`, the feed starts with the
   * oldest event that is kept. Default: only new events.
   */
  readonly lastEventId?: string | undefined;
  /** Whether to wait for new events. If `false`, the feed has only the events that are kept. Default: `true`. */
  readonly follow?: boolean | undefined;
}
