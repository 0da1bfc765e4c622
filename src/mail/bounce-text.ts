import { toBareAddress } from '../contract/email-address.ts';
import type { MessageRow } from '../store/rows.ts';
import { toPlainText } from './html.ts';

/** An address that a report names. */
export interface Mention {
  /** The bare address. */
  readonly recipient: string;
  /** The status code (RFC 3463), such as `5.1.1`; `undefined` if none is next to the address. */
  readonly statusCode: string | undefined;
}

/** What a report says about a failed delivery. */
export interface FailureReport {
  /** The addresses that it names, with or without a status. */
  readonly failures: readonly Mention[];
  /** Whether the failures are the recipients that failed, and no other addresses, such as one that can help. */
  readonly isExact: boolean;
  /** The status of a recipient that has none of its own. */
  readonly statusCode: string;
}

/** The status of a failure about which a report says nothing else. */
export const UNKNOWN_STATUS = '5.0.0';

const FAILURE =
  /undeliver|(?:not|n['’]t|never) (?:be(?:en)? )?(?:\w{1,20}ly )?delivered|(?:not|n['’]t) (?:able to )?deliver\b|(?:delivery|message|mail|address\S{0,4})\b.{0,40}\bfail|failure notice|returned (?:mail|to sender)|permanent(?: fatal)? error|does(?: not|n['’]t) exist|\b(?:user|recipient|mailbox|address)\b.{0,20}\b(?:unknown|rejected|not found|unavailable)|unknown (?:user|recipient)/i;

/** Words that say whether a delivery failed for good. The first that match decide. */
const VERDICTS: readonly (readonly [words: RegExp, isFailure: boolean])[] = [
  [
    /not yet been delivered|(?:keep|continue) (?:on )?trying|will (?:be retried|retry|try again)|do not need to re-?send/i,
    false,
  ],
  [/\b(?:given|giving) up|(?<!\bbe )returned to sender|permanent(?: fatal)? error|^x-failed-recipients:/im, true],
  [/\bdelay|\bwarning\b|\bsuccess/i, false],
  [FAILURE, true],
];

/** Beginnings of the subject of an answer, which repeats the subject of the mail. */
const ANSWER = /^(?:re|aw|auto(?:matic)?[ -]?reply|out of (?:the )?office)\b/i;

/** Where a report in free text begins to quote the mail, and the lines of it that only a returned mail has. */
const QUOTE = /^(?:-{3}.*\b(?:original|copy|returned|below|message|header)|(?:return-path|received|message-id): )/im;
const RETURNED = /^(?:return-path|received|message-id): /im;

/** What can be seen of a report. Each is weak alone, because people write such words too. */
type Sign =
  | 'nullSender'
  | 'mailSystem'
  | 'subject'
  | 'words'
  | 'code'
  | 'codeOfAddress'
  | 'failedField'
  | 'returnedMail';

/** The signs that are enough together. */
const EVIDENCE: readonly (readonly Sign[])[] = [
  ['nullSender', 'subject'],
  ['nullSender', 'mailSystem', 'words'],
  ['nullSender', 'words', 'code'],
  ['nullSender', 'words', 'failedField'],
  ['nullSender', 'words', 'returnedMail'],
  ['mailSystem', 'words', 'codeOfAddress'],
  ['mailSystem', 'words', 'failedField'],
  ['mailSystem', 'words', 'returnedMail'],
];

/** Reads a free text as a report of a failed delivery; `undefined` if the evidence is not enough. */
export function readFreeText(
  message: MessageRow,
  headers: Readonly<Record<string, string>>,
  returnsMail: boolean,
): FailureReport | undefined {
  const { subject } = message;
  const body = bodyOf(message);
  const [text = ''] = body.split(QUOTE, 1);
  const own = new Set(message.to.map(toBareAddress));
  const mentions = findMentions(text).filter(
    ({ recipient, statusCode }) => !own.has(recipient) && !isSuccess(statusCode),
  );
  const statusCode = findStatusCode(text);
  const failedField = headers['x-failed-recipients'] ?? '';
  const signs: Readonly<Record<Sign, boolean>> = {
    nullSender: isNullSender(headers),
    mailSystem: isMailSystem(message),
    subject: FAILURE.test(subject) && !ANSWER.test(subject),
    words: FAILURE.test(`${subject}\n${text}`),
    code: statusCode !== undefined,
    codeOfAddress: mentions.some((mention) => mention.statusCode !== undefined),
    failedField: failedField.includes('@'),
    returnedMail: returnsMail || RETURNED.test(body),
  };
  const isReport = EVIDENCE.some((combination) => combination.every((sign) => signs[sign]));
  const isFinal =
    [statusCode, ...mentions.map((mention) => mention.statusCode)].some((code) => code?.startsWith('5')) ||
    saysFailure(`${signs.failedField ? 'X-Failed-Recipients:' : ''}\n${subject}\n${text}`);
  if (!isReport || !isFinal) return undefined;
  return { ...listFailures(failedField, mentions), statusCode: statusCode ?? UNKNOWN_STATUS };
}

/** Returns the text of a message, also if it has only HTML. */
export function bodyOf({ plainBody, htmlBody }: MessageRow): string {
  return plainBody.trim() === '' && htmlBody !== null ? toPlainText(htmlBody) : plainBody;
}

/** Returns whether the mail came from the null sender (RFC 5321, section 4.5.5). */
export function isNullSender(headers: Readonly<Record<string, string>>): boolean {
  return headers['return-path'] === '<>';
}

/** Returns whether the sender calls itself a mail system. */
export function isMailSystem({ from, fromAddress }: MessageRow): boolean {
  return (
    /^(?:mailer-daemon|postmaster|mail-?daemon)@/.test(fromAddress) || /^"?mail delivery (?:sub)?system\b/i.test(from)
  );
}

function isSuccess(statusCode: string | undefined): boolean {
  return statusCode?.startsWith('2') === true;
}

function saysFailure(text: string): boolean {
  return VERDICTS.find(([words]) => words.test(text))?.[1] === true;
}

/** Returns the recipients that the header field names, or else every address in the text. */
function listFailures(failedField: string, mentions: readonly Mention[]) {
  const statusOf = new Map(mentions.map(({ recipient, statusCode }) => [recipient, statusCode]));
  const named = failedField.toLowerCase().match(ADDRESS) ?? [];
  if (named.length === 0) return { failures: mentions, isExact: false };
  return {
    failures: [...new Set(named)].map((recipient) => ({ recipient, statusCode: statusOf.get(recipient) })),
    isExact: true,
  };
}

const ADDRESS =
  /(?<![^\s<>()[\]"',;:*|])[^\s<>()[\]"',;:@*|][^\s<>()[\]",;:@*|]{0,63}@[^\s<>()[\]"',;:@*|]{0,253}[^\s<>()[\]"',;:@*|.!?]/g;

/** Finds the addresses in a text, each once, with the status code after it. Addresses in a row have the same status. */
function findMentions(text: string): Mention[] {
  const found = new Map<string, string | undefined>();
  let end = text.length;
  let next: string | undefined;
  for (const { 0: address, index } of Array.from(text.matchAll(ADDRESS)).toReversed()) {
    const after = text.slice(index + address.length, end);
    const isRow = end < text.length && /^\W*(?:(?:and|or)\W*)?$/i.test(after.slice(0, 50));
    next = findStatusCode(after) ?? (isRow ? next : undefined);
    const recipient = address.toLowerCase();
    found.set(recipient, next ?? found.get(recipient));
    end = index;
  }
  return Array.from(found, ([recipient, statusCode]) => ({ recipient, statusCode })).toReversed();
}

/** Finds a status code: of RFC 3463, or made from a reply code of SMTP. */
export function findStatusCode(text: string): string | undefined {
  const enhanced = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(text)?.[0];
  const reply = /(?<![\d.])([45])[0-5]\d[ -](?=\S)/.exec(text)?.[1];
  return enhanced ?? (reply && `${reply}.0.0`);
}
