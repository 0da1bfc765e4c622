import { MAX_KEPT_BYTES } from '../../service/pipeline/reply.ts';
import { isMasked } from '../../world/secrets/secret-forms.ts';
import type { JournalMail } from '../journal/journal-entry.ts';
import type { RequestEntry } from '../journal/request-entry.ts';
import { MAX_HEADER_LENGTH } from '../journal/show-request.ts';

/** What the journal lacks of a value: all of it, the rest behind what it keeps, or secrets, which are masked. */
export type Lack = 'all' | 'rest' | 'secrets';

/** Stands for a value that was there and that the journal did not keep. */
export const NOT_KEPT = Symbol('not kept');

/** What a mask leaves within a text. A `…` alone is not enough, because people write it, too. */
const MASKED_PART = /(?<![a-z0-9])(?:sa|tk|wk|ak)_[\w-]{0,5}…|whsec_…|\(hidden\)|["'=:]…|\/\/…@|(?:Kioq){2}/i;

/** Returns what a text lacks that was masked: nothing, or secrets. */
export function lackOfMasked(text: string): Lack[] {
  return isMasked(text) || MASKED_PART.test(text) ? ['secrets'] : [];
}

/** Returns what the value of a header lacks. */
export function lackOfHeader(value: string): Lack[] {
  return value.length >= MAX_HEADER_LENGTH ? ['rest', ...lackOfMasked(value)] : lackOfMasked(value);
}

/** Returns whether the journal has only the start of the body of a request, or nothing of it. */
export function isBodyCut({ request }: Pick<RequestEntry, 'request'>): boolean {
  return request.bodyBytes === null || request.bodyBytes > MAX_KEPT_BYTES;
}

/**
 * Returns whether the journal has dropped what a mail consists of besides its fields: files, or header fields of a mail
 * that a program wrote itself.
 */
export function lacksParts({ lacksBytes, mail, source }: JournalMail): boolean {
  return lacksBytes === true && (mail.attachments.length > 0 || source !== 'request');
}

/** Returns whether a text may be the whole of which this was kept. */
export function mayBeWhole(text: string, kept: string, lack: Lack): boolean {
  if (lack === 'all') return true;
  if (lack === 'rest') return text.length > kept.length && text.startsWith(kept);
  if (text === kept) return true;
  const [start = '', ...rest] = kept.split(/…|\(hidden\)|(?:Kioq)+/);
  const end = rest.at(-1) ?? '';
  return text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end);
}
