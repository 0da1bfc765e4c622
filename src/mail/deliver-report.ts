import { toBase64 } from '../contract/base64.ts';
import { DEFAULT_DOMAIN } from '../contract/emulator-domains.ts';
import { newId } from '../environment.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { MailContext } from './mail-context.ts';
import { createDeliveryReport } from './mime/delivery-report.ts';
import { createTrace } from './mime/trace.ts';
import { type IncomingMail, receiveMail } from './receive-mail.ts';

/**
 * Delivers a report to the inbox that sent a mail for each recipient that bounced. `message.bounced` is published
 * because of the report, as for one from outside.
 */
export function deliverReports(
  context: MailContext,
  world: World,
  original: MessageRow,
  bounced: readonly string[],
): void {
  for (const recipient of bounced) {
    receiveMail(context, { world, inboxId: original.inboxId }, composeReport(world, original, recipient));
  }
}

function composeReport({ environment }: World, original: MessageRow, recipient: string): IncomingMail {
  const [id, at] = [newId(environment), new Date(environment.now())];
  const [status, diagnostic] = ['5.1.1', `550 5.1.1 There is no inbox with the address ${recipient}.`];
  const bytes = createDeliveryReport({ id, at, reportingMta: DEFAULT_DOMAIN, recipient, status, diagnostic, original });
  const [head = '', text = '', ...files] = new TextDecoder().decode(bytes).split(/^--=_report_.*\r\n/m);
  const { fromAddress: to, messageIdHeader, references } = original;
  const from = `mailer-daemon@${DEFAULT_DOMAIN}`;
  return {
    from: `Mail Delivery System <${from}>`,
    ...{ to: [to], cc: [], replyTo: null },
    subject: /^Subject: (.*)\r$/m.exec(head)?.[1] ?? '',
    plainBody: fromQuotedPrintable(contentOf(text)),
    htmlBody: null,
    messageIdHeader: `<${id}@${DEFAULT_DOMAIN}>`,
    inReplyTo: messageIdHeader,
    references: [...references, messageIdHeader],
    headers: createTrace({ from: '', to, auth: {} }, from, at),
    raw: toBase64(bytes),
    attachments: files.slice(0, FILES.length).map((part, index) => toFile(contentOf(part), FILES[index])),
  };
}

/** The files of a report after its text. */
const FILES = [
  { filename: 'delivery-status.txt', contentType: 'message/delivery-status' },
  { filename: 'headers.txt', contentType: 'text/rfc822-headers' },
] as const;

function toFile(text: string, { filename, contentType }: Partial<(typeof FILES)[number]> = {}) {
  const bytes = new TextEncoder().encode(text);
  return {
    filename: filename ?? 'attachment',
    contentType: contentType ?? 'text/plain',
    content: toBase64(bytes),
    sizeBytes: bytes.byteLength,
  };
}

/** Decodes a text that has only ASCII. */
function fromQuotedPrintable(text: string): string {
  const joined = text.replace(/=\r\n/g, '').replaceAll('\r\n', '\n');
  return joined.replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function contentOf(part: string): string {
  return part.slice(part.indexOf('\r\n\r\n') + 4);
}
