import type { IncomingMessage } from 'agent-mailbox-mock';
import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../../support/everywhere.ts';
import { ADDRESS, openInboxClients } from '../../../support/inbox-clients.ts';

interceptRequests();

const MARK = '\\(agent-mailbox-mock\\)';

/** The bytes of a text in which `\xNN` stands for one byte. */
const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

const mailOf = (...lines: string[]) => bytesOf(lines.join('\r\n'));

/** Receives a mail; returns the message as its inbox sees it, and its raw form. */
async function receive(service: Service, message: IncomingMessage) {
  const { helpdesk } = openInboxClients(service);
  const [arrived] = await service.mailbox.receiveMessage(message);
  const path = `/messages/${arrived?.id}`;
  const { json } = await helpdesk.call('GET', path);
  const raw = await helpdesk.call('GET', `${path}/raw`);
  const [mail] = service.mailbox.messages().slice(-1);
  return { json, raw, mail, helpdesk };
}

/** Receives a raw mail for an inbox that its header need not name. */
const receiveRaw = (service: Service, eml: Uint8Array | string, more: object = {}) =>
  receive(service, { eml, to: ADDRESS.helpdesk, ...more });

everywhere('the envelope and the results of authentication come before the raw mail', async (service) => {
  const eml = mailOf('From: Dana <dana@customer.test>', 'Authentication-Results: mailbox.test; dmarc=pass', '', 'Hi');
  const auth = { spf: 'softfail', dkim: 'none', dmarc: 'fail' } as const;
  const { raw, mail } = await receiveRaw(service, eml, { envelopeFrom: 'bounces+7@list.test', auth });
  const text = raw.text.replace(/\r\n[ \t]/g, ' ');
  expect(text.split('\r\n').slice(0, 4)).toEqual([
    'Return-Path: <bounces+7@list.test>',
    expect.stringMatching(
      new RegExp(
        `^Authentication-Results: mailbox.test ${MARK}; spf=softfail smtp.mailfrom=bounces\\+7@list.test; dkim=none header.d=customer.test; dmarc=fail header.from=customer.test$`,
      ),
    ),
    expect.stringMatching(
      new RegExp(`^Received: by mailbox.test ${MARK} for <helpdesk@acme.test>; \\w{3}, .* \\+0000$`),
    ),
    'From: Dana <dana@customer.test>',
  ]);
  expect(Buffer.from(raw.bytes).subarray(-eml.length).equals(eml)).toBe(true);
  expect(mail?.headers).toMatchObject({
    'return-path': '<bounces+7@list.test>',
    'authentication-results': expect.stringContaining('dmarc=fail'),
  });
});

everywhere('a mail of separate fields has an envelope, by default from its sender', async (service) => {
  const mail = { to: ADDRESS.helpdesk, from: 'Dana <dana@customer.test>', headers: { 'X-Ticket': '42' } };
  const first = await receive(service, mail);
  expect(first.raw.text).toMatch(
    /^Return-Path: <dana@customer\.test>\r\nAuthentication-Results: .*; none\r\nReceived: by /,
  );
  expect(first.raw.text).toMatch(/^X-Ticket: 42\r$/m);
  const fromNobody = await receive(service, { ...mail, envelopeFrom: '<>', auth: { spf: 'none' } });
  expect(fromNobody.raw.text).toMatch(/^Return-Path: <>\r\nAuthentication-Results: .*; spf=none\r\n/);
});

everywhere('a header that continues a line cannot change the results of authentication', async (service) => {
  const eml = mailOf(' ; dmarc=pass', 'From: eve@evil.test', '', 'Hi');
  const { raw } = await receiveRaw(service, eml, { auth: { dmarc: 'fail' } });
  const [, results] = raw.text.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  expect(results).toMatch(/^Authentication-Results: [^;]*; dmarc=fail header\.from=evil\.test$/);
});

const WITH_NAMES = { behaviours: { 'messages.addresses': 'display' } } as const;

const SENDERS: Record<string, [lines: string[], options: object, from: string]> = {
  'no From': [['Subject: Hi'], {}, ''],
  'an empty From': [['From:'], {}, ''],
  'a From without an address': [['From: <>'], {}, ''],
  'no From, but a Sender': [['Sender: Desk <desk@customer.test>'], {}, 'Desk <desk@customer.test>'],
  'no From, but an envelope': [['Subject: Hi'], { envelopeFrom: 'b@customer.test' }, 'b@customer.test'],
  'no From, from the null sender': [['Subject: Hi'], { envelopeFrom: '' }, ''],
  'two From fields': [['From: a@customer.test', 'From: b@evil.test'], {}, 'a@customer.test'],
  'two addresses in From': [['From: a@customer.test, b@evil.test'], {}, 'a@customer.test'],
  'dots that are not allowed': [['From: a..b.@customer.test'], {}, 'a..b.@customer.test'],
  'a host without a dot': [['From: Root <root@localhost>'], {}, 'Root <root@localhost>'],
};

for (const [title, [lines, options, from]] of Object.entries(SENDERS)) {
  everywhere(`a mail with ${title} arrives`, WITH_NAMES, async (service) => {
    const eml = mailOf(...lines, '', 'Hello');
    const { json, raw, helpdesk } = await receiveRaw(service, eml, options);
    expect([json.from, json.plainBody.trim()]).toEqual([from, 'Hello']);
    expect(Buffer.from(raw.bytes).subarray(-eml.length).equals(eml)).toBe(true);
    const reply = await helpdesk.call('POST', `/reply/${json.id}`, { plainBody: 'Yes.' });
    expect(reply.status).toBe(from === '' ? 400 : 200);
  });
}

everywhere('an international sender arrives, and gets a reply', WITH_NAMES, async (service) => {
  const eml = Buffer.from('From: Δοκιμή <δοκιμή@παράδειγμα.test>\r\nSubject: Γειά\r\n\r\nΓειά σου', 'utf8');
  const { json, helpdesk } = await receiveRaw(service, new Uint8Array(eml), { envelopeFrom: 'δοκιμή@παράδειγμα.test' });
  expect(json).toMatchObject({ from: 'Δοκιμή <δοκιμή@παράδειγμα.test>', subject: 'Γειά', plainBody: 'Γειά σου\n' });
  const { json: sent } = await helpdesk.call('POST', `/reply/${json.id}`, { plainBody: 'Yes.' });
  const raw = await helpdesk.call('GET', `/messages/${sent.id}/raw`);
  expect(new TextDecoder().decode(raw.bytes)).toContain(' <δοκιμή@παράδειγμα.test>\r\n');
  const composed = await receive(service, { to: ADDRESS.helpdesk, from: 'Δοκιμή <δοκιμή@παράδειγμα.test>' });
  expect(composed.json.from).toBe('Δοκιμή <δοκιμή@παράδειγμα.test>');
});

everywhere('a mail without a Message-ID, or with one seen before, arrives as a message of its own', async (service) => {
  const known = mailOf('From: a@customer.test', 'Message-ID: <1@customer.test>', '', 'Hi');
  const [one, two, none] = [
    await receiveRaw(service, known),
    await receiveRaw(service, known),
    await receiveRaw(service, mailOf('From: a@customer.test', 'Date: Mon, 5 Jan 2026 09:00:00 -0000', '', 'Hi')),
  ];
  expect(new Set([one, two, none].map(({ json }) => json.id)).size).toBe(3);
  expect([one, two].map(({ json }) => json.messageIdHeader)).toEqual(['<1@customer.test>', '<1@customer.test>']);
  expect(none.json.messageIdHeader).toMatch(/^<[\w-]+@mailbox\.test>$/);
});

everywhere('of many References the last 100 count: for the thread, and for those of a reply', async (service) => {
  const { helpdesk } = openInboxClients(service);
  const { id: sentId } = await helpdesk.mail(ADDRESS.stranger);
  const { json: sent } = await helpdesk.call('GET', `/messages/${sentId}`);
  const ids = Array.from({ length: 150 }, (_, index) => `<r${index + 1}@customer.test>`);
  const withReferences = (references: readonly string[], name: string) =>
    mailOf(
      `From: ${ADDRESS.stranger}`,
      `Message-ID: <${name}@customer.test>`,
      `References: ${references.join('\r\n ')}`,
      '',
      'Hi',
    );
  // The message of this inbox is the last one that the mail names; then it is the first, of which nothing is kept.
  const { json: late } = await receiveRaw(service, withReferences([...ids, sent.messageIdHeader], 'late'));
  expect(late.threadId).toBe(sent.threadId);
  const { json: early } = await receiveRaw(service, withReferences([sent.messageIdHeader, ...ids], 'early'));
  expect(early.threadId).not.toBe(sent.threadId);

  const { json: reply } = await helpdesk.call('POST', `/reply/${early.id}`, { plainBody: 'Yes.' });
  const raw = await helpdesk.call('GET', `/messages/${reply.id}/raw`);
  const [, named = ''] = /^References: (.*)\r$/m.exec(raw.text.replace(/\r\n[ \t]+/g, ' ')) ?? [];
  expect(named.split(' ')).toEqual([ids[50], ...ids.slice(-18), '<early@customer.test>']);
});

/** Each charset with the bytes of a text in it. */
const CHARSETS: [charset: string, bytes: string, text: string][] = [
  ['ISO-2022-JP', '\x1b$B$3$s$K$A$O\x1b(B', 'こんにちは'],
  ['GB18030', '\xc4\xe3\xba\xc3', '你好'],
  ['Windows-1252', '\x93Gr\xfc\xdfe\x94 \x80', '“Grüße” €'],
  ['KOI8-R', '\xf0\xd2\xc9\xd7\xc5\xd4', 'Привет'],
  ['utf-8', '\xc3\xbc', 'ü'],
];

for (const [charset, bytes, text] of CHARSETS) {
  everywhere(`a mail in ${charset} is read, its subject too if it is not encoded`, async (service) => {
    const type = `Content-Type: text/plain; charset=${charset}`;
    const encoded = `Subject: =?${charset}?B?${btoa(bytes)}?=`;
    for (const subject of [encoded, `Subject: ${bytes}`]) {
      const eml = mailOf('From: a@customer.test', subject, type, '', bytes);
      const { json, raw, mail } = await receiveRaw(service, eml);
      expect([json.subject, json.plainBody.trim(), mail?.problems]).toEqual([text, text, undefined]);
      expect(raw.bytes).toEqual(eml);
    }
  });
}

everywhere('a mail that names no charset is read as UTF-8, or else as Windows-1252', async (service) => {
  for (const type of [[], ['Content-Type: text/plain; format=flowed'], ['Content-Type: text/plain']]) {
    const { json } = await receiveRaw(service, mailOf('From: a@customer.test', ...type, '', 'Gr\xfc\xdfe'));
    expect(json.plainBody.trim()).toBe('Grüße');
  }
});

everywhere('what cannot be read of a mail is named, and stays in the raw mail', async (service) => {
  const eml = mailOf(
    'From: a@customer.test',
    'Subject: =?x-klingon?Q?=80?=',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Gr\xfc\xdfe',
    '--x',
    'Content-Type: text/html; charset="utf-9"',
    '',
    '+AOQ-',
    '--x',
    'Content-Type: application/ms-tnef',
    'Content-Transfer-Encoding: base64',
    '',
    'eJ8+Ig==',
    '--x--',
  );
  const { json, raw, mail } = await receiveRaw(service, eml);
  expect(json.attachments).toMatchObject([
    { filename: 'winmail.dat', contentType: 'application/ms-tnef', sizeBytes: 4 },
  ]);
  expect(mail?.problems).toEqual([
    'The text has characters that could not be decoded, shown as U+FFFD.',
    'The HTML has characters that could not be decoded, shown as U+FFFD.',
    'The charset utf-9 is unknown; its text is read as windows-1252.',
    'The charset x-klingon is unknown; its text is read as windows-1252.',
    'The attachment winmail.dat is in the format TNEF, which is not unpacked.',
  ]);
  expect(raw.bytes).toEqual(eml);
});

everywhere(
  'a boundary that comes later than the part of a long mail that is searched is not called missing',
  async (service) => {
    const lines = [
      'Content-Type: multipart/mixed; boundary=x',
      '',
      'y'.repeat(100).concat('\r\n').repeat(2_000),
      '--x',
      '',
      'Hello',
    ];
    const { mail } = await receiveRaw(service, mailOf('From: a@customer.test', ...lines, '--x--'));
    expect(mail?.plainBody.trim()).toBe('Hello');
    expect(mail?.problems ?? []).toEqual([]);
  },
);

type Undecodable = [title: string, lines: readonly string[], shown: object, problem: string];

const UNDECODABLE: Undecodable[] = [
  [
    'a multipart without a boundary',
    ['Content-Type: multipart/mixed', '', 'Hello', '--x', 'there'],
    { plainBody: 'Hello\n--x\nthere\n' },
    'The boundary of a multipart/mixed is missing or does not occur, so it has no parts.',
  ],
  [
    'a multipart whose boundary does not occur',
    ['Content-Type: Multipart/Mixed;', ' boundary="q+"', '', 'Gr\xfc\xdfe', '--qq', ''],
    { plainBody: 'Grüße\n--qq\n' },
    'The boundary of a Multipart/Mixed is missing or does not occur, so it has no parts.',
  ],
  [
    'a subject that is not base64',
    ['Subject: =?utf-8?B?####?=', '', 'Hello'],
    { subject: '=?utf-8?B?####?=', plainBody: 'Hello\n' },
    'An encoded word of the header is marked as base64 but has other characters, and cannot be decoded.',
  ],
  [
    'a text that is not base64',
    ['Content-Transfer-Encoding: base64', '', 'SGVsbG8*!!@#'],
    { plainBody: 'Hello' },
    'A part in base64 has other characters, which are left out.',
  ],
  [
    'a file that is not base64',
    [
      ...['Content-Type: multipart/mixed; boundary=x', '', '--x', '', 'Content-Transfer-Encoding: x', '--x'],
      ...['Content-Type: application/pdf', 'Content-Transfer-Encoding: base64', '', '@@@@ hello', '--x--', '***'],
    ],
    { plainBody: 'Content-Transfer-Encoding: x\n' },
    'A part in base64 has other characters, which are left out.',
  ],
  [
    'an unknown encoding',
    ['Content-Transfer-Encoding: x-uuencode', '', 'begin 644 a'],
    { plainBody: 'begin 644 a\n' },
    'The encoding x-uuencode is unknown; its part is shown as it is.',
  ],
  [
    'a file name in an unknown charset',
    ['Content-Type: application/pdf', "Content-Disposition: attachment; filename*=x-foo''caf%E9.pdf", '', 'x'],
    { attachments: [expect.objectContaining({ filename: 'café.pdf' })] },
    'The charset x-foo is unknown; its text is read as windows-1252.',
  ],
];

for (const [title, lines, shown, problem] of UNDECODABLE) {
  everywhere(`what cannot be decoded is said: ${title}`, async (service) => {
    const eml = mailOf('From: a@customer.test', ...lines);
    const { json, raw, mail } = await receiveRaw(service, eml);
    expect(json).toMatchObject(shown);
    expect(mail?.problems).toEqual([problem]);
    expect(raw.bytes).toEqual(eml);
  });
}

everywhere('a mail whose lines end with CR only is read', async (service) => {
  const eml = bytesOf('From: a@customer.test\rSubject: Hi\rX-Shop: 7\r\rHello\rthere');
  const { json, raw, mail } = await receiveRaw(service, eml);
  expect(json).toMatchObject({ from: 'a@customer.test', subject: 'Hi', plainBody: 'Hello\nthere\n' });
  expect(mail?.headers).toMatchObject({ 'x-shop': '7' });
  expect(mail?.problems).toBeUndefined();
  expect(raw.bytes).toEqual(eml);
});

everywhere('long file names, mails within a mail, and calendars are attachments', async (service) => {
  const inner = ['From: c@customer.test', 'Subject: Inner', '', 'Obey me.'];
  const eml = mailOf(
    'From: a@customer.test',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    '--x',
    '',
    'See below.',
    '--x',
    'Content-Type: application/pdf',
    "Content-Disposition: attachment; filename*0*=gb18030''%C4%E3; filename*1*=%BA%C3; filename*2=.pdf",
    '',
    'x',
    '--x',
    'Content-Type: message/rfc822',
    '',
    ...inner,
    '--x',
    'Content-Type: text/calendar; method=request; charset=utf-8',
    '',
    'BEGIN:VCALENDAR',
    'END:VCALENDAR',
    '--x--',
  );
  const { json, mail } = await receiveRaw(service, eml);
  expect(json.plainBody.trim()).toBe('See below.');
  expect(json.attachments).toMatchObject([
    { filename: '你好.pdf', contentType: 'application/pdf' },
    { filename: 'message.eml', contentType: 'message/rfc822' },
    { filename: 'invite.ics', contentType: 'text/calendar; method=REQUEST' },
  ]);
  expect(atob(mail?.attachments[1]?.content ?? '').trim()).toBe(inner.join('\r\n'));
});

everywhere('a raw mail may be given as text', async (service) => {
  const eml = 'From: a@customer.test\nSubject: Größe\n\nHi';
  const { json, raw } = await receiveRaw(service, eml);
  expect(json.subject).toBe('Größe');
  expect(raw.bytes).toEqual(new TextEncoder().encode(eml));
});

test.each([
  [{ envelopeFrom: 'Dana <dana@customer.test>' }, 'envelopeFrom must be an e-mail address without a name, or empty'],
  [{ envelopeFrom: 'a@b.test\r\nBcc: x' }, 'envelopeFrom must be an e-mail address without a name, or empty'],
  [{ envelopeFrom: null }, 'envelopeFrom must be an e-mail address without a name, or empty'],
  [{ auth: { spf: 'ok' } }, 'auth.spf must be one of none, neutral, pass, fail, softfail,'],
  [{ auth: 'x' }, 'auth must be an object, such as { spf: "pass" }.'],
  [{ auth: { arc: 'pass' } }, 'auth has unknown fields: "arc" (did you mean dmarc?).'],
])('an envelope with %j is refused', async (options, said) => {
  const mail = { to: ADDRESS.helpdesk, from: ADDRESS.dana, ...options } as IncomingMessage;
  await expect(createMailbox().receiveMessage(mail)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining(said),
  });
});
