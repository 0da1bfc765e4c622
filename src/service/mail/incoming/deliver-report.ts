import { DEFAULT_DOMAIN } from '../../../contract/email-address.ts';
import { newId } from '../../../world/environment.ts';
import type { MessageRow } from '../../../world/store/rows.ts';
import type { World } from '../../../world/store/world.ts';
import { createDeliveryReport } from '../mime/delivery-report.ts';
import { CRLF, createTrace } from '../mime/header.ts';
import { fileNameOf } from '../mime/read-contents.ts';
import type { Recipient } from '../outgoing/route.ts';
import type { AttachedFile, MailContext } from '../store-message.ts';
import { receiveMail } from './accept-message.ts';
import type { IncomingMail } from './parse-eml.ts';

/**
 * Delivers one report for each recipient that bounced, to the inbox that sent the mail. `message.bounced` is published
 * because of each report, as for a report from outside.
 */
export function deliverReports(
  context: MailContext,
  sender: Pick<Recipient, 'world' | 'inbox'>,
  original: MessageRow,
  bounced: readonly string[],
): void {
  for (const recipient of bounced) receiveMail(context, sender, composeReport(sender.world, original, recipient));
}

function composeReport({ environment }: World, original: MessageRow, recipient: string): IncomingMail {
  const [id, at] = [newId(environment), new Date(environment.now())];
  const [status, diagnostic] = ['5.1.1', `550 5.1.1 There is no inbox with the address ${recipient}.`];
  const report = { id, at, reportingMta: DEFAULT_DOMAIN, recipient, status, diagnostic, original };
  const { bytes, subject, text, files } = createDeliveryReport(report);
  const { fromAddress: to, messageIdHeader, references } = original;
  const from = `mailer-daemon@${DEFAULT_DOMAIN}`;
  return {
    from: `Mail Delivery System <${from}>`,
    ...{ to: [to], cc: [], replyTo: null, subject },
    // A parser would count the line break before the next part as the end of this text.
    plainBody: `${text.replaceAll(CRLF, '\n')}\n`,
    htmlBody: null,
    messageIdHeader: `<${id}@${DEFAULT_DOMAIN}>`,
    inReplyTo: messageIdHeader,
    references: [...references, messageIdHeader],
    headers: createTrace({ from: '', to, auth: {} }, from, at),
    raw: bytes,
    attachments: files.map(({ contentType, content }) => toFile(contentType, content + CRLF)),
  };
}

function toFile(contentType: string, text: string): AttachedFile {
  const bytes = new TextEncoder().encode(text);
  return { filename: fileNameOf(contentType), contentType, content: bytes, sizeBytes: bytes.byteLength };
}
