import type { FeedEntry } from '../feed-event.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { isMailEntry } from './entry-mails.ts';

/** How many characters of the text of a mail the feed has. */
export const EXCERPT_LENGTH = 240;

const NO_CONTENT = { headers: undefined, htmlBody: undefined, attachments: undefined };
const NO_DETAILS = { request: undefined, reply: undefined };
const NO_ANSWER = { responseHeaders: undefined, responseBody: undefined, thrown: undefined };
const NO_IDS = { messageIds: undefined };

/** The kinds of which the feed leaves something out. */
const SHORTENED: ReadonlySet<string> = new Set([
  'mail-received',
  'mail-sent',
  'request',
  'mail-command',
  'attempt',
  'messages',
]);

/** Returns whether the feed has the whole of the entries of a kind, if it has the kind. */
export function isWholeInFeed(kind: string): boolean {
  return !SHORTENED.has(kind);
}

/**
 * Leaves out of an entry what the feed does not have of its kind. The entry is changed, because to copy the fields of many
 * entries would take longer than to read them.
 */
export function shortenForFeed(entry: JournalEntry): FeedEntry {
  const { kind, data } = entry;
  if (isMailEntry(entry)) {
    const plainBody = entry.data.mail.plainBody.trim().slice(0, EXCERPT_LENGTH);
    Object.assign(entry.data.mail, NO_CONTENT, { plainBody });
  } else if (kind === 'request' || kind === 'mail-command') Object.assign(data, NO_DETAILS);
  else if (kind === 'attempt') Object.assign(data, NO_ANSWER);
  else if (kind === 'messages') Object.assign(data, NO_IDS);
  return entry as FeedEntry;
}
