import { createMailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { everywhere, interceptRequests } from '../../../support/everywhere.ts';
import { ADDRESS, openInboxClients } from '../../../support/inbox-clients.ts';
import { parseTwice } from '../../../support/parse-mail.ts';

interceptRequests();

const FIELDS = ['From: Dana <dana@customer.test>', 'To: helpdesk@acme.test', 'Subject: Hi'];
const mailOf = (...lines: string[]) => new TextEncoder().encode([...FIELDS, ...lines].join('\r\n'));

/** A `multipart` of these parts, each a list of lines. */
const multipart = (subtype: string, ...parts: string[][]) =>
  mailOf(
    `Content-Type: multipart/${subtype}; boundary=b`,
    '',
    ...parts.flatMap((lines) => ['--b', ...lines]),
    '--b--',
    '',
  );

const TEXT = ['Content-Type: text/plain', '', 'Hello'];
const HTML = ['Content-Type: text/html', '', '<p>From <b>HTML</b></p>'];
const HREFS = ['Content-Type: text/html', '', `<a ${'href='.repeat(2_000)}`];

describe('a mail with HTML', () => {
  everywhere('has no text made from it', async (service) => {
    const { helpdesk } = openInboxClients(service);
    for (const [eml, plainBody, htmlBody] of [
      [multipart('mixed', TEXT, HTML), 'Hello\n', '<p>Hello</p>\n<p>From <b>HTML</b></p>\n'],
      [multipart('mixed', HTML, TEXT), 'Hello\n', '<p>From <b>HTML</b></p>\n\n<p>Hello</p>'],
      [multipart('alternative', TEXT, HTML), 'Hello\n', '<p>From <b>HTML</b></p>\n'],
      [multipart('mixed', HTML), '', '<p>From <b>HTML</b></p>\n'],
      [multipart('mixed', TEXT, HREFS), 'Hello\n', expect.stringContaining('href=href=')],
    ] as const) {
      await service.mailbox.receiveMessage({ eml });
      expect(await helpdesk.latest()).toMatchObject({ plainBody, htmlBody });
    }
  });

  everywhere('alone can still report a bounce', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const sent = await helpdesk.mail('kim@visitor.test');
    const report =
      '<p>Delivery has failed to these recipients:</p><p>kim@visitor.test</p><p>550 5.1.1 User unknown</p>';
    const eml = mailOf(`In-Reply-To: ${sent.messageId}`, 'Content-Type: text/html', '', report);
    await service.mailbox.receiveMessage({ eml, to: helpdesk.address, envelopeFrom: '' });
    const [tenant] = service.mailbox.snapshot().tenants;
    expect(
      tenant?.messages.find(({ messageIdHeader }) => messageIdHeader === sent.messageId)?.bouncedAt,
    ).not.toBeNull();
  });
});

const NESTED = [
  ...['Content-Type: multipart/alternative; boundary=bb', '', 'Ignored', '--bb', ...TEXT, '--bb', ...HTML],
  ...['--bb--', 'Ignored too', '--b', 'Content-Disposition: attachment; filename=a.txt', '', 'file'],
];

/** Mails that are read as an independent parser reads them, except that no text is made from HTML. */
const SAME: Record<string, Uint8Array> = {
  'parts within parts': multipart('mixed', NESTED),
  'an inner part that does not end': multipart('mixed', NESTED.slice(0, 11)),
  'a part without an empty line': multipart('mixed', ['Content-Type: text/plain'], TEXT),
  'parts without headers': multipart('mixed', ['', 'One'], ['', 'Two']),
  'empty parts': multipart('mixed', ['', ''], [''], TEXT),
  'lines that are almost boundaries': multipart('mixed', [...TEXT, '--bx', '-- b', ' --b', '--b x', '--']),
  'a boundary with spaces behind it': multipart('mixed', ['', 'One', '--b \t', '', 'Two']),
  'a text after the last boundary': multipart('mixed', [...TEXT, '--b--', 'No part']),
  'quoted-printable': mailOf('Content-Transfer-Encoding: Quoted-Printable', '', 'a=c3=BC=', 'b=3D=zz=4', '==41 =', ''),
  'base64 in pieces': mailOf('Content-Transfer-Encoding: base64', '', 'SGVsbG8=IHRo', 'ZXJl', '*IQ==Pz8'),
  'a flowed text': mailOf('Content-Type: text/plain; format=flowed', '', 'One ', 'line', ' >stuffed', '-- ', 'Dana'),
  'a flowed text without its spaces': mailOf('Content-Type: text/plain; format=flowed; delsp=yes', '', 'On ', 'e', 'x'),
  'comments in a media type': mailOf('Content-Type: text/plain (a "b") ; charset=(x) iso-8859-1 (y)', '', 'x'),
  'a charset with another name': mailOf(
    ...['Content-Type: text/plain; charset=cp932', 'Content-Transfer-Encoding: base64', '', 'grGC8YLJgr+CzQ=='],
  ),
  'encoded names': mailOf('Cc: =?utf-8?Q?Z=C3=B6=2C_x?= <a@b.test>, "=?utf-8?B?w7w=?=" <c@d.test>', '', 'x'),
  'a folded subject': mailOf('X-A: b', 'Cc: a@b.test,', '\tc@d.test', '', 'x'),
  ...Object.fromEntries(
    [
      'filename="a \\"b\\" (1).txt"',
      'filename=Invoice(1).pdf; x',
      'filename=two words.pdf (comment)',
      "filename=plain.txt; filename*=utf-8''b%C3%BC.txt",
      "filename*1=c.txt; filename*0*=iso-8859-1'en'%FC%20",
      'filename*0="a "; filename*1="b.txt"',
      'filename="=?utf-8?B?w7w=?=.txt"; filename="second.txt"',
      'filename="no end; x=y',
    ].map((parameters) => [
      `a file with ${parameters}`,
      mailOf('Content-Type: application/pdf', `Content-Disposition: attachment; ${parameters}`, '', 'x'),
    ]),
  ),
};

test.each(Object.entries(SAME))('a mail with %s is read as another parser reads it', async (_, eml) => {
  const mailbox = createMailbox();
  await mailbox.receiveMessage({ eml, to: ADDRESS.helpdesk });
  const mail = mailbox.messages().at(-1);
  const { 'postal-mime': other } = await parseTwice(eml);
  const show = ({ name, address }: { name: string; address: string }) => [name, address];
  const people = (await parseTwice(new TextEncoder().encode(`Cc: ${mail?.cc.join(', ')}\r\n\r\n`)))['postal-mime'].cc;
  expect(mail?.plainBody.replace(/\n$/, '')).toBe(other.plainBody);
  expect((mail?.htmlBody ?? '').replace(/\n$/, '')).toBe(other.htmlBody);
  expect(people.map(show)).toEqual(other.cc.map(show));
  // postal-mime ends each line of a file with LF, also the last; `attachment-bytes.test.ts` tests the bytes.
  const toLines = (bytes: Iterable<number>) => `${Buffer.from([...bytes]).toString('latin1')}\n`.replace(/\n\n$/, '\n');
  expect(
    mail?.attachments.map(({ filename, contentType, content }) => [
      filename,
      contentType,
      toLines(Buffer.from(content, 'base64')),
    ]),
  ).toEqual(other.attachments.map(({ filename, contentType, bytes }) => [filename, contentType, toLines(bytes)]));
});

describe('what is read of a mail', () => {
  everywhere('has the members of groups as recipients', async (service) => {
    const cc = 'Team: "A, B" <a@b.test>, c@d.test;, undisclosed:;, (a, note) e@f.test, in: in: <g@h.test';
    await service.mailbox.receiveMessage({
      eml: mailOf(`Cc: ${cc}`, 'Cc: "no end, i@j.test', 'Cc: k@l.test', '', 'x'),
    });
    expect(service.mailbox.messages().at(-1)?.cc).toEqual([
      '"A, B" <a@b.test>',
      'c@d.test',
      '"a, note" <e@f.test>',
      'g@h.test',
      'no end',
      'i@j.test',
      'k@l.test',
    ]);
  });

  everywhere('has a limit for parts, recipients and the size of a header', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const parts = multipart('mixed', ...Array.from({ length: 1_200 }, (_, at) => ['', String(at)]));
    await service.mailbox.receiveMessage({ eml: parts });
    expect((await helpdesk.latest()).plainBody.trim().split(/\n+/)).toHaveLength(1_000);
    const cc = Array.from({ length: 3_000 }, (_, at) => `a${at}@customer.test`);
    const told = mailOf(`Cc: ${cc.join(', ')}`, `Bcc: ${ADDRESS.billing}`, '', 'x');
    expect((await service.mailbox.receiveMessage({ eml: told })).length).toBe(2);
    expect((await helpdesk.latest()).cc).toHaveLength(50);
    const large = mailOf(`X-Large: ${'x'.repeat(256 * 1024)}`, '', 'x');
    await expect(service.mailbox.receiveMessage({ eml: large })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});
