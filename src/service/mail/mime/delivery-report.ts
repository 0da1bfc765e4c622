import { toBareAddress } from '../../../contract/addresses/email-address.ts';
import { multipart, textPart, writePart } from './compose-mail.ts';
import { CRLF, formatDate, type MailHeader, toMessageIds, writeField, writeHeaderFields } from './header.ts';

/** What happened to a mail for one recipient, with the subject and the sentence of its report. */
const ACTIONS = {
  failed: ['Undelivered Mail Returned to Sender', 'Your message could not be delivered. It is not sent again.'],
  delayed: ['Delayed Mail (still being retried)', 'Your message was not delivered yet. You need not send it again.'],
  delivered: ['Successful Mail Delivery Report', 'Your message was delivered.'],
} as const;

/** The content of a delivery report. */
export interface DeliveryReport {
  /** An id that no other report has, for the Message-ID and the boundary of the report. */
  readonly id: string;
  /** When the report is written. */
  readonly at: Date;
  /** The host name of the mail server that reports. */
  readonly reportingMta: string;
  /** The bare address of the recipient. */
  readonly recipient: string;
  /** What happened. Default: `failed`. */
  readonly action?: keyof typeof ACTIONS | undefined;
  /** The status code of RFC 3463, such as `5.1.1`. */
  readonly status: string;
  /** The reply of the mail server of the recipient, such as `550 5.1.1 There is no such mailbox.` */
  readonly diagnostic: string;
  /** The mail that the report is about. The report contains its header and goes to its sender. */
  readonly original: MailHeader;
}

/**
 * Writes a delivery report: a text for people, the status for programs (RFC 3464), and the header of the mail, in a
 * `multipart/report` (RFC 6522). Deliver the report from the null sender, because it is an automatic mail (RFC 3834).
 * Returns the bytes of the report, its subject, the text for people, and the other two parts as files.
 */
export function createDeliveryReport(report: DeliveryReport) {
  const { id, at, reportingMta, recipient, action = 'failed', original } = report;
  const [subject, sentence] = ACTIONS[action];
  // The diagnostic goes into a header field, which must be printable ASCII without line breaks.
  const diagnostic = report.diagnostic.replace(/[^ -~]+/g, ' ').trim();
  const text = [`This is the mail system at ${reportingMta}.`, sentence, `<${recipient}>: ${diagnostic}`, ''].join(
    `${CRLF}${CRLF}`,
  );
  const files = [
    { contentType: 'message/delivery-status', content: writeStatus({ ...report, action, diagnostic }) },
    { contentType: 'text/rfc822-headers', content: `${writeHeaderFields(original).join(CRLF)}${CRLF}` },
  ];
  const parts = [
    textPart('text/plain', text),
    ...files.map(({ contentType, content }) => ({ head: [`Content-Type: ${contentType}`], content })),
  ];
  const body = multipart('report', id, parts, ['report-type=delivery-status;']);
  const fields = [
    `From: Mail Delivery System <mailer-daemon@${reportingMta}>`,
    `To: ${toBareAddress(original.from)}`,
    `Subject: ${subject}`,
    `Date: ${formatDate(at)}`,
    `Message-ID: <${id}@${reportingMta}>`,
    writeField('In-Reply-To', toMessageIds([original.messageIdHeader])),
    writeField('References', toMessageIds([...original.references, original.messageIdHeader])),
    'Auto-Submitted: auto-replied',
    ...(action === 'failed' ? [`X-Failed-Recipients: ${recipient}`] : []),
    'MIME-Version: 1.0',
  ];
  const bytes = new TextEncoder().encode(writePart({ head: [...fields, ...body.head], content: body.content }));
  return { bytes, subject, text, files };
}

/** Writes the status for programs: fields about the whole mail, an empty line, and fields about the recipient. */
function writeStatus({ reportingMta, recipient, action, status, diagnostic, original }: DeliveryReport): string {
  const fields = [
    `Reporting-MTA: dns; ${reportingMta}`,
    `Arrival-Date: ${formatDate(new Date(original.receivedAt))}`,
    '',
    `Final-Recipient: ${toTypedAddress(recipient)}`,
    `Action: ${action}`,
    `Status: ${status}`,
    writeField('Diagnostic-Code', ['smtp;', ...diagnostic.split(' ')]),
  ];
  return `${fields.join(CRLF)}${CRLF}`;
}

/**
 * Writes an address with its type. If it is not printable ASCII, each character that RFC 6533 does not allow as it is
 * (section 3) is escaped.
 */
function toTypedAddress(address: string): string {
  if (/^[!-~]*$/.test(address)) return `rfc822; ${address}`;
  return `utf-8; ${address.replace(/[^!-~]|[\\+=]/gu, (character) => `\\x{${character.codePointAt(0)?.toString(16)}}`)}`;
}
