import fc from 'fast-check';
import MailComposer from 'nodemailer/lib/mail-composer';
import { describe, expect, test } from 'vitest';
import { composeMail } from '../../../../src/service/mail/mime/compose-mail.ts';
import type { AttachmentRow, MessageRow } from '../../../../src/world/store/rows.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { everywhere, interceptRequests } from '../../../support/everywhere.ts';
import { IDS } from '../../../support/ids.ts';
import { openInboxClients } from '../../../support/inbox-clients.ts';
import { type ParsedMail, parseTwice } from '../../../support/parse-mail.ts';

interceptRequests();

const PARSERS = ['postal-mime', 'mailparser'] as const;

const MESSAGE: MessageRow = {
  id: 'ac3e0000-0006-4000-8000-000000000001',
  inboxId: 'ac3e0000-0003-4000-8000-000000000001',
  threadId: 'ac3e0000-0007-4000-8000-000000000001',
  direction: 'inbound',
  from: 'Dana Reyes <dana@customer.test>',
  fromAddress: 'dana@customer.test',
  to: ['helpdesk@acme.test'],
  cc: [],
  bcc: [],
  replyTo: null,
  subject: 'Hello',
  plainBody: 'Hello!',
  htmlBody: null,
  isRead: false,
  isStarred: false,
  isArchived: false,
  deletedAt: null,
  bouncedAt: null,
  messageIdHeader: '<hello-1@customer.test>',
  inReplyTo: null,
  references: [],
  headers: null,
  raw: null,
  receivedAt: '2026-01-06T08:12:03.000Z',
};

function fileOf(filename: string, bytes: Uint8Array, contentType = 'application/octet-stream'): AttachmentRow {
  const content = new Uint8Array(bytes);
  return { id: filename, messageId: MESSAGE.id, filename, contentType, sizeBytes: bytes.byteLength, content };
}

/** Composes a mail, checks it as bytes, and reads it with both parsers. */
function compose(changes: Partial<MessageRow>, files: readonly AttachmentRow[] = []) {
  const mail = composeMail({ ...MESSAGE, ...changes }, files);
  checkBytes(mail);
  return parseTwice(mail);
}

/** What every mail keeps: lines of at most 998 octets that end in CRLF, and heads of ASCII (RFC 5322, section 2). */
function checkBytes(mail: Uint8Array): void {
  const text = Buffer.from(mail).toString('latin1');
  expect(text).toMatch(/^[\t\r\n -~]*$/);
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  for (const line of text.split('\r\n')) expect(line.length).toBeLessThanOrEqual(76 + ' <@>'.length + 254);
  const [head = ''] = text.split('\r\n\r\n');
  for (const line of head.split('\r\n')) expect(line).toMatch(/^(?:[A-Z][A-Za-z-]*: |[\t ])[!-~]/);
}

/** The names of the fields in the head of a mail. */
function fieldNames(mail: Uint8Array): string[] {
  const [head = ''] = Buffer.from(mail).toString('latin1').split('\r\n\r\n');
  return [...head.matchAll(/^([!-9;-~]+):/gm)].map(([, name = '']) => name);
}

const FIELDS = ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version'];
const CONTENT = ['Content-Type', 'Content-Transfer-Encoding'];

const newlines = (text: string) => text.replace(/\r\n|\r/g, '\n');

/** What a parser reads of the only part of a mail: postal-mime adds a newline only where none is at its end. */
function readAlone(parser: (typeof PARSERS)[number], content: string): string {
  const read = newlines(content);
  return parser === 'postal-mime' ? read.replace(/\n$/, '') : read;
}

const SUBJECTS: Record<string, string> = {
  'with accents': 'Größenänderung für Ångström',
  'of emoji': '👩‍👩‍👧‍👦 😀'.repeat(20),
  'from right to left': 'שלום, מה שלומך? مرحبا',
  'of 998 letters': 'x'.repeat(998),
  'of 998 letters beyond ASCII': '漢'.repeat(998),
  'of many words': 'word '.repeat(190).trim(),
  'with white space around and inside': '  two  spaces\tand a tab ',
  'that looks encoded': '=?utf-8?q?not_encoded?= =?utf-8?b?eA==?=',
  'that mixes both': 'Re: naïve =?utf-8?q?x?= plain',
  'with what means something': 'a: b; c, "d" <e@f.test> (g) \\ %41',
};

const BODIES: Record<string, string> = {
  'of one long line': 'x'.repeat(5000),
  'of long words beyond ASCII': 'é漢😀'.repeat(500),
  'with lines that begin with dots': '.\n..\n.a\n\n.',
  'with lines that begin with From': 'From x\n>From y\n From z',
  'with white space at line ends': 'a \nb\t\n \n\t\nc  ',
  'with newlines at both ends': '\n\na\n\n\n',
  'with what quoted-printable means': 'a=b =3D =\n= ==',
  'with emoji at each column': Array.from({ length: 90 }, (_, column) => `${'x'.repeat(column)}😀`).join('\n'),
  'from right to left': 'שלום\nمرحبا',
  'that looks like a boundary': `--=_mixed_${MESSAGE.id}\n--=_mixed_${MESSAGE.id}--\n`,
  'that looks like a head': 'Subject: x\n\nContent-Type: text/html\n',
  'with Windows newlines': 'a\r\nb\r\n',
};

const NAMES: Record<string, string> = {
  'of one word': 'Dana',
  'with accents': 'Zoë Ängström',
  'of emoji': '😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀',
  'with a comma': 'Reyes, Dana',
  'with quotes and a backslash': 'Dana "the \\ boss" Reyes',
  'with brackets and accents': 'Zoë <y>, "x" (z)',
  'with brackets': 'Dana (Sales) [x] <y>',
  'with an address in it': 'kim@customer.test',
  'of one long word': 'x'.repeat(300),
  'of many words': 'word '.repeat(60).trim(),
};

const FILE_NAMES = [
  'notes.txt',
  'two words.txt',
  'Bestellung für 1042.png',
  'a"b\\c.txt',
  "it's (1)*;=,.txt",
  '100%41.txt',
  '報告書😀.pdf',
  ` ${'長い'.repeat(80)}.pdf`,
  `${'x'.repeat(300)}.pdf`,
];

const CRLF_INJECTION = 'x\r\nBcc: evil@evil.test\r\n\r\nEvil';

/** What an author of a fixture could write where a head is made of it. */
const INJECTIONS: Record<string, Partial<MessageRow>> = {
  subject: { subject: CRLF_INJECTION },
  'encoded subject': { subject: '=?utf-8?q?x=0D=0ABcc:_evil@evil.test?=' },
  'quoted name': { from: '"x\\" <evil@evil.test>, \\"y" <dana@customer.test>' },
  'text that is no address': { to: [`${CRLF_INJECTION} <a@b.test>`] },
  'Message-ID': { messageIdHeader: `<a@b.test>\r\nBcc: evil@evil.test` },
  'In-Reply-To': { inReplyTo: `<a@b.test>\r\nBcc: evil@evil.test` },
  References: { references: [`<a@b.test>\r\nBcc: evil@evil.test`] },
};

/** Any text that has no lone surrogate: those cannot be written in UTF-8. */
const anyText = fc.string({ unit: 'grapheme-composite', maxLength: 200 });
const anyCharacters = fc.string({ unit: anyCharacter, maxLength: 200 });

/** Both parsers decode what looks encoded wherever it stands, which RFC 2047, section 5, forbids them in file names. */
const looksEncoded = (text: string) => text.includes('=?');

const text = fc.oneof(anyText, anyCharacters).filter((value) => !/[\p{Cc}\ufeff]/u.test(value));
const singleLine = text.map((value) => value.replace(/\s+/gu, ' ').trim()).filter((value) => !looksEncoded(value));
const body = fc.oneof(
  text,
  fc
    .array(fc.oneof(text, fc.constantFrom('', ' ', '.', 'From ', '\t', '=')), { maxLength: 6 })
    .map((lines) => lines.join('\n')),
);

describe('mail', () => {
  test('is parsed by both parsers to the stored fields', async ({ expect }) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const parsed = await compose(
      {
        to: ['Acme Helpdesk <helpdesk@acme.test>', 'two@acme.test'],
        cc: ['"Reyes, Kim" <kim@customer.test>', 'Zoë <zoe@customer.test>'],
        bcc: ['hidden@customer.test'],
        replyTo: 'Answers <answers@customer.test>',
        plainBody: 'Plain.',
        htmlBody: '<p>Rich: é.</p>',
        inReplyTo: '<before@acme.test>',
        references: ['<first@acme.test>', '<before@acme.test>'],
      },
      [fileOf('all.bin', bytes), fileOf('notes.csv', new TextEncoder().encode('a;b\n'), 'text/csv')],
    );
    for (const parser of PARSERS) {
      expect(parsed[parser]).toEqual({
        from: [{ name: 'Dana Reyes', address: 'dana@customer.test' }],
        to: [
          { name: 'Acme Helpdesk', address: 'helpdesk@acme.test' },
          { name: '', address: 'two@acme.test' },
        ],
        cc: [
          { name: 'Reyes, Kim', address: 'kim@customer.test' },
          { name: 'Zoë', address: 'zoe@customer.test' },
        ],
        replyTo: [{ name: 'Answers', address: 'answers@customer.test' }],
        subject: 'Hello',
        date: '2026-01-06T08:12:03.000Z',
        messageId: '<hello-1@customer.test>',
        inReplyTo: '<before@acme.test>',
        references: ['<first@acme.test>', '<before@acme.test>'],
        plainBody: 'Plain.',
        htmlBody: '<p>Rich: é.</p>',
        attachments: [
          { filename: 'all.bin', contentType: 'application/octet-stream', bytes: [...bytes] },
          { filename: 'notes.csv', contentType: 'text/csv', bytes: [97, 59, 98, 10] },
        ],
      } satisfies ParsedMail);
    }
  });

  test.for(Object.entries(SUBJECTS))('keeps a subject %s', async ([, subject], { expect }) => {
    const parsed = await compose({ subject });
    expect(PARSERS.map((parser) => parsed[parser].subject)).toEqual([subject, subject]);
  });

  test.for(Object.entries(NAMES))('keeps a name %s', async ([, name], { expect }) => {
    const from = `"${name.replace(/["\\]/g, '\\$&')}" <dana@customer.test>`;
    const parsed = await compose({ from, to: [from, 'other@customer.test', from] });
    const person = { name, address: 'dana@customer.test' };
    for (const parser of PARSERS) {
      expect(parsed[parser].from).toEqual([person]);
      expect(parsed[parser].to).toEqual([person, { name: '', address: 'other@customer.test' }, person]);
    }
  });

  test.for(Object.entries(BODIES))('keeps a body %s', async ([, plainBody], { expect }) => {
    const alone = await compose({ plainBody });
    const beside = await compose({ plainBody, htmlBody: `<pre>${plainBody}</pre>` }, [
      fileOf('a.bin', new Uint8Array(1)),
    ]);
    const html = await compose({ plainBody: '', htmlBody: plainBody });
    for (const parser of PARSERS) {
      expect(alone[parser].plainBody).toBe(readAlone(parser, plainBody));
      expect(beside[parser].plainBody).toBe(newlines(plainBody));
      expect(beside[parser].htmlBody).toBe(`<pre>${newlines(plainBody)}</pre>`);
      expect(html[parser].htmlBody).toBe(readAlone(parser, plainBody));
    }
  });

  test('has one part if it has one body, which may be empty', async ({ expect }) => {
    const parts = (changes: Partial<MessageRow>) =>
      Buffer.from(composeMail({ ...MESSAGE, ...changes }, []))
        .toString()
        .match(/(?<=Content-Type: )[\w/]+/g);
    expect(parts({})).toEqual(['text/plain']);
    expect(parts({ plainBody: '', htmlBody: '<p>x' })).toEqual(['text/html']);
    expect(parts({ htmlBody: '<p>x' })).toEqual(['multipart/alternative', 'text/plain', 'text/html']);
    expect(parts({ plainBody: '', htmlBody: '' })).toEqual(['text/html']);
    const empty = await compose({ subject: '', plainBody: '', to: [] });
    for (const parser of PARSERS) {
      expect(empty[parser]).toMatchObject({ subject: '', plainBody: '', htmlBody: '', to: [], attachments: [] });
    }
  });

  test.for(FILE_NAMES)('keeps the file name %s', async (filename, { expect }) => {
    const parsed = await compose({}, [fileOf(filename, new Uint8Array([1, 2, 3]))]);
    expect(PARSERS.map((parser) => parsed[parser].attachments[0]?.filename)).toEqual([filename, filename]);
  });

  test('keeps empty files, large ones and every byte', async ({ expect }) => {
    const files = [
      new Uint8Array(0),
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
      Uint8Array.from({ length: 102_400 }, (_, index) => (index * 7919) % 251),
    ];
    const parsed = await compose(
      {},
      files.map((bytes, index) => fileOf(`${index}.bin`, bytes)),
    );
    for (const parser of PARSERS) {
      expect(parsed[parser].attachments.map(({ bytes }) => bytes)).toEqual(files.map((bytes) => [...bytes]));
    }
  });

  test.for([
    'image/png',
    'text/plain',
    'text/plain; charset=iso-8859-1',
    'text/plain; format=flowed',
    'text/html',
    'application/vnd.api+json; a="b;c"',
  ])('keeps files of the type %s as they are', async (contentType, { expect }) => {
    const bytes = Buffer.from('h\xe9 \r\n x\nFrom \n-- \n', 'latin1');
    const parsed = await compose({}, [fileOf('file.bin', bytes, contentType)]);
    for (const parser of PARSERS) {
      expect(parsed[parser].attachments).toEqual([
        { filename: 'file.bin', contentType: contentType.split(';')[0], bytes: [...bytes] },
      ]);
      expect(parsed[parser].plainBody).toBe('Hello!');
    }
  });

  test.for([
    'multipart/mixed; boundary=x',
    'message/rfc822',
    'no type',
    'a/b\r\nBcc: evil@evil.test',
    `a/b; c="${'d'.repeat(999)}"`,
  ])('carries a file of the type %j as plain bytes', async (contentType, { expect }) => {
    const mail = composeMail(MESSAGE, [fileOf('file.bin', new Uint8Array([45, 45, 120]), contentType)]);
    checkBytes(mail);
    expect(Buffer.from(mail).toString()).toContain('Content-Type: application/octet-stream\r\n');
    const parsed = await parseTwice(mail);
    expect(PARSERS.map((parser) => parsed[parser].attachments[0]?.bytes)).toEqual([
      [45, 45, 120],
      [45, 45, 120],
    ]);
  });

  test.for(Object.entries(INJECTIONS))('gains no header field from a %s', async ([, changes], { expect }) => {
    const mail = composeMail({ ...MESSAGE, ...changes }, []);
    checkBytes(mail);
    const names = fieldNames(mail).filter((name) => !['In-Reply-To', 'References'].includes(name));
    expect(names).toEqual([...FIELDS, ...CONTENT]);
    const parsed = await parseTwice(mail);
    for (const parser of PARSERS) {
      expect(parsed[parser].plainBody).toBe('Hello!');
      expect(parsed[parser].from.map(({ address }) => address)).toEqual(['dana@customer.test']);
    }
  });

  test('gains no header field or part from a file name', async ({ expect }) => {
    const mail = composeMail(MESSAGE, [
      fileOf(`a"\r\nBcc: evil@evil.test\r\n\r\n--=_mixed_${MESSAGE.id}\r\n`, new Uint8Array(3)),
    ]);
    checkBytes(mail);
    expect(Buffer.from(mail).toString()).not.toMatch(/^Bcc/m);
    const parsed = await parseTwice(mail);
    for (const parser of PARSERS) expect(parsed[parser].attachments).toHaveLength(1);
  });

  test('has long header lines folded at 76 characters', ({ expect }) => {
    const people = Array.from({ length: 40 }, (_, index) => `Person Number ${index} <person.${index}@customer.test>`);
    const references = Array.from({ length: 40 }, (_, index) => `<reference-${index}@customer.test>`);
    const mail = composeMail(
      {
        ...MESSAGE,
        to: people,
        references,
        subject: SUBJECTS['of emoji'] ?? '',
        plainBody: BODIES['of one long line'] ?? '',
      },
      [fileOf(FILE_NAMES.at(-2) ?? '', new Uint8Array(500))],
    );
    const lines = Buffer.from(mail).toString('latin1').split('\r\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(76);
  });

  test('has the same bytes each time for the same message', ({ expect }) => {
    const file = fileOf('ü.bin', new Uint8Array(300));
    const message = { ...MESSAGE, subject: 'ü', htmlBody: '<p>ü' };
    expect(composeMail(message, [file])).toEqual(composeMail(message, [file]));
  });

  test('keeps any subject, name, body and file', async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ subject: singleLine, name: singleLine, plainBody: body, htmlBody: fc.option(body) }),
        fc.array(
          fc.record({ filename: singleLine.filter((name) => name !== ''), bytes: fc.uint8Array({ maxLength: 300 }) }),
          {
            maxLength: 2,
          },
        ),
        async ({ subject, name, plainBody, htmlBody }, files) => {
          const from = `"${name.replace(/["\\]/g, '\\$&')}" <dana@customer.test>`;
          const parsed = await compose(
            { subject, from, plainBody, htmlBody },
            files.map(({ filename, bytes }) => fileOf(filename, bytes)),
          );
          const isAlone = files.length === 0 && (htmlBody === null || plainBody === '');
          const read = isAlone ? readAlone : (_: unknown, content: string) => newlines(content);
          for (const parser of PARSERS) {
            expect({ parser, ...parsed[parser] }).toMatchObject({
              parser,
              subject,
              from: [{ name, address: 'dana@customer.test' }],
              plainBody: read(parser, plainBody),
              htmlBody: read(parser, htmlBody ?? ''),
              attachments: files.map(({ filename, bytes }) => ({ filename, bytes: [...bytes] })),
            });
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  everywhere('that is sent has the same fields in the raw forms of its sender and its recipient', async (service) => {
    const { helpdesk, info } = openInboxClients(service);
    const subject = 'Grüße 😀 =?utf-8?q?x?=';
    const plainBody = 'Line one \n.\nFrom here: é\n\n';
    const sent = await info.mail(['Acme «Helpdesk» <HELPDESK@acme.test>'], {
      subject,
      plainBody,
      htmlBody: '<p>é</p>',
      replyTo: 'Ünsere Antworten <answers@globex.test>',
    });
    const received = await helpdesk.latest();
    const raws = [
      await info.call('GET', `/messages/${sent.id}/raw`),
      await helpdesk.call('GET', `/messages/${received.id}/raw`),
      await helpdesk.call('GET', `/messages/${received.id}/raw`),
    ];
    expect(raws[2]?.text).toBe(raws[1]?.text);
    for (const { bytes } of raws) {
      checkBytes(bytes);
      const parsed = await parseTwice(bytes);
      for (const parser of PARSERS) {
        expect(parsed[parser]).toMatchObject({
          from: [{ name: 'Globex', address: 'info@globex.test' }],
          to: [{ name: 'Acme «Helpdesk»', address: 'HELPDESK@acme.test' }],
          replyTo: [{ name: 'Ünsere Antworten', address: 'answers@globex.test' }],
          subject,
          plainBody,
          htmlBody: '<p>é</p>',
          messageId: sent.messageId,
        });
      }
    }
  });

  everywhere('has any display name of its inbox in From, and can be replied to', async (service) => {
    const { helpdesk, info } = openInboxClients(service);
    for (const displayName of [...Object.values(NAMES), '(c)', 'a; b: c', 'undisclosed:;', "O'Brien"]) {
      const json = { displayName: displayName.slice(0, 200).trim() };
      await service.send('PATCH', `/v1/inboxes/${info.id}`, { key: service.mailbox.keys.globex.tenant, json });
      await info.mail(helpdesk.address);
      const { id } = await helpdesk.latest();
      const parsed = await parseTwice((await helpdesk.call('GET', `/messages/${id}/raw`)).bytes);
      for (const parser of PARSERS) {
        expect(parsed[parser].from).toEqual([{ name: json.displayName, address: info.address }]);
      }
      const reply = await helpdesk.call('POST', `/reply/${id}`, {});
      expect((await info.latest()).messageIdHeader).toBe(reply.json.messageId);
    }
  });

  test('is parsed to the same fields as a mail that nodemailer writes', async () => {
    const message = {
      from: 'Zoë Ängström <zoe@customer.test>',
      to: ['"Reyes, Dana" <dana@acme.test>', 'helpdesk@acme.test'],
      cc: ['Kim <kim@visitor.test>'],
      replyTo: 'Größe <reply@customer.test>',
      subject: 'Größenänderung 😀 '.repeat(12).trim(),
      plainBody: `Grüße,\n${'é漢😀 x '.repeat(80)}\n.\nFrom here`,
      htmlBody: '<p>Grüße</p>',
      inReplyTo: '<login-1@customer.test>',
      references: ['<login-0@customer.test>', '<login-1@customer.test>'],
    };
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const filename = 'Bestellung-für-漢字-1042.png';
    const ours = await compose(message, [fileOf(filename, bytes, 'image/png')]);
    const theirs = new MailComposer({
      ...message,
      text: message.plainBody,
      html: message.htmlBody,
      date: MESSAGE.receivedAt,
      messageId: MESSAGE.messageIdHeader,
      attachments: [{ filename, content: Buffer.from(bytes), contentType: 'image/png' }],
    });
    expect(ours).toEqual(await parseTwice(await theirs.compile().build()));
  });

  everywhere('that arrived with a file contains the bytes of the attachment', async (service) => {
    const { billing } = openInboxClients(service);
    const path = `/messages/${IDS.acme.messages.invoice}`;
    const file = await billing.call('GET', `${path}/attachments/${IDS.acme.attachments.order}`);
    const parsed = await parseTwice((await billing.call('GET', `${path}/raw`)).bytes);
    for (const parser of PARSERS) {
      expect(parsed[parser].attachments).toEqual([
        { filename: 'Bestellung für 1042.png', contentType: 'image/png', bytes: [...file.bytes] },
      ]);
    }
  });

  everywhere('cannot be given a header field by the values of a request', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const injected: [field: string, value: unknown][] = [
      ['subject', 'x\r\nBcc: evil@evil.test'],
      ['subject', 'x\nBcc: evil@evil.test'],
      ['subject', 'x\u0000'],
      ['to', 'dana@customer.test\r\nBcc: evil@evil.test'],
      ['to', '"x\r\nBcc: y" <dana@customer.test>'],
      ['to', 'dana@customer.test, evil@evil.test\r\nX: y'],
      ['replyTo', '"x\nBcc: y" <dana@customer.test>'],
      ['replyTo', '=?utf-8?q?x=0D=0ABcc:_evil@evil.test?= <dana@customer.test>'],
    ];
    for (const [field, value] of injected) {
      const json = { to: 'dana@customer.test', subject: 'Hello', verified: true, [field]: value };
      const { status, json: error } = await helpdesk.call('POST', '/send', json);
      expect([value, status, error.code]).toEqual([value, 400, 'VALIDATION_ERROR']);
    }
    const to = ['=?utf-8?q?a=22b?= <dana@customer.test>', '"a\\"b, <c@d.test>" <kim@customer.test>'];
    const { id } = await helpdesk.mail(to);
    const { bytes } = await helpdesk.call('GET', `/messages/${id}/raw`);
    checkBytes(bytes);
    expect(fieldNames(bytes)).toEqual([...FIELDS, ...CONTENT]);
    const parsed = await parseTwice(bytes);
    for (const parser of PARSERS) {
      expect(parsed[parser].to.map(({ address }) => address)).toEqual(['dana@customer.test', 'kim@customer.test']);
    }
  });
});
