import type { Assume, BehaviourReader } from '../../../contract/behaviours.ts';
import { MAX_SUBJECT_LENGTH } from '../../../contract/schemas.ts';
import type { MessageRow } from '../../../world/store/rows.ts';
import { escapeHtml, toHtml } from '../html.ts';

/** The subject and the text that the sender adds to a forwarded message. */
interface ForwardNote {
  readonly subject?: string | null | undefined;
  readonly plainBody: string;
  readonly htmlBody: string | null;
}

type Forward = Pick<MessageRow, 'subject' | 'plainBody' | 'htmlBody'>;

/** Composes the subject and the bodies of a forwarded message: the sender's note, then the original with its header. */
export function composeForward(
  original: MessageRow,
  note: ForwardNote,
  { readBehaviour, assume }: BehaviourReader,
): Forward {
  const subject = note.subject ?? forwardSubject(original, assume);
  const { plainBody, htmlBody } = BODIES[readBehaviour('sending.forward.body')](original, note);
  return { subject, plainBody, htmlBody };
}

function forwardSubject({ subject }: MessageRow, assume: Assume): string {
  assume('sending.reply.subject');
  return /^fwd?:/i.test(subject) ? subject : `Fwd: ${subject}`.slice(0, MAX_SUBJECT_LENGTH);
}

const BODIES = {
  original: (original: MessageRow, note: ForwardNote) => ({
    plainBody: plainForward(original, note),
    htmlBody: original.htmlBody === null && note.htmlBody === null ? null : htmlForward(original, note),
  }),
  'as-sent': (_: MessageRow, { plainBody, htmlBody }: ForwardNote) => ({ plainBody, htmlBody }),
};

const SEPARATOR = '---------- Forwarded message ----------';

function headerLinesOf({ from, to, subject, receivedAt }: MessageRow): string[] {
  return [SEPARATOR, `From: ${from}`, `Date: ${receivedAt}`, `Subject: ${subject}`, `To: ${to.join(', ')}`];
}

function plainForward(original: MessageRow, { plainBody }: ForwardNote): string {
  const parts = [plainBody, headerLinesOf(original).join('\n'), original.plainBody];
  return parts.filter((part) => part !== '').join('\n\n');
}

function htmlForward(original: MessageRow, { plainBody, htmlBody }: ForwardNote): string {
  return [
    htmlBody ?? toHtml(plainBody),
    `<p>${headerLinesOf(original).map(escapeHtml).join('<br>')}</p>`,
    original.htmlBody ?? toHtml(original.plainBody),
  ].join('\n');
}
