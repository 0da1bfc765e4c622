import { expect, test } from 'vitest';
import { startImap, toMail } from '../../../support/imap-server.ts';
import { readFetch, type Value } from '../../../support/imap-talk.ts';

/** The contents of files: line ends that a reader could change, and bytes that are no text. */
const CONTENTS = [
  'ABC\r\nDEF',
  'ABC\r\nDEF\r\n',
  '\r\n',
  '\r\n\r\nx\r\n\r\n',
  'a\rb\r\r\nc',
  ' begins and ends with a space ',
  'no line end',
  'BEGIN:VCALENDAR\r\nSUMMARY:Gr\xfc\xdfe\r\nEND:VCALENDAR\r\n \r\n',
  '\0\x80\xff\r\n',
  '',
];

const MEDIA_TYPES = [
  'application/octet-stream',
  'text/csv; charset=iso-8859-1',
  'text/plain; charset=utf-8; format=flowed',
  'text/calendar; method=REQUEST; charset=iso-8859-1',
  'message/rfc822',
];

/** How a content is written in a mail, by the name of its transfer encoding. */
const ENCODINGS: Record<string, (content: string) => string> = {
  '7bit': (content) => content,
  '8bit': (content) => content,
  'x-unknown': (content) => content,
  'quoted-printable': (content) =>
    content.replace(/[^\r\nA-Za-z]|\r(?!\n)/g, toHexByte).replace(/[A-Z]{3}/g, '$&=\r\n'),
  base64: (content) => Buffer.from(content, 'latin1').toString('base64'),
};

function toHexByte(character: string): string {
  return `=${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Where the part stands: the section of IMAP that names it, and how the mail is written around it. */
const PLACES: readonly (readonly [section: string, write: (part: string) => string])[] = [
  ['1', (part) => part],
  ['2', (part) => multipart('b', ['\r\nsee below', part])],
  ['1', (part) => multipart('b', [part, '\r\nsee above'])],
  ['1.2', (part) => multipart('b', [multipart('inner', ['\r\nsee below', part])])],
];

function multipart(boundary: string, parts: readonly string[]): string {
  const written = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('');
  return `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n${written}--${boundary}--\r\n`;
}

const HEAD = 'From: a@customer.test\r\nTo: helpdesk@acme.test\r\n';

for (const [encoding, write] of Object.entries(ENCODINGS)) {
  test(`an attachment in ${encoding} has the bytes of its part, over REST and over IMAP`, async () => {
    await using running = await startImap();
    const talk = await running.session('INBOX');
    for (const mediaType of MEDIA_TYPES) {
      for (const content of CONTENTS) {
        for (const [section, place] of PLACES) {
          const head = `Content-Type: ${mediaType}\r\nContent-Disposition: attachment; filename=f\r\n`;
          const written = write(content);
          const part = `${head}Content-Transfer-Encoding: ${encoding}\r\n\r\n${written}`;
          const eml = Buffer.from(HEAD + place(part), 'latin1');
          const what = JSON.stringify([mediaType, content, section, eml.length]);
          const [arrived] = await running.server.mailbox.receiveMessage({ eml, to: 'helpdesk@acme.test' });
          const [row] = (await running.api('GET', `/messages/${arrived?.id}/attachments`)).json.attachments;
          const file = await running.api('GET', `/messages/${arrived?.id}/attachments/${row.id}`);
          expect(Buffer.from(file.bytes).toString('latin1'), what).toBe(content);
          expect(row.sizeBytes, what).toBe(content.length);
          await talk.ok('NOOP');
          const lines = await talk.ok(`FETCH * (BODY.PEEK[${section}])`);
          const [line = ''] = lines.filter((each) => each.includes(' FETCH '));
          expect(readFetch(line)[`BODY[${section}]`], what).toBe(written);
        }
      }
    }
  });
}

test('an attachment of a mail with LF alone has LF, and a mail in it has CRLF, as every mail', async () => {
  await using running = await startImap();
  const parts = ['text/csv', 'message/rfc822'].map((type) => `Content-Type: ${type}\r\n\r\nSubject: x\r\n\r\ny\r\n`);
  const eml = Buffer.from((HEAD + multipart('b', parts)).replaceAll('\r\n', '\n'));
  const [arrived] = await running.server.mailbox.receiveMessage({ eml, to: 'helpdesk@acme.test' });
  const { attachments } =
    running.server.mailbox.messages({ direction: 'inbound' }).find(({ id }) => id === arrived?.id) ?? {};
  expect(attachments?.map(({ content }) => atob(content))).toEqual(['Subject: x\n\ny\n', 'Subject: x\r\n\r\ny\r\n']);
});

test('a multipart without a part is one part with its text over IMAP, as over REST', async () => {
  await using running = await startImap();
  const talk = await running.session('INBOX');
  for (const [body, text] of [
    ['no boundary\r\nin here\r\n', 'no boundary\r\nin here\r\n'],
    ['--b--\r\nnot shown', ''],
    ['', ''],
  ] as const) {
    const eml = toMail(`${HEAD}Content-Type: multipart/mixed; boundary=b\n\n${body}`);
    const [arrived] = await running.server.mailbox.receiveMessage({ eml, to: 'helpdesk@acme.test' });
    const { json } = await running.api('GET', `/messages/${arrived?.id}`);
    expect(json.plainBody.trim()).toBe(text.trim().replaceAll('\r\n', '\n'));
    await talk.ok('NOOP');
    const [line = ''] = (await talk.ok('FETCH * (BODY BODY.PEEK[1])')).filter((each) => each.includes(' FETCH '));
    const shown = readFetch(line);
    expect(shown['BODY[1]']).toBe(text);
    const leaf = [
      'text',
      'plain',
      ['charset', 'us-ascii'],
      null,
      null,
      '7bit',
      `${text.length}`,
      `${text.split('\n').length - 1}`,
    ];
    expect(shown.BODY).toEqual([leaf, 'mixed']);
  }
});

test('a mail in a mail has an ENVELOPE and a structure also where the mail ends before it', async () => {
  await using running = await startImap();
  const talk = await running.session('INBOX');
  const deep = Array.from(
    { length: 101 },
    (_, level) => `Content-Type: multipart/mixed; boundary=d${level}\r\n\r\n--d${level}\r\n`,
  );
  for (const written of [
    'Content-Type: message/rfc822',
    'Content-Type: message/rfc822\r\n',
    'Content-Type: message/rfc822\r\n\r\n',
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n--b--\r\n',
    'Content-Type: multipart/digest; boundary=b\r\n\r\n--b\r\n--b--\r\n',
    `${deep.slice(3).join('')}Content-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\ny\r\n`,
  ]) {
    await running.server.mailbox.receiveMessage({ eml: Buffer.from(HEAD + written), to: 'helpdesk@acme.test' });
    await talk.ok('NOOP');
    const [line = ''] = (await talk.ok('FETCH * (BODY)')).filter((each) => each.includes(' FETCH '));
    let structure = readFetch(line).BODY as Value[];
    while (Array.isArray(structure[0])) structure = structure[0] as Value[];
    const [type, subtype, , , , , size, envelope, inner, lines] = structure;
    expect([type, subtype], written).toEqual(['message', 'rfc822']);
    expect(envelope, written).toHaveLength(10);
    expect((inner as Value[]).slice(0, 2), written).toEqual(['text', 'plain']);
    expect([size, lines].join(), written).toMatch(/^\d+,\d+$/);
  }
});
