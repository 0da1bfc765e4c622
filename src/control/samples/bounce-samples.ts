import { type ComposedPart, multipart, textPart } from '../../service/mail/mime/compose-mail.ts';
import { createDeliveryReport, type DeliveryReport } from '../../service/mail/mime/delivery-report.ts';
import { CRLF, formatDate } from '../../service/mail/mime/header.ts';
import { fill, type SampleContext } from './sample-context.ts';
import { dateOf, mailIdOf, type SampleDraft, writeMail } from './sample-mail.ts';
import type { SampleTable } from './sample-row.ts';

const HOST = 'mx.customer.test';
const DAEMON = `mailer-daemon@${HOST}`;

/** A report comes from the null sender, so that nobody answers it (RFC 5321, section 4.5.5). */
const NULL_SENDER = { envelopeFrom: '' };

/** The status and the diagnostic of each result. */
const UNKNOWN = ['5.1.1', '550 5.1.1 There is no such mailbox.'] as const;
const FULL = ['4.2.2', '452 4.2.2 The mailbox is full.'] as const;
const DELIVERED = ['2.1.5', '250 2.1.5 OK'] as const;

/** Writes a report about a mail that the first recipient of the sample has sent to the customer (`address`). */
export function writeBounceReport(
  context: SampleContext,
  [status, diagnostic]: readonly [status: string, diagnostic: string],
  action?: DeliveryReport['action'],
): SampleDraft[] {
  const { inbox, address, about, number } = context.values;
  const original = {
    from: inbox,
    to: [address],
    subject: `Your order ${number}`,
    messageIdHeader: about,
    receivedAt: dateOf(0).toISOString(),
    cc: [],
    replyTo: null,
    inReplyTo: null,
    references: [],
    headers: null,
  };
  const id = mailIdOf(context, 1).replace(/<|@.*/g, '');
  const report = { id, at: dateOf(1), reportingMta: HOST, recipient: address, original, status, diagnostic, action };
  return [{ ...NULL_SENDER, eml: createDeliveryReport(report).bytes }];
}

/** Writes a MIME part from its lines. */
function writeLinesPart(context: SampleContext, type: string, lines: readonly string[]): ComposedPart {
  return { head: [`Content-Type: ${type}`], content: fill(`${lines.join(CRLF)}${CRLF}`, context) };
}

/** The header of the mail that a report is about: the same as in `writeBounceReport`, with placeholders. */
const ORIGINAL_HEADER = ['From: {inbox}', 'To: {address}', 'Subject: Your order {number}', 'Message-ID: {about}'];

/** Writes the body of a report: a text for people, the result for programs, and the header of the mail. */
function writeReportBody(context: SampleContext, type: string, text: string, lines: readonly string[]): ComposedPart {
  const parts = [
    textPart('text/plain', fill(text, context)),
    writeLinesPart(context, `message/${type}`, lines),
    writeLinesPart(context, 'text/rfc822-headers', [...ORIGINAL_HEADER, `Date: ${formatDate(dateOf(0))}`]),
  ];
  return multipart('report', context.values.marker, parts, [`report-type=${type};`]);
}

/** The header fields of a report that is written here. */
const REPORT_FIELDS = { 'In-Reply-To': '{about}', 'Auto-Submitted': 'auto-replied' };

function writeReportForSeveral(context: SampleContext): SampleDraft[] {
  const results = [
    ['{address}', 'failed', ...UNKNOWN],
    ['orders@customer.test', 'failed', ...FULL],
    ['billing@customer.test', 'delivered', ...DELIVERED],
  ] as const;
  const blocks = results.flatMap(([address, action, status, diagnostic]) => [
    '',
    `Final-Recipient: rfc822; ${address}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${diagnostic}`,
  ]);
  const text = results.map(([address, , , diagnostic]) => `<${address}>: ${diagnostic}`);
  const body = writeReportBody(
    context,
    'delivery-status',
    `This is the mail system at ${HOST}. Your message has these results.\n\n${text.join('\n')}`,
    [`Reporting-MTA: dns; ${HOST}`, ...blocks],
  );
  const fields = {
    ...REPORT_FIELDS,
    From: `Mail Delivery System <${DAEMON}>`,
    Subject: 'Delivery Status Notification',
  };
  return [writeMail(context, fields, body, NULL_SENDER)];
}

function writeReadReceipt(context: SampleContext): SampleDraft[] {
  const body = writeReportBody(
    context,
    'disposition-notification',
    'Your message was displayed. This does not say that it was understood.',
    [
      'Reporting-UA: mail.customer.test; Example Mail 4.2',
      'Final-Recipient: rfc822; {address}',
      'Original-Message-ID: {about}',
      'Disposition: manual-action/MDN-sent-manually; displayed',
    ],
  );
  return [writeMail(context, { ...REPORT_FIELDS, Subject: 'Read: Your order {number}' }, body, NULL_SENDER)];
}

/** The text of a report from the mail server qmail. */
const FREE_TEXT = `Hi. This is the mail program at ${HOST}.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up.

<{address}>:
Sorry, no mailbox here by that name. (#5.1.1)

--- Below this line is a copy of the message.

${ORIGINAL_HEADER.join('\n')}
`;

const rules = { neverAnswer: true } as const;

/** Reports about mail that was sent. */
export const BOUNCE_SAMPLES: SampleTable<'bounces'> = {
  'bounce-unknown-user': {
    standard: 'RFC 3464 §2.3; RFC 3463 §3.2',
    should: 'Mark the address as invalid and tell a person.',
    mustNot: 'Answer the report, or treat it as an answer of the customer.',
    handling: 'reading',
    rules,
    mails: (context) => writeBounceReport(context, UNKNOWN),
  },
  'bounce-mailbox-full': {
    standard: 'RFC 3464 §2.3; RFC 3463 §3.3',
    should: 'Keep the address and send again on a later day.',
    mustNot: 'Answer the report, or treat the address as invalid.',
    handling: 'reading',
    rules,
    mails: (context) => writeBounceReport(context, FULL),
  },
  'bounce-delayed': {
    standard: 'RFC 3464 §2.3.3',
    should: 'Wait, because the mail server tries again.',
    mustNot: 'Send the mail again, or treat it as lost.',
    handling: 'reading',
    rules,
    mails: (context) => writeBounceReport(context, ['4.4.1', '421 4.4.1 The host does not answer.'], 'delayed'),
  },
  'bounce-delivered': {
    standard: 'RFC 3464 §2.3.3; RFC 3463 §3.2',
    should: 'Note that the mail was delivered.',
    mustNot: 'Treat the report as a failure, or answer it.',
    handling: 'reading',
    rules,
    mails: (context) => writeBounceReport(context, DELIVERED, 'delivered'),
  },
  'bounce-several-recipients': {
    standard: 'RFC 3464 §2.1; RFC 6522',
    should: 'Read the result of each recipient: one is unknown, one has a full mailbox, one has the mail.',
    mustNot: 'Treat the result of one recipient as the result of all.',
    handling: 'reading',
    rules,
    mails: writeReportForSeveral,
  },
  'bounce-free-text': {
    standard: 'no standard; the text of qmail (QSBMF)',
    should: 'Recognise the failure by the null sender and the text, and tell a person.',
    mustNot: 'Answer the report, or treat it as a question.',
    handling: 'reading',
    rules,
    mails: [[{ From: DAEMON, Subject: 'failure notice' }, FREE_TEXT, NULL_SENDER]],
  },
  'read-receipt': {
    standard: 'RFC 8098 §3; RFC 6522',
    should: 'Note that the mail was displayed.',
    mustNot: 'Answer it, or treat it as consent.',
    handling: 'reading',
    rules,
    mails: writeReadReceipt,
  },
};
