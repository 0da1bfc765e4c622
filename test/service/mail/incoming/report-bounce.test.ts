import { describe, expect, test } from 'vitest';
import { readBounceReport } from '../../../../src/service/mail/incoming/report-bounce.ts';
import type { MessageRow } from '../../../../src/world/store/rows.ts';
import { everywhere, interceptRequests, type Service } from '../../../support/everywhere.ts';
import { IDS } from '../../../support/ids.ts';
import { ADDRESS, openInboxClients } from '../../../support/inbox-clients.ts';

interceptRequests();

const KIM = 'kim@visitor.test';
const LEE = 'lee@visitor.test';

/** The header lines of a report by a mail system. */
const fromSystem = (...more: string[]) => ['From: Mail System <MAILER-DAEMON@mx.visitor.test>', ...more];

/** Lines of a report as RFC 3464 describes it, about some recipients. */
const report = (status: readonly string[], returned: readonly string[] = [], type = 'delivery-status') => [
  ...fromSystem('Subject: Report', `Content-Type: multipart/report; report-type=${type}; boundary=x`),
  '',
  '--x',
  '',
  'This is the mail system.',
  '--x',
  `Content-Type: message/${type}`,
  '',
  'Reporting-MTA: dns; mx.visitor.test',
  '',
  ...status,
  '--x',
  'Content-Type: message/rfc822',
  '',
  ...returned,
  '',
  'Hello!',
  '--x--',
];

/** Lines of a report that lacks the part for programs. */
const reportWithoutStatus = (subject: string, text: readonly string[], returned: readonly string[]) => [
  `From: Postmaster <postmaster@mx.visitor.test>`,
  `Subject: ${subject}`,
  'Content-Type: multipart/report; report-type=delivery-status; boundary=x',
  '',
  '--x',
  '',
  ...text,
  ...(returned.length === 0 ? [] : ['--x', 'Content-Type: message/rfc822', '', ...returned, '', 'Hello!']),
  '--x--',
];

const failed = (recipient: string, status: string, action = 'failed') => [
  `Final-Recipient: rfc822; ${recipient}`,
  `Action: ${action}`,
  `Status: ${status}`,
  '',
];

/** Sends a mail, lets the inbox receive lines about it, and returns the bounces that this published. */
/** Writes the lines of a report about the mail with this Message-ID; `earlierId` is that of an earlier mail. */
type LinesOf = (messageId: string, earlierId: string) => readonly string[];

/** The envelope of a report: its sender is empty (RFC 5321, section 4.5.5). */
const NULL_SENDER = { envelopeFrom: '' };

async function bouncesAfter(
  service: Service,
  linesOf: LinesOf,
  envelope: { readonly envelopeFrom?: string } = NULL_SENDER,
) {
  const { mailbox } = service;
  const { helpdesk } = openInboxClients(service);
  const earlier = await helpdesk.mail(LEE, { subject: 'Before' });
  const sent = await helpdesk.mail([KIM, LEE]);
  await service.send('PATCH', `/v1/webhooks/${IDS.acme.webhooks.everything}`, {
    key: mailbox.keys.acme.tenant,
    json: { isActive: true, url: 'http://127.0.0.1:1/' },
  });
  const eml = linesOf(sent.messageId, earlier.messageId).join('\r\n');
  await mailbox.receiveMessage({ eml, to: helpdesk.address, ...envelope });
  const bounces = mailbox.deliveries({ event: 'message.bounced' }).map(({ payload }) => payload);
  return { sent, bounces };
}

const bounced = (recipient: string, statusCode: string) => ({ recipient, statusCode });

type Case = [title: string, linesOf: LinesOf, expected?: object];

const BOUNCES: Case[] = [
  [
    'a delivery report that returns the mail',
    (id) => report(failed(KIM, '5.1.1'), [`Message-ID: ${id}`]),
    bounced(KIM, '5.1.1'),
  ],
  [
    'a delivery report that returns the mail, with the Message-ID of another one in its text',
    (id, earlierId) =>
      report(failed(KIM, '5.1.1'), [`Message-ID: ${id}`]).map((line) =>
        line === 'This is the mail system.' ? `Message-ID: ${earlierId}` : line,
      ),
    bounced(KIM, '5.1.1'),
  ],
  [
    'a delivery report that names the mail in In-Reply-To',
    (id) => [`In-Reply-To: ${id}`, ...report(failed(KIM, '4.2.2'))],
    bounced(KIM, '4.2.2'),
  ],
  [
    'a delivery report that names only the recipient',
    () => report(['Original-Recipient: rfc822;Kim@visitor.test', ...failed('k@else.test', '5.7.1')]),
    bounced(KIM, '5.7.1'),
  ],
  [
    'a delivery report about several recipients',
    () => report([...failed(KIM, '5.1.1'), ...failed('x@y.test', '2.0.0', 'delivered'), ...failed(LEE, '5.2.2')]),
    bounced(`${KIM}, ${LEE}`, '5.1.1, 5.2.2'),
  ],
  [
    'a delivery report whose recipient has a bracket too many',
    (id) => report(failed(`${KIM}>`, '5.1.1'), [`Message-ID: ${id}`]),
    bounced(KIM, '5.1.1'),
  ],
  [
    'a delivery report whose recipients have comments',
    () => report([...failed(`${KIM} (forwarded)`, '5.1.1'), ...failed(`<${LEE}> (was: "Lee")`, '5.2.2')]),
    bounced(`${KIM}, ${LEE}`, '5.1.1, 5.2.2'),
  ],
  [
    'a delivery report with the status only in the reply of the other server',
    () =>
      report([
        `Final-Recipient: rfc822; ${KIM}`,
        'Action: failed',
        'Diagnostic-Code: smtp; 550 5.1.1 No such user',
        '',
        `Final-Recipient: rfc822;${LEE}`,
        'Action: failed',
        'Diagnostic-Code: smtp;552 Too full',
      ]),
    bounced(`${KIM}, ${LEE}`, '5.1.1, 5.0.0'),
  ],
  [
    'a delivery report with a status and no action',
    () =>
      report([
        `Final-Recipient: rfc822; ${KIM}`,
        'Status: 5.1.1',
        '',
        `Final-Recipient: rfc822; ${LEE}`,
        'Status: 4.4.1',
      ]),
    bounced(KIM, '5.1.1'),
  ],
  [
    'a report that the delivery was aborted, without a part for programs',
    (id) =>
      reportWithoutStatus(
        'Delivery aborted',
        ['The delivery of your message was aborted:', `  <${KIM}>`],
        [`Message-ID: ${id}`],
      ),
    bounced(KIM, '5.0.0'),
  ],
  [
    'a report without a part for programs, with a status in its text',
    () => reportWithoutStatus('Notice', [`Mail to ${KIM} failed: 550 5.1.1 unknown`], []),
    bounced(KIM, '5.1.1'),
  ],
  [
    'a free text with X-Failed-Recipients',
    () => [
      ...fromSystem(`X-Failed-Recipients: ${KIM}`, 'Subject: Mail delivery failed: returning message to sender', ''),
      'A message that you sent could not be delivered. This is a permanent error.',
      `  ${KIM}\r\n    550 no such user`,
      '------ This is a copy of the message, including all the headers. ------',
      'Subject: We are sorry for the delay',
    ],
    bounced(KIM, '5.0.0'),
  ],
  [
    'a free text with the Message-ID of the mail in its text',
    (id) => [
      ...fromSystem('Subject: failure notice', ''),
      "I'm afraid I wasn't able to deliver your message.",
      `<${KIM}>:`,
      '552 5.2.2 Mailbox full',
      '--- Below this line is a copy of the message.',
      `Message-ID: ${id}`,
    ],
    bounced(KIM, '5.2.2'),
  ],
  [
    'a free text from the null sender that names nobody',
    (id) => ['From: Desk <desk@visitor.test>', 'Subject: Undeliverable: Hello', `References: ${id}`, '', 'Sorry.'],
    bounced(`${KIM}, ${LEE}`, '5.0.0, 5.0.0'),
  ],
  [
    'a free text that names one of two recipients without angle brackets',
    (id) => [
      ...fromSystem('Subject: Delivery Status Notification (Failure)', `In-Reply-To: ${id}`, ''),
      `Your message wasn't delivered to ${KIM} because the address couldn't be found. Ask help@visitor.test.`,
      'The response was:\r\n\r\n550 5.1.1 The account does not exist. Learn more at https://visitor.test/?p=NoSuchUser',
    ],
    bounced(KIM, '5.1.1'),
  ],
  [
    'a free text about two recipients, each with a status',
    (id) => [
      ...fromSystem('Subject: Undeliverable: Hello', `In-Reply-To: ${id}`, ''),
      `Delivery has failed to these recipients:\r\n\r\n${KIM} (${KIM})\r\nRemote server returned '550 5.1.10 not found'`,
      `Lee <${LEE}>: 552 5.2.2 The mailbox is full. Ask postmaster@visitor.test.`,
    ],
    bounced(`${KIM}, ${LEE}`, '5.1.10, 5.2.2'),
  ],
  [
    'a free text that names an address and no mail',
    () => [
      ...fromSystem('Subject: Mail delivery failed: returning message to sender', ''),
      `The following address(es) failed:\r\n\r\n  ${KIM}\r\n    host mx: 550 5.1.1 User unknown`,
    ],
    bounced(KIM, '5.1.1'),
  ],
  [
    'a free text of a mail system from the null sender without a status',
    () => [...fromSystem('Subject: Report', '', `Your message to ${KIM} could not be delivered.`)],
    bounced(KIM, '5.0.0'),
  ],
  [
    'a free text in HTML only',
    (id) => [
      ...fromSystem('Subject: Undeliverable', `In-Reply-To: ${id}`, 'Content-Type: text/html', ''),
      `<style>p { top: 4.4.1 }</style><p>Not delivered to <a href="mailto:${KIM}">${KIM}</a></p><b>550 5.1.1</b> unknown`,
    ],
    bounced(KIM, '5.1.1'),
  ],
  [
    'a free text in HTML only that names nobody',
    (id) => [
      ...fromSystem('Subject: Undeliverable', `In-Reply-To: ${id}`, 'Content-Type: text/html', ''),
      '<p>The response was <b>550 5.1.1</b> unknown</p>',
    ],
    bounced(`${KIM}, ${LEE}`, '5.1.1, 5.1.1'),
  ],
  [
    'a free text with a permanent status and the word successfully',
    () => [...fromSystem('', `It could not be successfully delivered:\r\n<${KIM}>: 550 5.1.1 User unknown`)],
    bounced(KIM, '5.1.1'),
  ],
  [
    'X-Failed-Recipients, and a text with the word successfully',
    () => [...fromSystem(`X-Failed-Recipients: ${KIM}`, '', 'It was not delivered successfully. 550 5.1.1')],
    bounced(KIM, '5.1.1'),
  ],
  [
    'a free text that gives up after a delay',
    () => [
      ...fromSystem('', `<${KIM}>: message delayed too long in the queue (5 days);`),
      '4.4.7 giving up, returned to sender: delivery failed',
    ],
    bounced(KIM, '4.4.7'),
  ],
];

/** Lines of an answer to a mail. */
const answer = (from: string, id: string, ...lines: string[]) => [`From: ${from}`, `In-Reply-To: ${id}`, ...lines];

const NO_BOUNCES: Case[] = [
  [
    'a report of a delay without a part for programs',
    () =>
      reportWithoutStatus(
        'Delayed',
        [`Mail to ${KIM} is delayed, and will be retried if delivery failed.`],
        ['Subject: x'],
      ),
  ],
  [
    'a report that a mail was not read, without a part for programs',
    (id) =>
      reportWithoutStatus('Deleted', ['Your message was aborted.'], [`Message-ID: ${id}`]).map((line) =>
        line.replace('report-type=delivery-status', 'report-type=disposition-notification'),
      ),
  ],
  ['a report of a delay', (id) => report(failed(KIM, '4.4.1', 'delayed'), [`Message-ID: ${id}`])],
  ['a report of a success', (id) => report(failed(KIM, '2.0.0', 'delivered'), [`Message-ID: ${id}`])],
  [
    'a read receipt',
    (id) =>
      report(
        [`Original-Message-ID: ${id}`, 'Disposition: manual-action/MDN-sent-manually; displayed'],
        [`Message-ID: ${id}`],
        'disposition-notification',
      ),
  ],
  [
    'a free text about a delay',
    (id) => [
      ...fromSystem('Subject: Warning: message delayed 24 hours', `In-Reply-To: ${id}`, ''),
      'Your message could not be delivered for 24 hours. It will be retried. You do not need to resend it.',
    ],
  ],
  [
    'an out-of-office',
    (id) => [`From: ${KIM}`, `In-Reply-To: ${id}`, 'Auto-Submitted: auto-replied', 'Subject: Away', '', 'Back soon.'],
  ],
  [
    'a person who asks about an undelivered mail',
    (id) => [`From: ${KIM}`, `In-Reply-To: ${id}`, 'Subject: Undeliverable?', '', '550 5.1.1 is what I got.'],
  ],
  [
    'a person at postmaster who names a version',
    (id) => answer('postmaster@visitor.test', id, 'Subject: Re: Order', '', 'Please use version 5.1.1 of the plan.'),
  ],
  [
    'a person whose name is that of a mail system',
    (id) =>
      answer(
        'Mail Delivery System <noreply@visitor.test>',
        id,
        '',
        `Mail delivery failed: the courier missed <${KIM}>.`,
      ),
  ],
  [
    'a person with X-Failed-Recipients',
    (id) => answer(LEE, id, `X-Failed-Recipients: ${KIM}`, 'Subject: Hi', '', 'It does not exist.'),
  ],
  [
    'a person who passes on a report',
    (id) => [
      ...answer(KIM, id, 'Subject: Fwd: Undeliverable', 'Content-Type: multipart/mixed; boundary=x', ''),
      ...report(failed(KIM, '5.1.1'), [`Message-ID: ${id}`]).slice(4),
    ],
  ],
  [
    'an automatic answer from the null sender to a mail about a failure',
    (id) => answer(KIM, id, 'Subject: Automatic reply: Your mail has failed', '', 'Back soon.'),
  ],
  [
    'X-Failed-Recipients in a report of a delay',
    (id) => [
      ...fromSystem(`In-Reply-To: ${id}`, `X-Failed-Recipients: ${KIM}`, ''),
      'Undelivered. It will be retried.',
    ],
  ],
  ['a report about a mail of somebody else', () => report(failed('x@y.test', '5.1.1'), ['Message-ID: <1@y.test>'])],
  ['a report without a recipient and a mail', () => report(failed('', '5.1.1'))],
];

describe('an inbound report', () => {
  for (const [title, linesOf, expected] of BOUNCES) {
    everywhere(`publishes the bounce of a mail: ${title}`, async (service) => {
      const { sent, bounces } = await bouncesAfter(service, linesOf);
      expect(bounces).toEqual([expect.objectContaining({ messageId: sent.id, threadId: sent.threadId, ...expected })]);
      const rows = service.mailbox.snapshot().tenants[0]?.messages ?? [];
      expect(rows.filter(({ bouncedAt }) => bouncedAt !== null).map(({ id }) => id)).toEqual([sent.id]);
    });
  }

  for (const [title, linesOf] of NO_BOUNCES) {
    everywhere(`publishes no bounce: ${title}`, async (service) => {
      const envelope = title.includes('person') ? { envelopeFrom: KIM } : NULL_SENDER;
      expect((await bouncesAfter(service, linesOf, envelope)).bounces).toEqual([]);
    });
  }

  everywhere('that comes as a file without an envelope publishes the bounce too', async (service) => {
    const { sent, bounces } = await bouncesAfter(
      service,
      (id) => report(failed(KIM, '5.1.1'), [`Message-ID: ${id}`]),
      {},
    );
    expect(bounces).toEqual([expect.objectContaining({ messageId: sent.id, ...bounced(KIM, '5.1.1') })]);
  });

  everywhere('of separate fields publishes the bounce too', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const sent = await helpdesk.mail(KIM);
    const before = service.mailbox.snapshot().tenants[0]?.messages.find(({ id }) => id === sent.id)?.bouncedAt;
    await service.mailbox.receiveMessage({
      to: helpdesk.address,
      from: 'postmaster@visitor.test',
      subject: 'Undelivered Mail Returned to Sender',
      headers: { 'X-Failed-Recipients': KIM },
    });
    const after = service.mailbox.snapshot().tenants[0]?.messages.find(({ id }) => id === sent.id)?.bouncedAt;
    expect([before, after]).toEqual([null, expect.any(String)]);
  });

  everywhere('about the mail of another inbox publishes nothing', async (service) => {
    const { helpdesk, billing } = openInboxClients(service);
    const sent = await billing.mail(KIM);
    const eml = report(failed(KIM, '5.1.1'), [`Message-ID: ${sent.messageId}`]).join('\r\n');
    await service.mailbox.receiveMessage({ eml, to: helpdesk.address });
    const rows = service.mailbox.snapshot().tenants[0]?.messages ?? [];
    expect(rows.every(({ bouncedAt }) => bouncedAt === null)).toBe(true);
  });
});

everywhere('a bounce within the emulator puts a report into the inbox, which publishes the bounce', async (service) => {
  const { helpdesk } = openInboxClients(service);
  const sent = await helpdesk.mail(['bounce@simulator.test', ADDRESS.dana, 'no=body@acme.test']);
  const reports = (await helpdesk.list('?direction=inbound')).slice(-2);
  expect(reports.map(({ threadId, from, attachments }) => [threadId, from, attachments.length])).toEqual(
    Array(2).fill([sent.threadId, 'mailer-daemon@mailbox.test', 2]),
  );
  expect(reports[1].plainBody).toContain('<no=body@acme.test>: 550 5.1.1 There is no inbox with the address');
  const raw = await helpdesk.call('GET', `/messages/${reports[0].id}/raw`);
  expect(raw.text).toMatch(/^Return-Path: <>\r\n/);
  expect(raw.text).toContain('Final-Recipient: rfc822; bounce@simulator.test');
  const row = service.mailbox.snapshot().tenants[0]?.messages.find(({ id }) => id === sent.id);
  expect(row?.bouncedAt).toEqual(expect.any(String));
});

test('a very long text of a mail system is read in a short time', () => {
  for (const text of [
    '-'.repeat(400_000),
    `<${'a'.repeat(400_000)}`,
    'message '.repeat(50_000),
    '<'.repeat(400_000),
    'a@b '.repeat(100_000),
    '5.1.1 '.repeat(60_000),
  ]) {
    const message = {
      raw: null,
      headers: {},
      from: 'x',
      fromAddress: 'postmaster@x.test',
      subject: text,
      plainBody: text,
    };
    const rest = { to: [], cc: [], replyTo: null, references: [], inReplyTo: null, messageIdHeader: '', receivedAt: 0 };
    expect(readBounceReport({ ...message, ...rest } as unknown as MessageRow, () => [])).toBeUndefined();
  }
});
