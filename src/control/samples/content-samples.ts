import { type ComposedPart, filePart, multipart, textPart } from '../../service/mail/mime/compose-mail.ts';
import { CRLF } from '../../service/mail/mime/header.ts';
import { fill, type SampleContext } from './sample-context.ts';
import { type MailData, type SampleDraft, writeMail } from './sample-mail.ts';
import type { SampleTable } from './sample-row.ts';

/**
 * The content of a file `winmail.dat`, in which Outlook packs a mail (TNEF): a version, a code page, a class, a subject
 * and a text.
 */
const WINMAIL =
  'eJ8+IgEAAQaQCAAEAAAAAAABAAEAAQeQBgAIAAAA5AQAAAAAAADoAAEIgAcAGAAAAElQTS5NaWNyb3NvZnQgTWFpbC5Ob3RlADEIAQSAAQANAAAA' +
  'T3JkZXIgcGFwZXJzAKcEAQyAAgAqAAAAVGhlIHBhcGVycyBvZiB0aGUgb3JkZXIgYXJlIGluIHRoaXMgZmlsZS4Acw4=';

/** The text of an invitation; its first sentence is the subject. */
export const INVITATION = 'Invitation: Review. Can you come to the review on Monday at 13:00 UTC?';

/** How many lines of base64 the large file has, so that its mail has almost 10,000,000 bytes. */
const LARGE_FILE_LINES = 128_000;

/** Creates a mail in a charset. `subject` is base64; each character of `bytes` stands for one byte of the text. */
function createMail(charset: string, subject: string, bytes: string): [MailData] {
  const encoding = /^[\0-\x7f]*$/.test(bytes) ? '7bit' : '8bit';
  const head = [`Content-Type: text/plain; charset=${charset}`, `Content-Transfer-Encoding: ${encoding}`];
  const body = { head, content: bytes + CRLF };
  return [[{ Subject: `=?${charset}?B?${subject}?=` }, body, { isBinary: true }]];
}

const CHARSET_ADVICE = {
  should: 'Read the text in the charset that the mail names.',
  mustNot: 'Read it as UTF-8, or answer with characters that the mail does not contain.',
  handling: 'reading',
} as const;

/** Writes the invitation to a meeting, or its cancellation; the first sentence of the text is the subject. */
export function writeMeeting(context: SampleContext, text: string, description: string): SampleDraft[] {
  return [writeMail(context, { Subject: text.replace(/[.?].*/, '') }, meetingPart(context, text, description))];
}

/** Creates the body of an invitation or a cancellation: a text, and a calendar part (RFC 5545). */
export function meetingPart(context: SampleContext, text: string, description: string): ComposedPart {
  const isCancelled = text.startsWith('Cancelled');
  const method = isCancelled ? 'CANCEL' : 'REQUEST';
  const lines = [
    ...['BEGIN:VCALENDAR', 'PRODID:-//customer.test//Calendar 1.0//EN', 'VERSION:2.0', `METHOD:${method}`],
    ...['BEGIN:VEVENT', 'UID:{marker}@customer.test', `SEQUENCE:${isCancelled ? 1 : 0}`],
    ...['DTSTAMP:20260106T090000Z', 'DTSTART:20260112T130000Z', 'DTEND:20260112T133000Z', 'SUMMARY:Review'],
    `DESCRIPTION:${description.replace(/[,;\\]/g, '\\$&')}`,
    'ORGANIZER;CN={name}:mailto:{address}',
    'ATTENDEE;RSVP=TRUE;PARTSTAT=NEEDS-ACTION:mailto:{inbox}',
    ...[`STATUS:${isCancelled ? 'CANCELLED' : 'CONFIRMED'}`, 'END:VEVENT', 'END:VCALENDAR'],
  ];
  // A line has at most 75 bytes (RFC 5545, section 3.1).
  const folded = lines.map((line) => fill(line, context).replace(/.{74}(?=.)/g, `$&${CRLF} `));
  const calendar = textPart(`text/calendar; method=${method}`, `${folded.join(CRLF)}${CRLF}`);
  return multipart('alternative', context.values.marker, [textPart('text/plain', text), calendar]);
}

type FileData = readonly [type: string, name: string, base64: string];

/** Writes a mail with files, each with its type, its name and its content in base64. */
export function writeMailWithFiles(context: SampleContext, text: string, files: readonly FileData[]): SampleDraft[] {
  return [writeMail(context, { Subject: 'Papers of order {number}' }, filesPart(context, text, files))];
}

/** Creates a body with files. */
export function filesPart({ values }: SampleContext, text: string, files: readonly FileData[]): ComposedPart {
  return multipart('mixed', values.marker, [textPart('text/plain', text), ...files.map((file) => filePart(...file))]);
}

function writeMailWithLongNames(context: SampleContext): SampleDraft[] {
  const names = [
    `Übersicht aller Bestellungen des Jahres ${'und aller Rechnungen '.repeat(6)}{number}.txt`,
    '注文 {number} の写真.txt',
    '../../order papers.txt',
  ];
  const files = names.map((name) => ['text/plain', fill(name, context), btoa('Papers.')] as const);
  return writeMailWithFiles(context, 'The papers of the order.', files);
}

function writeLargeMail(context: SampleContext): SampleDraft[] {
  const line = btoa(`${context.values.marker} a large photograph`.repeat(3).slice(0, 57));
  const file = filePart('image/jpeg', 'photograph.jpg', '');
  const content = `${line}${CRLF}`.repeat(LARGE_FILE_LINES);
  const parts = [textPart('text/plain', 'The photograph shows the scratch.'), { ...file, content }];
  return [writeMail(context, { Subject: 'A large photograph' }, multipart('mixed', context.values.marker, parts))];
}

/** Texts, files and dates that are hard to read. */
export const CONTENT_SAMPLES: SampleTable<'content'> = {
  'html-only': {
    standard: 'RFC 2046 §5.1.4',
    should: 'Read the text of the HTML, without its styles.',
    mustNot: 'Treat the mail as empty, because it has no plain text.',
    handling: 'reading',
    mails: (context) => {
      const html = '<style>p { margin: 0 }</style><p>Is order <b>{number}</b> on its way?</p>';
      return [writeMail(context, { Subject: 'Order {number}' }, textPart('text/html', fill(html, context)))];
    },
  },
  'international-address': {
    standard: 'RFC 6531 §3.3; RFC 6532 §3',
    should: 'Answer the address as it is written.',
    mustNot: 'Change the letters of the address, or refuse it.',
    fields: { From: 'Zoë Grün <zoë@bücher.test>', Subject: 'Größe der Bestellung {number}' },
    text: 'Welche Größe hat der Stuhl?\n\nZoë',
  },
  'charset-iso-2022-jp': {
    standard: 'RFC 1468; RFC 2045 §2.4',
    ...CHARSET_ADVICE,
    mails: createMail('ISO-2022-JP', 'GyRCJDRDbUo4JE4zTkcnGyhC', '\x1b$B$4CmJ8$"$j$,$H$&$4$6$$$^$9!#\x1b(B'),
  },
  'charset-gb18030': {
    standard: 'GB 18030; RFC 2045 §2.4',
    ...CHARSET_ADVICE,
    mails: createMail(
      'GB18030',
      'tqm1pdLRt6K79Q==',
      '\xc4\xfa\xba\xc3\xa3\xac\x954\xb25\xcf\xc8\xc9\xfa\xa1\xa3\xb6\xa9\xb5\xa5\xd2\xd1\xb7\xa2\xbb\xf5\xa1\xa3',
    ),
  },
  'charset-windows-1252': {
    standard: 'RFC 2045 §2.4, §2.8',
    ...CHARSET_ADVICE,
    mails: createMail('Windows-1252', 'k0dy9t9llCCWIIA=', '\x93Gr\xf6\xdfe 42\x94 costs \x8020 \x96 is that right?'),
  },
  'long-file-names': {
    standard: 'RFC 2231 §3, §4; RFC 2183 §2.3',
    should: 'Use the whole names, in their own letters.',
    mustNot: 'Cut or change a name, or treat it as a path.',
    handling: 'reading',
    mails: writeMailWithLongNames,
  },
  'odd-dates': {
    standard: 'RFC 5322 §3.3, §3.6.1, §4.3',
    should: 'Order the mails by the time of their arrival.',
    mustNot: 'Fail, or trust the date that the sender gives.',
    handling: 'reading',
    mails: ['Tue, 06 Jan 2026 09:00:00 -0000', '6 Jan 26 09:00 EST', 'Fri, 31 Dec 2100 23:59:59 +1400', undefined].map(
      (date, index) => [{ Date: date, Subject: `Date ${index + 1}` }, 'When was this written?'],
    ),
  },
  invitation: {
    standard: 'RFC 6047 §2; RFC 5546 §3.2.2',
    should: 'Answer the invitation only if its owner agrees.',
    mustNot: 'Accept it without asking.',
    handling: 'sending',
    mails: (context) => writeMeeting(context, INVITATION, 'We talk about the new chair.'),
  },
  cancellation: {
    standard: 'RFC 6047 §2; RFC 5546 §3.2.5',
    should: 'Remove the meeting with the same UID.',
    mustNot: 'Treat it as a new meeting.',
    handling: 'reading',
    mails: (context) => writeMeeting(context, 'Cancelled: Review. It does not take place.', 'It does not take place.'),
  },
  'winmail-dat': {
    standard: 'MS-OXTNEF §2.1',
    should: 'Say that the file of Outlook cannot be read, or decode it.',
    mustNot: 'Treat the mail as empty.',
    handling: 'reading',
    mails: (context) =>
      writeMailWithFiles(context, 'The papers are attached.', [['application/ms-tnef', 'winmail.dat', WINMAIL]]),
  },
  'ten-megabytes': {
    standard: 'RFC 5321 §4.5.3.1.7; RFC 1870 §3',
    should: 'Read the text, and the file only if it is needed.',
    mustNot: 'Load the whole file into a prompt.',
    handling: 'reading',
    mails: writeLargeMail,
  },
};
