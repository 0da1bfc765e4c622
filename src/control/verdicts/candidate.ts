import type { JournalEntry } from '../journal/journal-entry.ts';
import type { PlusTags } from './addresses.ts';
import type { MailText } from './mail-text.ts';
import type { Lack } from './not-kept.ts';

/** A mail that was sent, as the journal has it. */
export type SentMail = JournalEntry<'mail-sent'>;

/** A field of a candidate. */
export interface CandidateField {
  /** The value that a failure shows. */
  readonly shown: unknown;
  /** The values to compare. One of them must be as expected. Default: only `shown`. */
  readonly options?: readonly unknown[];
  /**
   * The addresses to compare. `some`: each expected address must be among them. `all`: each of them must also be expected.
   */
  readonly addresses?: {
    readonly list: readonly string[];
    readonly mustBe: 'some' | 'all';
    readonly plusTags: PlusTags;
  };
  /** The texts in which the expected text must be found, and whether all of them were kept. */
  readonly texts?: () => { readonly list: readonly MailText[]; readonly isWhole: boolean };
  /** Returns what a text of the field lacks. Default: nothing. */
  readonly lackOf?: ((text: string) => readonly Lack[]) | undefined;
}

/** Something that happened and that a matcher compares with what is expected. */
export interface Candidate {
  /** The name of the candidate in the message of a failure. */
  readonly label: string;
  /** A hint for the message of a failure. It is shown if this candidate is the most similar one. */
  readonly hint?: string | undefined;
  readonly fields: Readonly<Record<string, CandidateField>>;
  /** What it was before it was changed, the latest first. It matches also if it once did. */
  readonly former?: readonly Pick<Candidate, 'label' | 'fields'>[];
  /** Other forms of the fields that say the same. */
  readonly alike?: readonly Candidate['fields'][];
  /** Whether the request was refused, and how: its status, or the result of a command. */
  readonly refusedWith?: string | number | undefined;
  /** The mail, if the candidate is a sent mail. */
  readonly mail?: SentMail;
}

/** The expected fields, by name. */
export type Expected = Readonly<Record<string, unknown>>;
