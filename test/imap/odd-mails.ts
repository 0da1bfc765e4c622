/** Headers that are wrong or seldom. */
const HEADERS = [
  'Subject: plain',
  'Subject: folded\n  subject\n\there',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= and =?utf-8?b?w6Q=?=',
  'Subject: \xe4\xf6\xfc in 8 bit',
  'Subject: "quoted" \\ and (comment)',
  'From: "A \\"q\\" B" <a@b.test>\nTo: Team: x@y.test, "Q" <q@r.test>;, bare@host (Comment Name)',
  'From: <@route,@r2:u@h.test>\nTo: undisclosed-recipients:;',
  'From: a@b.test\nTo: c@d.test\nTo: e@f.test\nCc: =?utf-8?q?x?= <x@y.test>, y@z.test',
  'Sender: s@t.test\nFrom: f@g.test\nReply-To: r@s.test',
  'From: a@b.test\nMessage-ID: <a@b.test>\nIn-Reply-To: <c@d.test>\n <e@f.test>\nDate: Mon, 1 Jan 2024\n 10:00:00 +0000',
  'From: nohost\nTo: "quoted local"@host.test',
  `X-Long: ${'x'.repeat(2_000)}`,
  'Bcc: hidden@b.test\nComments: no sender',
] as const;

/** Contents, each with its header. */
const CONTENTS = [
  '\n\nplain text\n',
  '\n\n\xff\xfe in 8 bit\n',
  '\n\nno line end',
  '\n\n',
  '\nContent-Type: text/html; charset="utf-8"\nContent-Transfer-Encoding: Quoted-Printable\n\n<p>=C3=A4</p>\n',
  '\nContent-Type: text/plain; format=flowed (comment); charset=utf-8\nContent-Disposition: inline; filename="a b.txt"; size=3\nContent-Language: en, de\nContent-Location: http://x.test/\nContent-MD5: abc==\nContent-ID: <id@x.test>\nContent-Description: de sc\n\nx\n',
  '\nContent-Type: multipart/mixed; boundary="b"\n\npreamble\n--b\nContent-Type: text/plain\n\none\n--b\n\ntwo\n--b--\nepilogue\n',
  '\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; boundary=bb\n\n--bb\n\nx\n--bb\nContent-Type: text/html\n\ny\n--bb--\n--b\nContent-Type: message/rfc822\n\nSubject: inner\nFrom: i@n.test\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\ndeep\n--c--\n--b--\n',
  '\nContent-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: d1\n\nbody1\n--b\n\nSubject: d2\n\nbody2\n--b--\n',
  '\nContent-Type: multipart/mixed; boundary=b\n\nno parts\n',
  '\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nno end',
  '\nContent-Type: multipart/mixed; boundary=b\n\n--b\n--b\n\n--b--\n',
  '\nContent-Type: message/rfc822\n\nSubject: in\nFrom: a@b.test\n\nbody of the inner mail\n',
  "\nContent-Type: application/octet-stream; name*0*=utf-8''a%20; name*1*=b; x=y\nContent-Transfer-Encoding: base64\n\nAAAA\n",
  '\nContent-Type: text\n\nx\n',
  `\n${deepParts(60)}`,
];

function deepParts(depth: number): string {
  const heads = Array.from(
    { length: depth },
    (_, level) => `Content-Type: multipart/mixed; boundary=d${level}\n\n--d${level}\n`,
  );
  const ends = Array.from({ length: depth }, (_, level) => `--d${depth - level - 1}--\n`);
  return `${heads.join('')}\ninnermost\n${ends.join('')}`;
}

/** Each header with each content: 208 odd mails with CRLF line ends. */
export const ODD_MAILS: readonly Uint8Array[] = HEADERS.flatMap((header) =>
  CONTENTS.map((content) => Buffer.from((header + content).replaceAll('\n', '\r\n'), 'latin1')),
);
