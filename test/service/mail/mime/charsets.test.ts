import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { decodeText } from '../../../../src/service/mail/mime/decode.ts';
import { everywhere, interceptRequests } from '../../../support/everywhere.ts';
import { ADDRESS, openInboxClients } from '../../../support/inbox-clients.ts';

interceptRequests();

/** The bytes of lines in which one character stands for each byte. */
const mailOf = (...lines: string[]) => Uint8Array.from(lines.join('\r\n'), (character) => character.charCodeAt(0));

async function receive(...lines: string[]) {
  const mailbox = createMailbox();
  await mailbox.receiveMessage({ eml: mailOf(...lines), to: ADDRESS.helpdesk });
  return mailbox.messages().at(-1);
}

const SUBJECTS: readonly [title: string, field: string, subject: string][] = [
  ['utf-7 in Q', '=?utf-7?Q?Gr+APwA3w-e_1_+-_1?=', 'Grüße 1 + 1'],
  ['utf-7 in B', `=?UTF-7?B?${btoa('+AOTYPdyp-')}?=`, 'ä\u{1f4a9}'],
  ['unicode-1-1-utf-7 with a language', '=?unicode-1-1-utf-7*de?q?+AOQ?=', 'ä'],
  ['ibm850', '=?ibm850?Q?Gr=81=E1e_=9B?=', 'Grüße ø'],
  ['cp850 in two words', '=?cp850?Q?=84?= =?CP850?B?lA==?=', 'äö'],
  ['cp437 and cp858', '=?cp437?Q?=9B?= =?cp00858?Q?=D5?=', '¢€'],
  ['ibm850 beside utf-8', 'a =?ibm850?Q?=84?= =?utf-8?Q?=C3=B6?= b', 'a äö b'],
  ['a raw byte in a word in iso-8859-1', '=?iso-8859-1?Q?M\xfcller_=E4?=', 'Müller ä'],
  ['raw bytes in a word in utf-8', '=?utf-8?Q?M\xc3\xbcller_=C3=A4?=', 'Müller ä'],
  ['a raw byte in a word in koi8-r', '=?koi8-r?q?\xf0?= =?koi8-r?q?=D2?=', 'Пр'],
  ['a raw byte in a word in base64', '=?iso-8859-1?B?Tfxs\xfcbGVy?=', 'Müller'],
  ['raw bytes within and beside a word', '\xe4 =?iso-8859-1?Q?\xfc?= \xf6', 'ä ü ö'],
];

test.each(SUBJECTS)('a header with %s is decoded', async (_, field, subject) => {
  const mail = await receive('From: a@b.test', `Subject: ${field}`, '', 'x');
  expect(mail?.subject).toBe(subject);
});

test('names of people and files are decoded from these charsets, too', async () => {
  const mail = await receive(
    'From: =?utf-7?Q?J+APY-rg?= <a@b.test>',
    'To: =?ibm850?Q?J=94rg?= <helpdesk@acme.test>, =?iso-8859-1?Q?M\xfcller?= <m@b.test>',
    'Content-Type: application/octet-stream; name="=?ibm850?Q?=84.bin?="',
    '',
    'x',
  );
  expect([mail?.from, mail?.to, mail?.attachments[0]?.filename]).toEqual([
    'Jörg <a@b.test>',
    ['Jörg <helpdesk@acme.test>', 'Müller <m@b.test>'],
    'ä.bin',
  ]);
  expect(mail?.problems).toBeUndefined();
});

test.each([
  ['utf-7', 'Gr+APwA3w-e +- 1+AKM +', 'Grüße + 1£ +'],
  ['ibm850', 'Gr\x81\xe1e', 'Grüße'],
  ['IBM-437', '\x9b', '¢'],
])('a text in %s is decoded', async (charset, written, text) => {
  const mail = await receive('From: a@b.test', `Content-Type: text/plain; charset=${charset}`, '', written);
  expect([mail?.plainBody.trimEnd(), mail?.problems]).toEqual([text, undefined]);
});

test('an unknown charset is still named', async () => {
  const mail = await receive('From: a@b.test', 'Content-Type: text/plain; charset=ibm999', '', 'x');
  expect(mail?.problems).toEqual(['The charset ibm999 is unknown; its text is read as windows-1252.']);
});

test.each(['437', '850', '852', '858', '860', '863', '865'])(
  'each byte of the code page %s has its character',
  (page) => {
    const text = decodeText(
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
      `cp${page}`,
    );
    expect(text).toHaveLength(256);
    expect(new Set(text).size).toBe(256);
  },
);

everywhere('a mail whose Message-ID has no angle brackets keeps it, and is threaded by it', async (service) => {
  const { helpdesk } = openInboxClients(service);
  const get = async (...lines: string[]) => {
    const [arrived] = await service.mailbox.receiveMessage({
      eml: mailOf('From: dana@customer.test', ...lines, '', 'x'),
      to: ADDRESS.helpdesk,
    });
    return (await helpdesk.call('GET', `/messages/${arrived?.id}`)).json;
  };
  const first = await get('Message-ID: first.1@customer.test');
  expect(first.messageIdHeader).toBe('first.1@customer.test');
  const answers = [
    await get('In-Reply-To: first.1@customer.test'),
    await get('In-Reply-To: <first.1@customer.test>'),
    await get('References: none@x.test first.1@customer.test'),
    await get('References: <none@x.test>\r\n <first.1@customer.test>'),
    await get('In-Reply-To: Your message of Monday, first.1@customer.test'),
  ];
  expect(answers.map(({ threadId }) => threadId)).toEqual(answers.map(() => first.threadId));
  expect(answers.map(({ inReplyTo }) => inReplyTo)).toEqual([
    'first.1@customer.test',
    '<first.1@customer.test>',
    null,
    null,
    'first.1@customer.test',
  ]);
  const bracketed = await get('Message-ID: <second@customer.test>');
  expect((await get('In-Reply-To: second@customer.test')).threadId).toBe(bracketed.threadId);
  const odd = ['12345', 'with spaces@customer.test', '<with spaces@customer.test>'];
  for (const id of odd) expect((await get(`Message-ID: ${id}`)).messageIdHeader).toBe(id);
  expect((await get('Message-ID: 777')).threadId).toBe((await get('In-Reply-To: 777')).threadId);
  const { json: reply } = await helpdesk.call('POST', `/reply/${first.id}`, { plainBody: 'Yes.' });
  const { json: sent } = await helpdesk.call('GET', `/messages/${reply.id}`);
  expect([sent.threadId, sent.inReplyTo]).toEqual([first.threadId, 'first.1@customer.test']);
  const raw = await helpdesk.call('GET', `/messages/${reply.id}/raw`);
  expect(raw.text).toContain('In-Reply-To: <first.1@customer.test>\r\n');
});
