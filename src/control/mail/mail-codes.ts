import { readHtml } from '../../service/mail/html-text.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import { linksOf } from './mail-links.ts';

/** The parts of a mail in which a code or a link is searched. */
type SearchedMail = Pick<MessageRow, 'subject' | 'plainBody' | 'htmlBody'>;

/** How many characters of a text are searched for codes. */
const MAX_SEARCHED = 200_000;

/**
 * A text that may be a code: digits, or letters and digits, also in two groups; no part of a number, a date, a price, an
 * address or a URL. Each part has a fixed maximum.
 */
const CANDIDATE =
  /(?<![\p{L}\p{N}_.,:/@#$€£+=?&%~-])(?:\d{3}[ -]\d{3,4}|[A-Z\d]{4}-[A-Z\d]{4}|[A-Z]{1,3}-\d{4,8}|\d{4,8}|(?=[A-Z]{1,9}\d|\d{1,9}[A-Z])[A-Z\d]{5,10}|(?=[a-z]{1,9}\d|\d{1,9}[a-z])[a-z\d]{5,10})(?![\p{L}\p{N}_@:/%=-]|[.,]\d)/gu;

// cspell:ignore digo codice kode koodi passwor

/** A word beside which a code stands, in several languages, but not that of another kind of code. */
const CODE_WORD =
  /(?<![\p{L}-])(?<!\b(?:zip|postal|area|country|error|status|dress) )(?:(?:pass)?code|c[oó]digo|codice|kode?|koodi|код|otp|pin|passwor[dt]|token)(?!\p{L})/giu;

/** How far a code may be behind such a word, and before it, in characters. */
const MAX_BEHIND = 120;
const MAX_BEFORE = 60;

/** How much further away than others a number counts that can be a year, and a code that has a line for itself only. */
const YEAR_PENALTY = 500;
const LINE_PENALTY = 1_000;

/**
 * Returns the code in a mail that its reader is meant to type, such as `493817`; null if there is none. A code stands
 * near a word such as "code", or has a line for itself. The nearest one counts.
 */
export function codeOf({ subject, plainBody, htmlBody }: SearchedMail): string | null {
  const texts = [subject, plainBody, htmlBody === null ? '' : readHtml(htmlBody.slice(0, MAX_SEARCHED)).shown];
  let best: { readonly code: string; readonly distance: number } | undefined;
  for (const text of texts) {
    for (const found of findCodes(text.slice(0, MAX_SEARCHED))) {
      if (best === undefined || found.distance < best.distance) best = found;
    }
  }
  // Two groups of digits are typed as one.
  return best?.code.replace(/^(\d+) (\d+)$/, '$1$2') ?? null;
}

/** Yields the codes in a text, with how far each is from a word that says so. */
function* findCodes(text: string) {
  const words = Array.from(text.matchAll(CODE_WORD), ({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
  }));
  let next = 0;
  for (const { 0: code, index: start } of text.matchAll(CANDIDATE)) {
    const end = start + code.length;
    // Both lists are in the order of the text, so each word is passed once.
    while (next < words.length && (words[next]?.start ?? 0) < start) next += 1;
    const behind = start - (words[next - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const before = (words[next]?.start ?? Number.POSITIVE_INFINITY) - end;
    let distance = Number.POSITIVE_INFINITY;
    if (behind <= MAX_BEHIND) distance = behind;
    if (before <= MAX_BEFORE) distance = Math.min(distance, before);
    if (distance === Number.POSITIVE_INFINITY && /\d/.test(code) && isAlone(text, start, end)) distance = LINE_PENALTY;
    if (/^(?:19|20)\d\d$/.test(code)) distance += YEAR_PENALTY;
    if (distance !== Number.POSITIVE_INFINITY) yield { code, distance };
  }
}

/** How many characters beside a code are looked at to find out whether it has a line for itself. */
const MARGIN = 20;

/** Returns whether a part of a text has a line for itself, apart from spaces and the marks of bold text or a quote. */
function isAlone(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(start - MARGIN, 0), start);
  const after = text.slice(end, end + MARGIN);
  const lineStart = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r'));
  const lineEnd = after.search(/[\r\n]/);
  const startsLine = (lineStart >= 0 || start <= MARGIN) && /^[ \t*_>]*$/.test(before.slice(lineStart + 1));
  const endsLine = lineEnd >= 0 || end + MARGIN >= text.length;
  return startsLine && endsLine && /^[ \t*_]*$/.test(lineEnd < 0 ? after : after.slice(0, lineEnd));
}

/** The words in the URL of a link that does something, such as to confirm an address or to log in. */
const ACTION =
  /verify|verification|confirm|activate|activation|reset|magic|log-?in|sign-?in|signup|invite|invitation|accept|auth|token|otp|code=/i;

/** The words in the URL of a link that is in many mails, and that nobody means. */
const FOOTER = /unsubscribe|opt-?out|preferences|privacy|terms|imprint/i;

/**
 * Returns the link in a mail that its reader is meant to follow; null if the mail has no link. It is the first link whose
 * URL has a word such as "verify" or "reset" or, without such a link, the first one that is not for unsubscribing.
 */
export function linkOf(mail: SearchedMail): string | null {
  const links = linksOf(mail);
  const meant = links.filter((link) => !FOOTER.test(link));
  return meant.find((link) => ACTION.test(link)) ?? meant[0] ?? links[0] ?? null;
}
