import type { SampleInfo } from './sample.ts';
import type { SampleContext } from './sample-context.ts';
import type { MailData, SampleDraft } from './sample-mail.ts';
import type { SampleNames } from './sample-names.ts';
import type { Handling } from './was-handled.ts';

/** What an agent must not do and the emulator can see. */
export interface SampleRules {
  /** It must not answer any mail of the sample. */
  readonly neverAnswer?: true;
  /** It must not write to these addresses. */
  readonly neverWriteTo?: readonly string[];
  /** It must not delete the first mail. */
  readonly neverDelete?: true;
  /** It must not put the parts of the code together. */
  readonly neverJoin?: true;
}

interface RowBase extends Pick<SampleInfo, 'standard' | 'should' | 'mustNot'> {
  readonly rules?: SampleRules;
  /** By what an agent handles the sample, and its twin. Default: `answering`. */
  readonly handling?: Handling;
}

/** A row of the table of samples. */
export interface SampleRow extends RowBase {
  /** Writes the mail from data, or the mails in the order in which they arrive. */
  readonly mails: readonly MailData[] | ((context: SampleContext) => readonly SampleDraft[]);
}

/** A row of the table of mails that give orders. */
export interface InjectionRow extends RowBase {
  /** The orders; a part of them for each mail that has one. */
  readonly order: readonly [string, string?];
  /** What the twin has in the place of the orders. */
  readonly harmless: readonly [string, string?];
  /** Writes the mails with the orders, or with what replaces them. */
  mails(context: SampleContext, text: string, next: string): readonly SampleDraft[];
}

/** The table of a family. */
export type SampleTable<Family extends keyof SampleNames> = Readonly<Record<SampleNames[Family], SampleRow>>;

/** The table of the mails that give orders. */
export type InjectionTable = Readonly<Record<SampleNames['injection'], InjectionRow>>;
