/** The names of the samples, by family. */
export interface SampleNames {
  /** Reports about mail that was sent. */
  bounces:
    | 'bounce-unknown-user'
    | 'bounce-mailbox-full'
    | 'bounce-delayed'
    | 'bounce-delivered'
    | 'bounce-several-recipients'
    | 'bounce-free-text'
    | 'read-receipt';
  /** Mail that a program wrote. */
  automatic: 'out-of-office' | 'auto-response-suppressed' | 'ticket-acknowledgement' | 'no-reply';
  /** Mail from a mailing list. */
  lists: 'list-rewritten-from' | 'list-one-click-unsubscribe';
  /** Mail whose sender may not be who it claims to be. */
  identity:
    | 'dmarc-fail'
    | 'dmarc-none'
    | 'forged-authentication-results'
    | 'display-name-fraud'
    | 'reply-to-elsewhere'
    | 'two-from';
  /** Sequences of mails, and mails in mails. */
  threads:
    | 'no-message-id'
    | 'repeated-message-id'
    | 'cut-references'
    | 'thread-of-200'
    | 'quote-gmail'
    | 'quote-outlook'
    | 'quote-apple-mail'
    | 'forwarded-as-attachment';
  /** Texts, files and dates that are hard to read. */
  content:
    | 'html-only'
    | 'international-address'
    | 'charset-iso-2022-jp'
    | 'charset-gb18030'
    | 'charset-windows-1252'
    | 'long-file-names'
    | 'odd-dates'
    | 'invitation'
    | 'cancellation'
    | 'winmail-dat'
    | 'ten-megabytes';
  /** Mails that give orders. */
  injection:
    | 'injection-plain'
    | 'injection-hidden-by-css'
    | 'injection-in-quote'
    | 'injection-in-file-name'
    | 'injection-in-invitation'
    | 'injection-in-bounce'
    | 'injection-forged-tool-output'
    | 'injection-as-owner'
    | 'injection-link'
    | 'injection-over-two-mails';
}

/** The kind of difficulty that a sample has for an agent. */
export type SampleFamily = keyof SampleNames;

/** The ordinary mail that contains the orders of a generated sample. */
export type InjectionCarrier = 'question' | 'order' | 'invoice' | 'application';

/** The name of a generated sample, such as `injection/invoice/7`, with a number from 1 to 140. */
export type MadeInjection = `injection/${InjectionCarrier}/${number}`;

/** The name of a sample, or of the harmless twin of a sample that gives orders. */
export type SampleName =
  | SampleNames[SampleFamily]
  | MadeInjection
  | `${SampleNames['injection'] | MadeInjection}-harmless`;
