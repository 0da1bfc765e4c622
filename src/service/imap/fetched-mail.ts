import type { ShownPart } from '../journal/entry-data.ts';
import type { MailPart } from '../mail/mime/split-parts.ts';
import type { ImapInbox } from './imap-inbox.ts';
import type { MailReader, MailSource } from './mail-reader.ts';

/** A mail that a FETCH reads. */
export interface FetchedMail {
  readonly source: MailSource;
  readonly inbox: ImapInbox;
  readonly reader: MailReader;
  /** Its flags as the reply shows them. */
  readonly flags: string;
  /** The names of the header fields that the items of the FETCH select, in lower case. */
  readonly fieldNames: ReadonlySet<string>;
  /** Where these fields are, by the header that was searched for them. */
  readonly fields: Map<number, FieldPlace[]>;
  /** Its parts that contain no parts, after they were listed. */
  leaves?: readonly MailPart[];
  /** What the items that were written so far show of the mail. */
  readonly shown: { readonly parts: Set<ShownPart>; readonly attachmentIds: Set<string> };
}

/** Where a header field is in a mail. */
export interface FieldPlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Finds a part by its numbers, such as `1.2` for the second part of the first part. If a mail or a part contains no
 * parts, its part 1 is itself.
 */
export function findPart(root: MailPart, numbers: readonly number[]): MailPart | undefined {
  let found: MailPart | undefined;
  let container: MailPart | undefined = root;
  for (const number of numbers) {
    const isWhole: boolean = container?.type !== 'multipart' && number === 1;
    found = isWhole ? container : container?.parts[number - 1];
    container = found?.message ?? (isWhole ? undefined : found);
  }
  return found;
}
