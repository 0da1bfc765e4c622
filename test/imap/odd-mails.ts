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
  '\nContent-Type: message/rfc822\n',
  '\nContent-Type: multipart/mixed; boundary=b\n\n--b--\nnot shown\n',
  "\nContent-Type: application/octet-stream; name*0*=utf-8''a%20; name*1*=b; x=y\nContent-Transfer-Encoding: base64\n\nAAAA\n",
  '\nContent-Type: text\n\nx\n',
  `\n${deepParts(60)}`,
  '\nContent-Type: multipart/report; boundary=b\n\n--b\nContent-Type: text/plain; name=named.txt\n\nneedle-text\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; needle-status\n--b\nContent-Type: message/rfc822\n\nSubject: in\n\nneedle-inner\n--b--\n',
  '\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: needle-feedback\n--b\nContent-Type: message/partial; id=x; number=1; total=2\n\nneedle-partial\n--b\nContent-Type: text/calendar\nContent-Transfer-Encoding: base64\n\nbmVlZGxlLWNhbGVuZGFy\n--b\nContent-Type: application/json\n\n"needle-file"\n--b--\n',
  '\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nneedle-=\nquoted =E4=F6 needle=2Dcut\n',
  '\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nbmVlZGxl\nLWNvZGVk\n',
  '\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nSubject: in\n\n--b\nContent-Type: message/rfc822\n\nSubject: in\n--b\nContent-Type: message/rfc822\n\n--b--\n',
  '\nContent-Type: multipart/mixed; boundary=b\n\n--b\nX-Part: y\n\n--b\nX-Part: z\n--b\n\n--b--\n',
];

function deepParts(depth: number): string {
  const heads = Array.from(
    { length: depth },
    (_, level) => `Content-Type: multipart/mixed; boundary=d${level}\n\n--d${level}\n`,
  );
  const ends = Array.from({ length: depth }, (_, level) => `--d${depth - level - 1}--\n`);
  return `${heads.join('')}\ninnermost\n${ends.join('')}`;
}

/** Dates that are old or odd. The years 50 to 69 are left out: RFC 5322 puts them in the last century, Dovecot in this. */
const DATES = [
  'Fri, 13 Feb 70 23:32:54 -0330',
  '13 Feb 26 23:32 GMT',
  'Fri, 21 Nov 1997 09(comment):   55  :  06 -0600',
  'Thu,\n 13\n  Feb\n    2026\n 23:32\n -0330 (Newfoundland Time)',
  '1 Jan 126 00:00:00 +0000',
  '31 Dec 49 23:59:59 +0000',
];

const WITH_CRLF = [
  ...HEADERS.flatMap((header) => CONTENTS.map((content) => header + content)),
  ...DATES.map((date) => `Subject: date\nDate: ${date}\n\nx\n`),
];

/** Each header with each content, and mails with odd dates: more than 280 odd mails. Every seventh has LF alone. */
export const ODD_MAILS: readonly Uint8Array[] = WITH_CRLF.map((mail, index) =>
  Buffer.from(index % 7 === 6 ? mail : mail.replaceAll('\n', '\r\n'), 'latin1'),
);
