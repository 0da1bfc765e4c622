import { expect, test } from 'vitest';
import { parseEml } from '../../../../src/service/mail/incoming/parse-eml.ts';
import { createDeliveryReport, type DeliveryReport } from '../../../../src/service/mail/mime/delivery-report.ts';

const ORIGINAL = {
  from: 'Acme Helpdesk <helpdesk@acme.test>',
  to: ['dana@customer.test'],
  cc: [],
  replyTo: null,
  subject: 'Your order',
  receivedAt: '2026-03-01T09:00:00.000Z',
  messageIdHeader: '<order-1@acme.test>',
  inReplyTo: null,
  references: ['<first@customer.test>'],
  headers: null,
};

function write(options: Partial<DeliveryReport> = {}): Uint8Array {
  return createDeliveryReport({
    id: 'report-1',
    at: new Date('2026-03-01T09:00:05Z'),
    reportingMta: 'mx.customer.test',
    recipient: 'dana@customer.test',
    status: '5.1.1',
    diagnostic: '550 5.1.1 There is no such mailbox.',
    original: ORIGINAL,
    ...options,
  }).bytes;
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test('a delivery report goes to the sender of the mail, and into its thread', async () => {
  const { mail, recipients } = await parseEml(write(), '<fallback@acme.test>');
  expect(recipients).toEqual(['helpdesk@acme.test']);
  expect(mail).toMatchObject({
    from: 'Mail Delivery System <mailer-daemon@mx.customer.test>',
    subject: 'Undelivered Mail Returned to Sender',
    messageIdHeader: '<report-1@mx.customer.test>',
    inReplyTo: '<order-1@acme.test>',
    references: ['<first@customer.test>', '<order-1@acme.test>'],
  });
  expect(mail.plainBody).toContain('<dana@customer.test>: 550 5.1.1 There is no such mailbox.');
});

test('a delivery report has the status for programs and the header of the mail', () => {
  const text = decode(write()).replaceAll('\r\n', '\n');
  expect(text).toContain('Content-Type: multipart/report; report-type=delivery-status;\n boundary=');
  expect(text).toContain(
    [
      'Reporting-MTA: dns; mx.customer.test',
      'Arrival-Date: Sun, 01 Mar 2026 09:00:00 +0000',
      '',
      'Final-Recipient: rfc822; dana@customer.test',
      'Action: failed',
      'Status: 5.1.1',
      'Diagnostic-Code: smtp; 550 5.1.1 There is no such mailbox.',
    ].join('\n'),
  );
  expect(text).toContain('Content-Type: text/rfc822-headers\n\nFrom: Acme Helpdesk <helpdesk@acme.test>\n');
});

test('a report that is not about a failure names no failed recipient', () => {
  const text = decode(write({ action: 'delayed', status: '4.4.1' }));
  expect(text).toContain('Subject: Delayed Mail');
  expect(text).toContain('Action: delayed');
  expect(text).not.toContain('X-Failed-Recipients');
});

test('a line break in the reply of a server adds no header field', () => {
  expect(decode(write({ diagnostic: '550 No.\r\nBcc: eve@evil.test' }))).not.toMatch(/^Bcc:/m);
});

test('an address that is not ASCII is escaped in the status, with the characters that an escaped address cannot have', () => {
  expect(decode(write({ recipient: 'dönna@customer.test' }))).toContain(
    'Final-Recipient: utf-8; d\\x{f6}nna@customer.test',
  );
  expect(decode(write({ recipient: 'josé+a=b@customer.test' }))).toContain(
    'Final-Recipient: utf-8; jos\\x{e9}\\x{2b}a\\x{3d}b@customer.test',
  );
  expect(decode(write({ recipient: 'jose+a=b@customer.test' }))).toContain('rfc822; jose+a=b@customer.test');
});
