import { createMailbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../support/any-character.ts';

const TO = 'helpdesk@acme.test';

/** Pieces that mean something in a mail. */
const PIECES = [
  ...['From: ', 'To: helpdesk@acme.test', 'Subject: ', 'Date: ', 'Message-ID: <a@b>', 'In-Reply-To: ', 'Sender: '],
  ...[
    '=?utf-8?Q?',
    '=?iso-2022-jp?B?',
    '=?x?B?',
    '?=',
    '<',
    '>',
    '"',
    ';',
    ',',
    ':',
    '@',
    '\\',
    '\r\n',
    '\n',
    '\r\n\r\n',
  ],
  ...['Content-Type: multipart/report; report-type=delivery-status; boundary=x', 'Content-Type: message/rfc822', '--x'],
  ...['Content-Type: message/delivery-status', 'Content-Type: text/html; charset=', 'gb18030', 'utf-16', '--x--', '\t'],
  ...[
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment; filename*0*=',
    "utf-8''%ff",
    'Status: 5.1.1',
  ],
  ...[
    'Final-Recipient: rfc822; a@b',
    'Action: failed',
    'mailer-daemon@x.test',
    'X-Failed-Recipients: ',
    '\x1b$B',
    '\0',
  ],
];

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: anyCharacter, maxLength: 5 })), { maxLength: 40 })
    .map((pieces) => new Uint8Array(Buffer.from(pieces.join(''), 'latin1'))),
);

const envelope = fc.record(
  {
    envelopeFrom: fc.constantFrom('', 'a@b.test', 'δ@π.test'),
    auth: fc.record({ spf: fc.constantFrom('pass', 'fail') }),
  },
  { requiredKeys: [] },
);

test('any bytes are taken in as a mail, and come back byte by byte', async () => {
  const mailbox = createMailbox();
  const headers = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk };
  let since: string | undefined;
  await fc.assert(
    fc.asyncProperty(bytes, envelope, async (eml, options) => {
      const [arrived] = await mailbox.receiveMessage({ eml, to: TO, ...(options as object) });
      const path = `${mailbox.baseUrl}/v1/inboxes/${arrived?.inboxId}/messages/${arrived?.id}`;
      const shown = await mailbox.fetch(new Request(path, { headers }));
      expect(shown.status).toBe(200);
      const response = await mailbox.fetch(new Request(`${path}/raw`, { headers }));
      const raw = Buffer.from(await response.arrayBuffer());
      const trace = raw.subarray(0, raw.length - eml.length).toString('utf8');
      expect(raw.subarray(trace === '' ? 0 : Buffer.byteLength(trace)).equals(eml)).toBe(true);
      expect(trace === '' || /^Return-Path: <[^>]*>\r\nAuth.*\r\n$/s.test(trace)).toBe(true);
      expect(trace === '').toBe(Object.keys(options).length === 0);
      expect(mailbox.messages({ since }).at(-1)?.id).toBe(arrived?.id);
      since = arrived?.id;
    }),
    { numRuns: 150 },
  );
});

test('any bytes without a named recipient are taken in, or refused with a reason', async () => {
  const mailbox = createMailbox();
  await fc.assert(
    fc.asyncProperty(bytes, async (eml) => {
      const result = await mailbox.receiveMessage({ eml }).catch((error: Error) => error);
      const refusal = { name: 'ApiError', message: expect.stringMatching(/^[A-Z].*\.$/s) };
      expect(result).toEqual(result instanceof Error ? expect.objectContaining(refusal) : [expect.anything()]);
    }),
    { numRuns: 100, examples: [[Buffer.from('To: helpdesk@acme.test')], [Buffer.from('To: nobody')]] },
  );
});
