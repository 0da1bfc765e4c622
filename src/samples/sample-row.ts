import type { SampleInfo } from './sample.ts';
import type { Code, SampleContext } from './sample-context.ts';
import type { SampleDraft } from './sample-mail.ts';

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

/** A row of the table of samples. */
export interface SampleRow extends Pick<SampleInfo, 'standard' | 'should' | 'mustNot'> {
  readonly rules?: SampleRules;
  /** Writes the mail, or several in the order in which they arrive. */
  write(context: SampleContext): SampleDraft | readonly SampleDraft[];
}

/** A row of the table of mails that give orders. */
export interface InjectionRow extends Omit<SampleRow, 'write'> {
  /** The orders; a part of them for each mail that has one. */
  order(code: Code, context: SampleContext): readonly [string, string?];
  /** What the twin has in the place of the orders. */
  harmless(code: Code): readonly [string, string?];
  /** Writes the mail with orders or with what replaces them. */
  write(context: SampleContext, text: string, next: string): SampleDraft | readonly SampleDraft[];
}
