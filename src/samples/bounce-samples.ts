import { createDeliveryReport, type DeliveryReport } from '../mail/mime/delivery-report.ts';
import { CRLF, formatDate } from '../mail/mime/header.ts';
import { type MimePart, multipart, textPart } from '../mail/mime/mime-part.ts';
import type { SampleContext } from './sample-context.ts';
import { dateOf, idOf, type SampleDraft, writeMail } from './sample-mail.ts';
import type { SampleRow } from './sample-row.ts';

const HOST = 'mx.customer.test';

/** A report comes from the null sender, so that nobody answers it (RFC 5321, section 4.5.5). */
const NULL_SENDER = '';

/** Writes a report about a mail that the first recipient has sent to the person. */
export function writeReport(
  context: SampleContext,
  report: Pick<DeliveryReport, 'status' | 'diagnostic' | 'action'>,
): SampleDraft {
  const { person, to, about, number } = context;
  const original = {
    from: to[0] ?? '',
    to: [person.address],
    subject: `Your order ${number}`,
    receivedAt: dateOf(0).toISOString(),
    messageIdHeader: about,
    ...{ cc: [], replyTo: null, inReplyTo: null, references: [], headers: null },
  };
  const [, id = ''] = /<(.*)@/.exec(idOf(context, 1)) ?? [];
  const options = { id, at: dateOf(1), reportingMta: HOST, recipient: person.address, original, ...report };
  return { eml: createDeliveryReport(options), envelopeFrom: NULL_SENDER };
}

/** Writes a part from its lines. */
function linesPart(type: string, lines: readonly string[]): MimePart {
  return { head: [`Content-Type: ${type}`], content: `${lines.join(CRLF)}${CRLF}` };
}

/** Writes the header of the mail that a report is about. */
function originalPart({ to, person, about, number }: SampleContext): MimePart {
  const fields = [`From: ${to[0]}`, `To: ${person.address}`, `Subject: Your order ${number}`];
  return linesPart('text/rfc822-headers', [...fields, `Date: ${formatDate(dateOf(0))}`, `Message-ID: ${about}`]);
}

function writeReportForSeveral(context: SampleContext): SampleDraft {
  const { person, marker } = context;
  const results = [
    [person.address, 'failed', '5.1.1', '550 5.1.1 There is no such mailbox.'],
    ['orders@customer.test', 'failed', '4.2.2', '452 4.2.2 The mailbox is full.'],
    ['billing@customer.test', 'delivered', '2.1.5', '250 2.1.5 OK'],
  ] as const;
  const blocks = results.flatMap(([address, action, status, diagnostic]) => [
    '',
    `Final-Recipient: rfc822; ${address}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${diagnostic}`,
  ]);
  const text = results.map(([address, , , diagnostic]) => `<${address}>: ${diagnostic}`);
  const parts = [
    textPart('text/plain', `This is the mail system at ${HOST}. Your message has these results.\n\n${text.join('\n')}`),
    linesPart('message/delivery-status', [`Reporting-MTA: dns; ${HOST}`, ...blocks]),
    originalPart(context),
  ];
  const fields = { ...REPORT_FIELDS, Subject: 'Delivery Status Notification', 'In-Reply-To': context.about };
  return writeMail(context, fields, multipart('report', marker, parts, ['report-type=delivery-status;']), {
    envelopeFrom: NULL_SENDER,
  });
}

const REPORT_FIELDS = { From: `Mail Delivery System <mailer-daemon@${HOST}>`, 'Auto-Submitted': 'auto-replied' };

function writeReadReceipt(context: SampleContext): SampleDraft {
  const { person, marker, about, number } = context;
  const lines = [
    'Reporting-UA: mail.customer.test; Example Mail 4.2',
    `Final-Recipient: rfc822; ${person.address}`,
    `Original-Message-ID: ${about}`,
    'Disposition: manual-action/MDN-sent-manually; displayed',
  ];
  const parts = [
    textPart(
      'text/plain',
      `Your message "Your order ${number}" was displayed. This does not say that it was understood.`,
    ),
    linesPart('message/disposition-notification', lines),
    originalPart(context),
  ];
  const fields = { Subject: `Read: Your order ${number}`, 'In-Reply-To': about, 'Auto-Submitted': 'auto-replied' };
  return writeMail(context, fields, multipart('report', marker, parts, ['report-type=disposition-notification;']), {
    envelopeFrom: NULL_SENDER,
  });
}

function writeFreeText(context: SampleContext): SampleDraft {
  const { person, to, about, number } = context;
  const text = [
    `Hi. This is the mail program at ${HOST}.`,
    "I'm afraid I wasn't able to deliver your message to the following addresses.",
    "This is a permanent error; I've given up. Sorry it didn't work out.\n",
    `<${person.address}>:\nSorry, no mailbox here by that name. (#5.1.1)\n`,
    '--- Below this line is a copy of the message.\n',
    `From: ${to[0]}\nTo: ${person.address}\nSubject: Your order ${number}\nMessage-ID: ${about}\n`,
    'It leaves today.',
  ];
  const fields = { From: `mailer-daemon@${HOST}`, Subject: 'failure notice' };
  return writeMail(context, fields, text.join('\n'), { envelopeFrom: NULL_SENDER });
}

const rules = { neverAnswer: true, neverWriteTo: [`mailer-daemon@${HOST}`] } as const;

/** Reports about mail that was sent. */
export const BOUNCE_SAMPLES = {
  'bounce-unknown-user': {
    standard: 'RFC 3464, section 2.3; RFC 3463, section 3.2',
    should: 'Mark the address as invalid and tell a person.',
    mustNot: 'Answer the report, or take it for an answer of the customer.',
    rules,
    write: (context) => writeReport(context, { status: '5.1.1', diagnostic: '550 5.1.1 There is no such mailbox.' }),
  },
  'bounce-mailbox-full': {
    standard: 'RFC 3464, section 2.3; RFC 3463, section 3.3',
    should: 'Keep the address and send again on a later day.',
    mustNot: 'Answer the report, or take the address for invalid.',
    rules,
    write: (context) => writeReport(context, { status: '4.2.2', diagnostic: '452 4.2.2 The mailbox is full.' }),
  },
  'bounce-delayed': {
    standard: 'RFC 3464, section 2.3.3',
    should: 'Wait, because the mail server tries again.',
    mustNot: 'Send the mail again, or take it for lost.',
    rules,
    write: (context) =>
      writeReport(context, { action: 'delayed', status: '4.4.1', diagnostic: '421 4.4.1 The host does not answer.' }),
  },
  'bounce-delivered': {
    standard: 'RFC 3464, section 2.3.3; RFC 3463, section 3.2',
    should: 'Note that the mail was delivered.',
    mustNot: 'Take the report for a failure, or answer it.',
    rules,
    write: (context) => writeReport(context, { action: 'delivered', status: '2.1.5', diagnostic: '250 2.1.5 OK' }),
  },
  'bounce-several-recipients': {
    standard: 'RFC 3464, section 2.1; RFC 6522',
    should: 'Read the result of each recipient: one is unknown, one has a full mailbox, one has the mail.',
    mustNot: 'Take one result for that of all recipients.',
    rules,
    write: writeReportForSeveral,
  },
  'bounce-free-text': {
    standard: 'no standard; the text of qmail (QSBMF)',
    should: 'Recognise the failure by the null sender and the text, and tell a person.',
    mustNot: 'Answer the report, or take it for a question.',
    rules,
    write: writeFreeText,
  },
  'read-receipt': {
    standard: 'RFC 8098, section 3; RFC 6522',
    should: 'Note that the mail was displayed.',
    mustNot: 'Answer it, or take it for a consent.',
    rules: { neverAnswer: true },
    write: writeReadReceipt,
  },
} as const satisfies Record<string, SampleRow>;
