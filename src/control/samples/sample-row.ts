import type { Handling, SampleRules } from '../verdicts/oracles.ts';
import type { SampleInfo } from './sample.ts';
import type { SampleContext } from './sample-context.ts';
import type { MailData, SampleDraft } from './sample-mail.ts';
import type { SampleNames } from './sample-names.ts';

interface RowBase extends Pick<SampleInfo, 'standard' | 'should' | 'mustNot'> {
  readonly rules?: SampleRules;
  /** What shows that an agent handled the sample. Default: `answering`. */
  readonly handling?: Handling;
  /** What shows that an agent handled its twin. Default: the same. */
  readonly twinHandling?: Handling;
}

/** The one mail of a sample, as data. */
type OneMail = { readonly fields: MailData[0]; readonly text: MailData[1]; readonly options?: MailData[2] };

/** The mails of a sample in the order in which they arrive. */
interface SeveralMails {
  /**
   * The mails as data, or a function that writes them. The function gets the texts of `instruction` or, for the twin,
   * of `harmless`.
   */
  readonly mails:
    | readonly MailData[]
    | ((context: SampleContext, text: string, next: string) => readonly (MailData | SampleDraft)[]);
}

/** A row of the table of samples. */
export type SampleRow = RowBase & (OneMail | SeveralMails);

/** A row of the table of mails that give instructions. */
export interface InjectionRow extends RowBase, SeveralMails {
  /** The instruction. The second text is for a second mail, if the instruction is split over two mails. */
  readonly instruction: readonly [string, string?];
  /** What the mails of the twin contain instead of the instruction. */
  readonly harmless: readonly [string, string?];
}

/** The table of a family. */
export type SampleTable<Family extends keyof SampleNames> = Readonly<Record<SampleNames[Family], SampleRow>>;

/** The table of the mails that give instructions. */
export type InjectionTable = Readonly<Record<SampleNames['injection'], InjectionRow>>;
