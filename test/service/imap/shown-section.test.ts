import { expect, test } from 'vitest';
import { startImap } from '../../support/imap-server.ts';
import { type MarkedMail, partsInJournal, partsSeenIn, receiveMarked } from '../../support/marked-mail.ts';

/** Items of FETCH: what reads nothing of the content, what reads all or a piece of it, by its numbers and by its names. */
const ITEMS = [
  ...['UID', 'FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE', 'BODY', 'BODYSTRUCTURE', 'ALL', 'FAST', 'FULL'],
  ...['EMAILID', 'THREADID', 'RFC822', 'RFC822.HEADER', 'RFC822.TEXT', 'BODY[]', 'BODY.PEEK[]', 'BODY[TEXT]'],
  ...['BODY[HEADER]', 'BODY[HEADER.FIELDS (Subject)]', 'BODY[HEADER.FIELDS (Date)]', 'BODY[HEADER.FIELDS.NOT (Date)]'],
  ...['BODY[HEADER.FIELDS.NOT (Subject)]', 'BODY[1]', 'BODY[1.1]', 'BODY[1.2]', 'BODY[2]', 'BODY[3]', 'BODY[2.MIME]'],
  ...['BODY[1.1.MIME]', 'BODY[1.1]<0.60>', 'BODY[1.1]<0.100000>', 'BODY[1.1]<100000.5>', 'BODY.PEEK[TEXT]<0.600>'],
  ...['(FLAGS BODY[1.1] BODY[2])', '(ENVELOPE BODY[1.2])', 'BODY[2.HEADER]'],
];

test('the journal says what each item of FETCH shows of a mail', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  for (const item of ITEMS) {
    mailbox.reset();
    const mail = await receiveMarked(mailbox, 'one');
    const other = await receiveMarked(mailbox, 'two');
    const talk = await running.session('INBOX');
    const [uid = ''] = (await talk.ok('SEARCH SUBJECT onesubjectq')).join().match(/\d+$/) ?? [];
    const { lines } = await talk.command(`FETCH ${uid} ${item}`);
    expect([item, partsInJournal(mailbox, mail)]).toEqual([item, partsSeenIn(lines.join('\n'), mail)]);
    expect(partsInJournal(mailbox, other)).toEqual([]);
  }
});

test('a command that shows no content is no reading', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  const mail: MarkedMail = await receiveMarked(mailbox, 'one');
  const talk = await running.session('INBOX');
  await talk.ok('STORE 1:* +FLAGS (\\Seen)');
  await talk.ok('COPY 1:* Archive');
  await talk.ok('SEARCH TEXT oneplainendq');
  expect(partsInJournal(mailbox, mail)).toEqual([]);
  const named = mailbox.journal({ kinds: ['read'] }).filter(({ data }) => data.messageIds.includes(mail.id));
  expect(named.map(({ data }) => [data.command, data.parts])).toEqual([['STORE', []]]);
});

test('of several texts in a mail, one alone is a piece, and of several files each is told', async () => {
  await using running = await startImap();
  const { mailbox } = running.server;
  const part = (type: string, text: string) => `--b\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`;
  const eml = [
    'From: dana@customer.test\r\nTo: helpdesk@acme.test\r\nSubject: Several\r\nMIME-Version: 1.0\r\n',
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n',
    part('text/plain', 'First'),
    part('application/pdf; name=a.pdf', 'A'),
    part('text/plain', 'Second'),
    part('application/pdf; name=b.pdf', 'B'),
    part('message/rfc822', 'Subject: Inner\r\n\r\nText'),
    '--b--\r\n',
  ].join('');
  const fetch = async (item: string) => {
    mailbox.reset();
    const [{ id = '' } = {}] = await mailbox.receiveMessage({ to: 'helpdesk@acme.test', eml } as never);
    const talk = await running.session('INBOX');
    const [number = ''] = (await talk.ok('SEARCH SUBJECT Several')).join().match(/\d+$/) ?? [];
    await talk.ok(`FETCH ${number} ${item}`);
    const names = new Map(
      (mailbox.mail(id).api as never as { attachments: { id: string; filename: string }[] }).attachments.map((each) => [
        each.id,
        each.filename,
      ]),
    );
    return mailbox
      .journal({ kinds: ['read'] })
      .flatMap(({ data }) => [...data.parts, ...data.attachmentIds.map((each) => names.get(each))]);
  };
  expect(await fetch('BODY[1]')).toEqual(['snippet']);
  expect(await fetch('(BODY[1] BODY[2])')).toEqual(['snippet', 'attachment', 'a.pdf']);
  expect(await fetch('BODY[4]')).toEqual(['attachment', 'b.pdf']);
  expect(await fetch('BODY[5]')).toEqual(['attachment', 'message.eml']);
  expect(await fetch('BODY[5.TEXT]')).toEqual(['snippet']);
  expect(await fetch('BODY[5.HEADER]')).toEqual(['snippet']);
  expect(await fetch('BODY[TEXT]')).toEqual(['plainBody', 'attachment', 'fileNames', 'a.pdf', 'b.pdf', 'message.eml']);
});
