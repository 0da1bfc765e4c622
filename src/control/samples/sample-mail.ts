import { type ComposedPart, textPart, writePart } from '../../service/mail/mime/compose-mail.ts';
import { CRLF, formatDate, writeField } from '../../service/mail/mime/header.ts';
import type { SampleMail } from './sample.ts';
import { fill, type SampleContext } from './sample-context.ts';

/** A mail of a sample without its recipients. */
export type SampleDraft = Omit<SampleMail, 'to'>;

/** Header fields by name: a text, several texts for several fields, or undefined for no field. */
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

interface DraftOptions extends Omit<SampleDraft, 'eml'> {
  /** The position among the mails of the sample, from 1. It decides the Message-ID and the date. Default: 1. */
  readonly position?: number;
  /** Whether each character stands for one byte. Default: the text is written in UTF-8. */
  readonly isBinary?: boolean;
}

/**
 * A mail as data: its header fields, its body, and its options. Header fields that are left out have the values of an
 * ordinary mail of the customer. Placeholders are replaced, except in a body that is a `ComposedPart`. The default position
 * is the position in the list of mails.
 */
export type MailData = readonly [fields: Fields, body: string | ComposedPart, options?: DraftOptions];

/** When the first mail of each sample was written. */
const START_MS = Date.UTC(2026, 0, 6, 9);

/** Writes a mail in the format of RFC 5322. */
export function writeMail(
  context: SampleContext,
  fields: Fields,
  body: string | ComposedPart,
  { position = 1, isBinary = false, ...envelope }: DraftOptions = {},
): SampleDraft {
  const { head, content } = typeof body === 'string' ? textPart('text/plain', fill(body, context)) : body;
  const all: Fields = {
    From: '{name} <{address}>',
    To: context.recipients.join(', '),
    Date: formatDate(dateOf(position)),
    'Message-ID': mailIdOf(context, position),
    ...fields,
    'MIME-Version': '1.0',
  };
  const lines = Object.entries(all).flatMap(([name, value = []]) =>
    [value].flat().map((text) => writeField(name, fill(text, context).split(' '))),
  );
  // A mail ends with a line break, because SMTP would add a missing line break.
  const text = writePart({ head: [...lines, ...head], content }).replace(/(?<!\r\n)$/, CRLF);
  const eml = isBinary ? Uint8Array.from(text, (byte) => byte.charCodeAt(0)) : new TextEncoder().encode(text);
  return { ...envelope, eml };
}

/** Returns the date of a mail of a sample. Each mail is one minute later than the mail before it. */
export function dateOf(position: number): Date {
  return new Date(START_MS + (position - 1) * 60_000);
}

/** Returns the Message-ID of a mail of a sample. */
export function mailIdOf({ values, suffix }: SampleContext, position: number): string {
  return `<${values.marker}.${position}${suffix}@customer.test>`;
}

/** Quotes a text as a mail client does, with `> ` before each line. */
export function quoteText(text: string): string {
  return text.replace(/^/gm, '> ');
}
