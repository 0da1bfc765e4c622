import type { CorrespondentOptions, Mail } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { isAutomatic } from '../../../src/service/mail/correspondents/answers.ts';
import { addCorrespondent, arrived, reply, write } from '../../support/correspondents.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { parseTwice } from '../../support/parse-mail.ts';

interceptRequests();

const KIM = 'kim@visitor.test';

async function writeAndSettle(service: Service, to: string, subject?: string, more?: object) {
  const sent = await write(service, to, subject, more);
  await service.mailbox.settled();
  return sent;
}

/** Creates an inbox of Acme with a user name, and sends a mail from it. */
async function writeFrom({ mailbox, send }: Service, username: string, to: string | readonly string[]) {
  const key = mailbox.keys.acme.tenant;
  const { id } = (await send('POST', '/v1/inboxes', { key, json: { username } })).json;
  await send('POST', `/v1/inboxes/${id}/send`, { key, json: { to, subject: 'Hi', plainBody: 'Hi', verified: true } });
  await mailbox.settled();
}

everywhere('an absent person answers once to each sender, as an automatic mail', async (service) => {
  await addCorrespondent(service, { address: `Kim <${KIM}>`, kind: 'out-of-office' });
  const sent = await writeAndSettle(service, KIM);
  await writeAndSettle(service, KIM, 'Again');
  const [notice, ...more] = arrived(service);
  expect(more).toEqual([]);
  expect(notice).toMatchObject({
    from: `Kim <${KIM}>`,
    subject: 'Re: Your order',
    plainBody: expect.stringContaining('out of the office'),
    threadId: sent.threadId,
    headers: { 'auto-submitted': 'auto-replied', 'x-auto-response-suppress': 'All' },
  });
  await writeFrom(service, 'newcomer', KIM);
  expect(arrived(service, 'newcomer@mailbox.test')).toHaveLength(1);
});

everywhere('an absent person answers only mail that names them, and in their own words', async (service) => {
  await addCorrespondent(service, { address: KIM, kind: 'out-of-office', replies: ['Back on Monday.'] });
  await writeAndSettle(service, 'success@simulator.test', 'Hidden', { bcc: [KIM] });
  expect(arrived(service)).toEqual([]);
  await writeAndSettle(service, 'success@simulator.test', 'Named', { cc: [KIM], replyTo: 'billing@acme.test' });
  expect(arrived(service)).toMatchObject([{ subject: 'Re: Named', plainBody: 'Back on Monday.' }]);
});

everywhere('only a person answers an address that nobody reads', async (service) => {
  const kinds = ['out-of-office', 'ticket-system', 'mailing-list', 'bounces'] as const;
  for (const kind of kinds) await addCorrespondent(service, { address: `${kind}@visitor.test`, kind });
  await addCorrespondent(service, { address: KIM, replies: ['Hello?'] });
  const to = [...kinds.map((kind) => `${kind}@visitor.test`), KIM];
  await writeFrom(service, 'no-reply', to);
  expect(service.mailbox.messages({ direction: 'inbound' })).toMatchObject([{ from: KIM, plainBody: 'Hello?' }]);
});

everywhere(
  'an autoresponder answers each mail, also that of programs, and does not say that it is one',
  async (service) => {
    await addCorrespondent(service, { address: KIM, kind: 'autoresponder' });
    for (const headers of [{}, { 'Auto-Submitted': 'auto-replied', Precedence: 'bulk' }]) {
      await writeAndSettle(service, KIM, 'Your order', { headers });
    }
    const answers = arrived(service);
    expect(answers).toMatchObject([1, 2].map(() => ({ from: KIM, plainBody: expect.stringContaining('received it') })));
    const marks = Object.keys(answers[0]?.headers ?? {}).filter((name) => /^auto-|^precedence$|^x-auto/.test(name));
    expect(marks).toEqual([]);
  },
);

everywhere('a ticket system acknowledges a new ticket, and keeps its number in the subject', async (service) => {
  const address = 'support@vendor.test';
  await addCorrespondent(service, { address, kind: 'ticket-system', replies: ['We look into it.'] });
  await writeAndSettle(service, address, 'Broken chair');
  const [acknowledgement] = arrived(service);
  expect(acknowledgement).toMatchObject({
    subject: 'Re: [#1001] Broken chair',
    plainBody: expect.stringContaining('[#1001]'),
    headers: { 'auto-submitted': 'auto-replied' },
  });
  await reply(service, acknowledgement as Mail);
  await service.mailbox.settled();
  const second = arrived(service).at(-1);
  expect(second).toMatchObject({ subject: 'Re: [#1001] Broken chair', plainBody: 'We look into it.' });
  expect(second?.headers['auto-submitted']).toBeUndefined();
  await reply(service, second as Mail);
  await writeAndSettle(service, address, 'Re: Another chair');
  expect(arrived(service).map(({ subject }) => subject)).toEqual([
    'Re: [#1001] Broken chair',
    'Re: [#1001] Broken chair',
    'Re: [#1002] Another chair',
  ]);
});

everywhere('a mailing list sends a copy to each member, with the list as its sender', async (service) => {
  const members = ['helpdesk@acme.test', 'info@globex.test', KIM, 'lee@visitor.test'];
  const address = 'Chairs <chairs@lists.test>';
  await addCorrespondent(service, { address, kind: 'mailing-list', members });
  await addCorrespondent(service, { address: KIM, kind: 'out-of-office' });
  await addCorrespondent(service, { address: 'lee@visitor.test', replies: ['I know one.'] });
  const sent = await writeAndSettle(service, 'chairs@lists.test', 'Best chair?');
  const all = service.mailbox.messages({ direction: 'inbound' }).filter(({ headers }) => headers['list-id']);
  const [copy] = all;
  expect(all.map(({ inboxId }) => inboxId)).toEqual([IDS.acme.inboxes.helpdesk, IDS.globex.inboxes.info]);
  expect(copy).toMatchObject({
    from: 'Acme Helpdesk via Chairs <chairs@lists.test>',
    replyTo: 'Acme Helpdesk <helpdesk@acme.test>',
    subject: 'Best chair?',
    plainBody: 'Which size?',
    headers: {
      'list-id': 'Chairs <chairs.lists.test>',
      'list-post': '<mailto:chairs@lists.test>',
      'list-unsubscribe': expect.stringMatching(/^<https:\/\/lists\.test\/.+>, <mailto:chairs-leave@lists\.test>$/),
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      precedence: 'list',
    },
  });
  expect(sent.id).not.toBe(copy?.id);
  const answers = arrived(service).filter(({ from }) => from !== copy?.from);
  expect(answers).toMatchObject([{ from: 'lee@visitor.test', plainBody: 'I know one.', subject: 'Re: Best chair?' }]);
});

everywhere('a mailing list without members sends the copy to the sender', async (service) => {
  await addCorrespondent(service, { address: 'chairs@lists.test', kind: 'mailing-list' });
  await writeAndSettle(service, 'chairs@lists.test');
  expect(arrived(service)).toMatchObject([{ subject: 'Your order', headers: { precedence: 'list' } }]);
});

everywhere('an address that bounces sends a delivery report from the null sender', async (service) => {
  const { mailbox, send } = service;
  await addCorrespondent(service, {
    address: 'gone@customer.test',
    kind: 'bounces',
    status: '5.2.2',
    diagnostic: '552 5.2.2 Full.',
  });
  const sent = await writeAndSettle(service, 'gone@customer.test');
  const [report] = mailbox.messages({ direction: 'inbound' });
  expect(report).toMatchObject({
    from: 'Mail Delivery System <mailer-daemon@mx.customer.test>',
    threadId: sent.threadId,
    plainBody: expect.stringContaining('552 5.2.2 Full.'),
    headers: { 'return-path': '<>', 'auto-submitted': 'auto-replied', 'x-failed-recipients': 'gone@customer.test' },
  });
  const path = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/messages/${report?.id}/raw`;
  const { bytes } = await send('GET', path, { key: mailbox.keys.acme.tenant });
  const raw = new TextDecoder().decode(bytes);
  expect(raw).toContain('Final-Recipient: rfc822; gone@customer.test\r\nAction: failed\r\nStatus: 5.2.2\r\n');
  for (const parsed of Object.values(await parseTwice(bytes))) {
    expect(parsed.subject).toBe('Undelivered Mail Returned to Sender');
  }
});

const SENDERS: readonly [options: object, returnPath: string][] = [
  [{ replies: ['Yes.'] }, `<${KIM}>`],
  [{ kind: 'out-of-office' }, '<>'],
  [{ kind: 'ticket-system' }, '<>'],
  [{ kind: 'mailing-list' }, '<kim-bounces@visitor.test>'],
];

for (const [options, returnPath] of SENDERS) {
  everywhere(
    `an answer has the trace of mail from outside, with the sender ${returnPath}: ${JSON.stringify(options)}`,
    async (service) => {
      await addCorrespondent(service, { address: KIM, ...options } as CorrespondentOptions);
      await writeAndSettle(service, KIM);
      const [answer] = arrived(service);
      expect(answer?.headers['authentication-results']).toMatch(/; none$/);
      const path = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/messages/${answer?.id}/raw`;
      const { text } = await service.send('GET', path, { key: service.mailbox.keys.acme.tenant });
      expect(
        text
          .split('\r\n')
          .map((line) => line.split(':', 1)[0])
          .slice(0, 3),
      ).toEqual(['Return-Path', 'Authentication-Results', 'Received']);
      expect(text).toContain(`Return-Path: ${returnPath}\r\n`);
      expect(service.mailbox.deliveries({ event: 'message.bounced' })).toEqual([]);
    },
  );
}

everywhere('correspondents of international addresses answer, and their mail can be selected', async (service) => {
  const { mailbox } = service;
  const from = 'Zoë <zoë@bücher.test>';
  const message = { to: 'helpdesk@acme.test', from, subject: 'Hi', plainBody: 'Hi' };
  await addCorrespondent(service, { address: from, replies: ['Danke.'], quoting: 'gmail' });
  await addCorrespondent(service, { address: 'liste@bücher.test', kind: 'mailing-list', members: ['zoë@bücher.test'] });
  const [received] = await mailbox.receiveMessage(message);
  await reply(service, { id: received?.id ?? '' });
  await mailbox.settled();
  expect(arrived(service).at(-1)).toMatchObject({ from, plainBody: expect.stringContaining('Danke.') });
  expect(mailbox.messages({ to: 'Zoë@Bücher.test' })).toMatchObject([{ direction: 'outbound', to: [from] }]);
  expect(await mailbox.waitForMessage({ to: 'zoë@bücher.test' })).toMatchObject({ subject: 'Re: Hi' });
});

const AUTOMATIC: readonly [string, Record<string, string>, string?][] = [
  ['Auto-Submitted', { 'auto-submitted': 'auto-generated' }],
  ['Precedence', { precedence: 'bulk' }],
  ['a List header', { 'list-id': '<a.lists.test>' }],
  ['the null sender', { 'return-path': '<>' }],
  ['X-Auto-Response-Suppress', { 'x-auto-response-suppress': 'OOF' }],
  ['a sender that nobody reads', {}, 'Shop <no-reply@shop.test>'],
  ['the sender of bounces', {}, 'MAILER-DAEMON@mx.test'],
  ['the owner of a list', {}, 'owner-chairs@lists.test'],
];

test.each(AUTOMATIC)('mail with %s is automatic', (_, headers, from = 'dana@customer.test') => {
  expect(isAutomatic({ from, headers })).toBe(true);
});

test.each([
  [{}],
  [{ 'auto-submitted': 'No' }],
  [{ precedence: 'first-class' }],
  [{ 'return-path': '<dana@customer.test>', 'x-auto-response-suppress': 'None' }],
])('mail with the header %j is from a person', (headers) => {
  expect(isAutomatic({ from: 'Norep <noreplica@customer.test>', headers })).toBe(false);
});
