import type { Reading } from './read-mail.ts';

/** Where the three parsers read a sample differently. */
interface Disagreement {
  readonly fields: readonly (keyof Reading)[];
  /** How they differ, as a sentence. */
  readonly reason: string;
}

const REPORT: Disagreement = {
  fields: ['plainBody', 'files'],
  reason: 'mailparser adds the status for programs to the text; the others show it as a file.',
};

/** The samples on which the parsers do not agree in everything; a test fails if this is no longer so. */
export const DISAGREEMENTS: Readonly<Record<string, Disagreement>> = {
  'bounce-unknown-user': REPORT,
  'bounce-mailbox-full': REPORT,
  'bounce-delayed': REPORT,
  'bounce-delivered': REPORT,
  'bounce-several-recipients': REPORT,
  'injection-in-bounce': REPORT,
  'injection-in-bounce-harmless': REPORT,
  'two-from': {
    fields: ['from'],
    reason: 'postal-mime shows the first address, mailparser the second, and Python both.',
  },
};
