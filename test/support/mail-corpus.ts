import { Choice } from './choice.ts';

/** What must hold for a mail of the corpus. What is left out is not looked at. */
export interface Statements {
  readonly from?: string;
  readonly to?: readonly string[];
  readonly cc?: readonly string[];
  readonly replyTo?: string | null;
  readonly subject?: string;
  /** Texts that the plain body contains. */
  readonly texts?: readonly string[];
  readonly plainBody?: string;
  readonly messageIdHeader?: string;
  readonly inReplyTo?: string | null;
  readonly references?: readonly string[];
  /** The names of the attachments. */
  readonly files?: readonly string[];
  /** The beginning of each problem. Default: there is none. */
  readonly problems?: readonly string[];
  /** Why a reply is refused. Default: a reply is sent. */
  readonly noReply?: string;
  /** The title of the mail to whose thread this mail belongs. */
  readonly threadOf?: string;
  /** What a delivery report says: each recipient with its status. */
  readonly failures?: readonly (readonly [recipient: string, statusCode: string | undefined])[];
  /** A search key of IMAP that finds the mail, beside those for its sender and its recipients. */
  readonly found?: string;
}

/** Why Dovecot answers otherwise about a mail; `test/imap/judge.ts` has the reasons. */
export type DovecotDifference =
  | 'reads on'
  | 'white space'
  | 'CR alone'
  | 'no media type'
  | 'no end of quotes'
  | 'no type, no encoding';

/** A mail of the corpus. */
export interface CorpusMail {
  /** The kind of mail, by which a failure is found. */
  readonly kind: string;
  /** No other mail has this title. */
  readonly title: string;
  readonly bytes: Uint8Array;
  readonly holds: Statements;
  readonly dovecot?: DovecotDifference | undefined;
}

/** The bytes of a text, in which one character stands for each byte. */
const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** A text as UTF-8, in which one character stands for each byte. */
const utf8 = (text: string) => Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');

const repeat = (count: number, make: (index: number) => Draft) => Array.from({ length: count }, (_, at) => make(at));

/** A mail whose lines end with `\n`, which becomes CRLF. */
type Draft = Pick<CorpusMail, 'holds' | 'dovecot'> & {
  readonly text: string;
  readonly lineEnd?: string;
  readonly title?: string;
};

const DANA = 'dana@customer.test';

const headed = (lines: readonly string[], body = 'Hello\n') => `${lines.join('\n')}\n\n${body}`;

/** Words, and what may stand between the parts of an address. */
const WORDS = ['ada', 'bo.b', 'c-d', 'e_f', 'g+tag', 'h1', "o'neil", 'x=y'] as const;
const HOSTS = ['a.test', 'mail.b.test', 'c-d.test', 'localhost', 'e.f.g.test'] as const;
const NAMES: readonly (readonly [written: string, shown: string])[] = [
  ['', ''],
  ['Ada Lovelace', 'Ada Lovelace'],
  ['"Lovelace, Ada"', '"Lovelace, Ada"'],
  ['Ada B. Lovelace', '"Ada B. Lovelace"'],
  ['"Ada \\"B\\" L"', '"Ada \\"B\\" L"'],
  ['=?utf-8?q?J=C3=B6rg?=', 'Jörg'],
  ['=?iso-8859-1?B?SvZyZw==?= =?utf-8?q?_M=C3=BCller?=', 'Jörg Müller'],
  ['=?utf-8?q?A=2C_B?=', '"A, B"'],
  ['"=?utf-8?q?=C3=A4?="', 'ä'],
  [utf8('Zoë Ünal'), 'Zoë Ünal'],
];
const SPACES = ['', ' ', '(x)', ' (a (nested) one) ', '\n ', '(\\))', ' \n\t(folded)\n '] as const;

/** An address with spaces and comments wherever the grammar allows them, and how it is shown. */
function oddAddress(choice: Choice): readonly [written: string, shown: string, isReadByDovecot: boolean] {
  const gap = () => choice.of(SPACES);
  const local = choice.of(WORDS);
  const isLiteral = choice.number(6) === 0;
  const host = isLiteral ? choice.of(['[192.0.2.1]', '[IPv6:2001:db8::1]']) : choice.of(HOSTS);
  const isQuoted = choice.number(6) === 0;
  const dot = `${gap()}.${gap()}`;
  const writtenLocal = isQuoted ? '"a b"' : local.split('.').join(dot);
  const isReadByDovecot = isQuoted || dot.endsWith('.') || !local.includes('.');
  const writtenHost = isLiteral ? host : host.split('.').join(`${gap()}.${gap()}`);
  const address = `${isQuoted ? '"a b"' : local}@${host}`;
  const [writtenName, name] = choice.of(NAMES);
  const route = choice.of(['', '', '@r.test:', '@r.test,@s.test:', '@r.test , @s.test : ']);
  const written = `${writtenName} ${gap()}<${route}${gap()}${writtenLocal}${gap()}@${gap()}${writtenHost}${gap()}>`;
  // A comment is the name of an address that has no other, so none is written there.
  if (name !== '') return [written, `${name} <${address}>`, isReadByDovecot];
  return [written.replace(/\((?:[^()\\]|\\.|\([^()]*\))*\)/g, ' '), address, isReadByDovecot];
}

function oddAddresses(choice: Choice): Draft[] {
  return repeat(120, () => {
    const from = oddAddress(choice);
    const to = Array.from({ length: 1 + choice.number(4) }, () => oddAddress(choice));
    const cc = Array.from({ length: choice.number(3) }, () => oddAddress(choice));
    const group = to.map(([written]) => written).join(choice.of([',', ', ', ' ,\n ', ',,']));
    const field = choice.of(['X', 'G: X;', '"A; g" (c) : X;', 'G:X']).replace('X', () => group);
    const lines = [`From: ${from[0]}`, `To: ${field}`];
    if (cc.length > 0) lines.push(`Cc: ${cc.map(([written]) => written).join(', ')}`);
    const shown = { from: from[1], to: to.map(([, each]) => each), cc: cc.map(([, each]) => each) };
    return {
      text: headed([...lines, 'Subject: odd address']),
      holds: { ...shown, subject: 'odd address' },
      dovecot: [from, ...to, ...cc].every(([, , isReadByDovecot]) => isReadByDovecot) ? undefined : 'reads on',
    };
  });
}

/** Senders that cannot be answered: the field, how it is shown, and why. */
const NO_DOMAIN: readonly (readonly [written: string, shown: string, why: string])[] = [
  ['Mail Delivery System <MAILER-DAEMON>', 'Mail Delivery System <MAILER-DAEMON>', 'has no domain'],
  ['root (Cron Daemon)', 'Cron Daemon <root>', 'has no domain'],
  ['root', 'root', 'has no domain'],
  ['<postmaster>', 'postmaster', 'has no domain'],
  ['"Post Master" <postmaster>', 'Post Master <postmaster>', 'has no domain'],
  ['=?utf-8?q?J=C3=B6rg?= <joerg>', 'Jörg <joerg>', 'has no domain'],
  ['a@', 'a', 'has no domain'],
  ['John Smith', 'John Smith', 'is not an address'],
  ['"bo@x.test"', '"bo@x.test"', 'is not an address'],
  ['Ada <>', '"Ada"', 'is not an address'],
  ['Bo <@x.test>', 'Bo <@x.test>', 'is not a valid address'],
];

/** For Dovecot, an `@` at the beginning begins a route, which then has no end. */
const routeDifference = (written: readonly string[]) =>
  written.some((each) => each.includes('<@')) ? 'reads on' : undefined;

function withoutDomain(choice: Choice): Draft[] {
  const senders = NO_DOMAIN.map(([written, shown, why]): Draft => {
    const sentence = `${JSON.stringify(shown)} ${why}`;
    const holds = { from: shown, problems: [`The sender ${sentence}`], noReply: `its sender ${sentence}` };
    return { text: headed([`From: ${written}`, 'To: helpdesk@acme.test']), holds, dovecot: routeDifference([written]) };
  });
  const recipients = repeat(30, () => {
    const odd = [choice.of(NO_DOMAIN), choice.of(NO_DOMAIN)];
    const to = [odd[0]?.[0] ?? '', 'ed@customer.test', odd[1]?.[0] ?? ''];
    const field = choice.of(['To', 'Cc']);
    const shown = [odd[0]?.[1] ?? '', 'ed@customer.test', odd[1]?.[1] ?? ''];
    const problems = odd.map(([, text, why]) => `The recipient in ${field} ${JSON.stringify(text)} ${why}`);
    const holds = { from: DANA, [field.toLowerCase()]: shown, problems };
    return { text: headed([`From: ${DANA}`, `${field}: ${to.join(', ')}`]), holds, dovecot: routeDifference(to) };
  });
  return [...senders, ...recipients];
}

/** From fields that are missing, empty or repeated. */
const SENDERS: readonly Draft[] = [
  { text: headed(['Subject: x']), holds: { from: '', noReply: 'it has no sender' } },
  { text: headed(['From:', 'Subject: x']), holds: { from: '', noReply: 'it has no sender' } },
  { text: headed(['From: <>']), holds: { from: '', noReply: 'it has no sender' } },
  { text: headed(['From: (nobody)']), holds: { from: '', noReply: 'it has no sender' } },
  { text: headed(['From: nobody:;']), holds: { from: '', noReply: 'it has no sender' } },
  { text: headed(['From:', `Sender: ${DANA}`]), holds: { from: DANA } },
  { text: headed(['From: Smith, John <j@x.test>']), holds: { from: 'John <j@x.test>' } },
  { text: headed(['From: a@x.test, b@y.test']), holds: { from: 'a@x.test' } },
  {
    text: headed(['From: a@x.test', 'From: b@y.test']),
    holds: { from: 'a@x.test', problems: ['The mail has 2 From fields'] },
  },
  { text: headed([`From: ${DANA}`, 'Reply-To: desk, ed@x.test']), holds: { replyTo: 'ed@x.test' } },
  {
    text: headed([`From: ${DANA}`, 'Reply-To: desk']),
    holds: {
      replyTo: 'desk',
      problems: ['The Reply-To "desk" has no domain'],
      noReply: 'its Reply-To "desk" has no domain',
    },
  },
  { text: headed([`From: ${DANA}`, 'Reply-To: Team: ed@x.test;']), holds: { replyTo: 'ed@x.test' } },
];

/** Address fields that break the grammar, and what is read. */
const BROKEN: readonly (readonly [written: string, shown: readonly string[], isReadByDovecot?: true])[] = [
  ['a@x.test; b@y.test', ['a@x.test', 'b@y.test']],
  ['a@x.test b@y.test', ['a@x.test', 'b@y.test']],
  ['<a@x.test> <b@y.test>', ['a@x.test', 'b@y.test']],
  ['<a@x.test, b@y.test', ['a@x.test', 'b@y.test']],
  ['Ada <old <a@x.test>', ['Ada <a@x.test>']],
  ['Ada [work] <a@x.test>', ['"Ada [work]" <a@x.test>']],
  ['a@x.test <a@x.test>', ['a@x.test']],
  ['"Bo <bo@x.test>, al@y.test', ['Bo <bo@x.test>', 'al@y.test']],
  ['Al (home <al@x.test>, b@y.test', ['Al home <al@x.test>', 'b@y.test']],
  ['Ada a@x.test', ['Ada <a@x.test>']],
  ['a..b.@x.test', ['a..b.@x.test'], true],
  ['a@b@x.test', ['"a@b"@x.test']],
  ['Smith\\, John <j@x.test>', ['"Smith, John" <j@x.test>']],
  [',, ,a@x.test,,', ['a@x.test'], true],
  ['G: H: a@x.test;', ['a@x.test']],
  ['undisclosed-recipients:;', [], true],
  ['a@x.test>, b@y.test)', ['a@x.test', 'b@y.test']],
];

const broken: readonly Draft[] = BROKEN.flatMap(([written, shown, isReadByDovecot]) =>
  ['To', 'Cc'].map((field) => ({
    text: headed([`From: ${DANA}`, `${field}: ${written}`]),
    holds: { [field.toLowerCase()]: shown },
    dovecot: isReadByDovecot ? undefined : 'reads on',
  })),
);

/** Encoded words and raw bytes in a subject. */
const SUBJECTS: readonly (readonly [written: string, shown: string, problems?: readonly string[]])[] = [
  ['=?utf-7?Q?Gr+APwA3w-e?=', 'Grüße'],
  ['=?UTF-7?B?K0FPUS0=?=', 'ä'],
  ['=?unicode-1-1-utf-7?q?+AOQ-?=', 'ä'],
  ['=?ibm850?Q?Gr=81=E1e?=', 'Grüße'],
  ['=?cp850?B?hA==?= =?cp850?Q?=94?=', 'äö'],
  ['=?IBM437?Q?=9B?=', '¢'],
  ['=?iso-8859-1?Q?M\xfcller?=', 'Müller'],
  ['=?utf-8?Q?M\xc3\xbcller?=', 'Müller'],
  ['=?koi8-r?Q?\xf0?=', 'П'],
  ['=?utf-8?q?M=C3?= =?utf-8?q?=BCller?=', 'Müller'],
  ['=?utf-8?B?TcM=?= =?utf-8?B?vGxsZXI=?=', 'Müller'],
  ['=?iso-2022-jp?B?GyRCJDMbKEI=?=', 'こ'],
  ['=?gb2312?B?xOM=?=', '你'],
  ['=?us-ascii*en?q?plain?= text', 'plain text'],
  ['=?utf-8?q?a?= =?utf-8?q?b?= c', 'ab c'],
  ['a=?utf-8?q?b?=c', 'abc'],
  ['=?x-none?q?=E4?=', 'ä', ['The charset x-none is unknown']],
  ['=?utf-8?q?no end', '=?utf-8?q?no end'],
  ['folded\n  over\n\tlines', 'folded  over\tlines'],
  [utf8('Grüße'), 'Grüße'],
  ['Gr\xfc\xdfe', 'Grüße'],
  ['"quoted" \\ and (comment)', '"quoted" \\ and (comment)'],
  ['=?utf-8?q?line=0Abreak?=', 'line break'],
  ['a\0b', 'a b'],
  [`long ${'x'.repeat(980)}`, `long ${'x'.repeat(980)}`],
  ['', ''],
];

const subjects: readonly Draft[] = SUBJECTS.flatMap(([written, subject, problems]) => [
  { text: headed([`From: ${DANA}`, `Subject: ${written}`]), holds: { subject, ...(problems && { problems }) } },
  {
    text: headed([`SUBJECT : ${written}`, `from:${DANA}`]),
    holds: { subject, from: DANA, ...(problems && { problems }) },
  },
]);

/** Texts in a charset. */
const CHARSETS: readonly (readonly [charset: string, written: string, shown: string, problems?: readonly string[]])[] =
  [
    ['utf-8', utf8('Grüße'), 'Grüße'],
    ['utf-8', 'Gr\xfc\xdfe', 'Gr\ufffd\ufffde', ['The text has characters']],
    ['us-ascii', 'Gr\xfc\xdfe', 'Grüße'],
    ['iso-8859-1', 'Gr\xfc\xdfe', 'Grüße'],
    ['"iso-8859-15"', '\xa4', '€'],
    ['windows-1251', '\xcf', 'П'],
    ['utf-7', 'Gr+APwA3w-e', 'Grüße'],
    ['ibm850', 'Gr\x81\xe1e', 'Grüße'],
    ['CP437', '\x9b', '¢'],
    ['shift_jis', '\x82\xb1', 'こ'],
    ['x-none', '\xe4', 'ä', ['The charset x-none is unknown']],
  ];

const charsets: readonly Draft[] = CHARSETS.flatMap(([charset, written, plainBody, problems]) =>
  ['8bit', 'quoted-printable', 'base64'].map((encoding) => {
    const toHex = (character: string) => `=${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    const body = {
      '8bit': written,
      'quoted-printable': written.replace(/[^ -<>-~]/g, toHex),
      base64: btoa(written),
    }[encoding];
    const lines = [
      `From: ${DANA}`,
      `Content-Type: text/plain; charset=${charset}`,
      `Content-Transfer-Encoding: ${encoding}`,
    ];
    return { text: headed(lines, body), holds: { texts: [plainBody], ...(problems && { problems }) } };
  }),
);

/** Mails in pairs: the second one refers to the first. */
const threads: readonly Draft[] = (
  [
    ['first.X@customer.test', 'In-Reply-To: first.X@customer.test', 'first.X@customer.test'],
    ['first.X@customer.test', 'In-Reply-To: <first.X@customer.test>', '<first.X@customer.test>'],
    ['<first.X@customer.test>', 'In-Reply-To: first.X@customer.test', 'first.X@customer.test'],
    ['first.X@customer.test', 'References: none@x.test first.X@customer.test', null],
    ['first.X@customer.test', 'References: <none@x.test>\n\t<first.X@customer.test>', null],
    ['<first.X@customer.test>', 'In-Reply-To: Your mail of Monday <first.X@customer.test>', '<first.X@customer.test>'],
    ['number-X', 'In-Reply-To: number-X', 'number-X'],
    ['<first.X>', 'In-Reply-To: <first.X> (comment)', '<first.X>'],
    ['(comment) <first.X@customer.test>', 'In-Reply-To:\n <first.X@customer.test>', '<first.X@customer.test>'],
  ] as const
).flatMap(([id, reference, inReplyTo], at): Draft[] => {
  const fill = (text: string) => text.replaceAll('X', String(at));
  const title = `thread ${at}`;
  const own = fill(/<.*>/.exec(id)?.[0] ?? id);
  return [
    { title, text: headed([`From: ${DANA}`, fill(`Message-ID: ${id}`)]), holds: { messageIdHeader: own } },
    {
      text: headed([`From: ${DANA}`, fill(reference)]),
      holds: { threadOf: title, inReplyTo: inReplyTo === null ? null : fill(inReplyTo) },
      dovecot: reference.includes(':\n') ? 'white space' : undefined,
    },
  ];
});

const multipart = (type: string, parts: readonly string[], isEnded = true) =>
  `Content-Type: multipart/${type}; boundary=b\n\n${parts.map((part) => `--b\n${part}\n`).join('')}${isEnded ? '--b--\n' : ''}`;

/** Delivery reports: the fields about a recipient, and what they say. */
const STATUS: readonly (readonly [fields: readonly string[], failures: NonNullable<Statements['failures']>])[] = [
  [['Final-Recipient: rfc822; a@b.test', 'Action: failed', 'Status: 5.1.1'], [['a@b.test', '5.1.1']]],
  [['Final-Recipient: rfc822; a@b.test>', 'Action: failed', 'Status: 5.1.1'], [['a@b.test', '5.1.1']]],
  [['Final-Recipient: rfc822; <a@b.test>', 'Action: failed', 'Status: 5.1.1'], [['a@b.test', '5.1.1']]],
  [['Final-Recipient: rfc822;a@b.test (forwarded)', 'Action: Failed', 'Status: 5.1.1'], [['a@b.test', '5.1.1']]],
  [
    ['Final-Recipient: rfc822; a@b.test', 'Action: failed', 'Diagnostic-Code: smtp; 550 5.1.1 unknown'],
    [['a@b.test', '5.1.1']],
  ],
  [
    ['Final-Recipient: rfc822; a@b.test', 'Action: failed', 'Diagnostic-Code: smtp; 550 unknown'],
    [['a@b.test', '5.0.0']],
  ],
  [['Final-Recipient: rfc822; a@b.test', 'Action: failed (gave up)'], [['a@b.test', '5.0.0']]],
  [['Final-Recipient: rfc822; a@b.test', 'Status: 5.2.2 (full)'], [['a@b.test', '5.2.2']]],
  [
    ['Original-Recipient: rfc822; o@b.test', 'Final-Recipient: rfc822; a@b.test', 'Action: failed', 'Status: 5.1.1'],
    [['o@b.test', '5.1.1']],
  ],
  [['Final-Recipient: rfc822; a@b.test', 'Action: delayed', 'Status: 4.4.1'], []],
  [['Final-Recipient: rfc822; a@b.test', 'Status: 4.4.1'], []],
];

const report = (parts: readonly string[], type = 'delivery-status') =>
  `From: Mail System <MAILER-DAEMON@mx.b.test>\nSubject: Report\n${multipart('report', parts).replace('; b', `; report-type=${type}; b`)}`;

const bounces: readonly Draft[] = [
  ...STATUS.map(([fields, failures]): Draft => {
    const status = `Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.b.test\n\n${fields.join('\n')}\n`;
    return { text: report(['\nIt failed.', status]), holds: { failures, files: ['delivery-status.txt'] } };
  }),
  {
    text: report(['\nThe delivery to a@b.test was aborted.', 'Content-Type: message/rfc822\n\nSubject: Mine\n\nHi\n']),
    holds: { failures: [['a@b.test', undefined]], files: ['message.eml'] },
  },
  {
    text: report(
      ['\nYour mail was aborted.', 'Content-Type: message/rfc822\n\nSubject: Mine\n\nHi\n'],
      'disposition-notification',
    ),
    holds: { failures: [], files: ['message.eml'] },
  },
];

/** Mail that tortures readers of MIME. */
const TORTURE: readonly Draft[] = [
  {
    text: `From: ${DANA}\n${multipart('mixed', ['\none\n', '\ntwo\n'], false)}`,
    holds: { texts: ['one', 'two'] },
  },
  {
    text: `From: ${DANA}\n${multipart('mixed', [`Content-Type: multipart/alternative; boundary=c\n\n--c\n\ninner one\n--c\n\ninner two`, '\nouter'], false)}`,
    holds: { texts: ['inner one', 'inner two', 'outer'] },
  },
  {
    text: `From: ${DANA}\n${Array.from({ length: 60 }, (_, at) => `Content-Type: multipart/mixed; boundary=d${at}\n\n--d${at}\n`).join('')}\ninnermost\n`,
    holds: { texts: ['innermost'] },
  },
  {
    text: `From: ${DANA}\nContent-Type: multipart/mixed\n\n--b\n\nno boundary\n--b--\n`,
    holds: { texts: ['no boundary'], problems: ['The boundary of a multipart/mixed is missing'] },
  },
  {
    text: `From: ${DANA}\nContent-Type: multipart/mixed; boundary="other"\n\n--b\n\nwrong boundary\n--b--\n`,
    holds: { texts: ['wrong boundary'], problems: ['The boundary of a multipart/mixed is missing'] },
  },
  {
    text: `From: ${DANA}\n${multipart('digest', ['\nSubject: d1\n\nbody1\n', '\nSubject: d2\n\nbody2\n'])}`,
    holds: { files: ['message.eml', 'message.eml'] },
  },
  {
    text: `From: ${DANA}\nContent-Type: application/pdf\nContent-Disposition: attachment;\n filename*0*=utf-8''%C3%A4;\n filename*1="b ";\n filename*2*=c%2Epdf\n\nx\n`,
    holds: { files: ['äb c.pdf'] },
  },
  {
    text: `From: ${DANA}\nContent-Type: application/pdf;\n name*1=2.pdf; name*0=1\n\nx\n`,
    holds: { files: ['12.pdf'] },
  },
  {
    text: `From: ${DANA}\nContent-Type: application/pdf; name="=?iso-8859-1?q?=E4?=.pdf"\n\nx\n`,
    holds: { files: ['ä.pdf'] },
  },
  {
    text: `From: ${DANA}\nContent-Type: application/pdf; name="unended.pdf\n\nx\n`,
    holds: { files: ['unended.pdf'] },
    dovecot: 'no end of quotes',
  },
  { text: `From: ${DANA}\nContent-Type: text\n\nno subtype\n`, holds: {} },
  { text: `From: ${DANA}\nContent-Type: ;;;\n\nno type\n`, holds: { texts: ['no type'] }, dovecot: 'no media type' },
  {
    text: `From: ${DANA}\nContent-Type: text/html\nContent-Type: text/plain\n\ntwo types\n`,
    holds: {},
  },
  {
    text: `From: ${DANA}\nContent-Transfer-Encoding: base64\n\nSGVs*bG8=\n`,
    holds: { texts: ['Hello'], problems: ['A part in base64 has other characters'] },
    dovecot: 'no type, no encoding',
  },
  {
    text: `From: ${DANA}\nContent-Transfer-Encoding: base64\n\nSGVsbG8\n`,
    holds: { texts: ['Hello'] },
    dovecot: 'no type, no encoding',
  },
  {
    text: `From: ${DANA}\nContent-Transfer-Encoding: quoted-printable\n\n=XY =3D a=\nb\n`,
    holds: { texts: ['=XY = ab'] },
    dovecot: 'no type, no encoding',
  },
  {
    text: `From: ${DANA}\nContent-Transfer-Encoding: x-none\n\nunknown\n`,
    holds: { texts: ['unknown'], problems: ['The encoding x-none is unknown'] },
    dovecot: 'no type, no encoding',
  },
  { text: `\nno header at all\n`, holds: { from: '', texts: ['no header at all'], noReply: 'it has no sender' } },
  { text: `From: ${DANA}\nSubject: no body\n`, holds: { plainBody: '', subject: 'no body' } },
  { text: `From: ${DANA}\nSubject: no line end`, holds: { plainBody: '', subject: 'no line end' } },
  { text: `From: ${DANA}\n\n`, holds: { plainBody: '' } },
  { text: `From: ${DANA}\n\nNUL \0 in it\n`, holds: { texts: ['NUL \0 in it'] } },
  { text: `X-Long: ${'x'.repeat(100_000)}\nFrom: ${DANA}\n\nHello\n`, holds: { from: DANA } },
  { text: `${'X-Many: y\n'.repeat(5_000)}From: ${DANA}\n\nHello\n`, holds: { from: DANA } },
  {
    text: `From: ${DANA}\nTo: ${Array.from({ length: 60 }, (_, at) => `a${at}@x.test`).join(',\n ')}\n\nHello\n`,
    holds: { to: Array.from({ length: 50 }, (_, at) => `a${at}@x.test`) },
  },
  {
    text: `From\n :\n ${DANA}\nSubject:\n folded\n completely\nTo:\n a@x.test\n ,\n b@x.test\n\nHello\n`,
    holds: {},
  },
  {
    text: `Subject:\n first\n line\nFrom:\n Dana\n <${DANA}>\nTo:\n\ta@x.test\n\t,\n\tb@x.test\n\nHello\n`,
    holds: { from: `Dana <${DANA}>`, to: ['a@x.test', 'b@x.test'], subject: 'first line' },
  },
  {
    text: headed([
      `From: ${DANA}`,
      'To: a@x.test',
      'TO: b@x.test',
      'Subject: one',
      'Subject: two',
      'Cc: c@x.test',
      'Cc:',
    ]),
    holds: { to: ['a@x.test', 'b@x.test'], cc: ['c@x.test'], subject: 'one' },
  },
  {
    text: headed([`From: ${DANA}`, 'not a field', 'Subject: after a line that is no field']),
    holds: { subject: 'after a line that is no field' },
  },
  {
    text: `From: ${DANA}\nContent-Type: message/rfc822\n\nFrom: root (Inner)\nTo: <@r.test:a@x.test>\nSubject: inner\n\nHi\n`,
    holds: { files: ['message.eml'] },
  },
  {
    text: `From: ${DANA}\n${multipart('mixed', ['Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\n', '\ntext\n'])}`,
    holds: { texts: ['text'], files: ['invite.ics'] },
  },
  {
    text: `From: ${DANA}\n${multipart('mixed', ['Content-Type: application/ms-tnef\n\nx\n'])}`,
    holds: { files: ['winmail.dat'], problems: ['The attachment winmail.dat is in the format TNEF'] },
  },
];

const LINE_ENDS = ['\n', '\r'] as const;

/** The same mail with other line ends. */
const lineEnds: readonly Draft[] = LINE_ENDS.flatMap((lineEnd) => [
  {
    lineEnd,
    dovecot: lineEnd === '\r' ? 'CR alone' : undefined,
    text: headed([`From: ${DANA}`, 'Subject: line ends'], 'one\ntwo\n'),
    holds: { from: DANA, subject: 'line ends', plainBody: 'one\ntwo\n' },
  },
  {
    lineEnd,
    dovecot: lineEnd === '\r' ? 'CR alone' : undefined,
    text: `From: root (Cron)\nSubject: a\n b\n${multipart('mixed', ['\none\n', '\ntwo\n'])}`,
    holds: {
      from: 'Cron <root>',
      subject: 'a b',
      texts: ['one', 'two'],
      problems: ['The sender'],
      noReply: 'its sender',
    },
  },
]);

/** Date fields; each mail arrives whatever its date is. */
const dates: readonly Draft[] = [
  'Mon, 5 Jan 2026 09:00:00 +0000',
  'Mon, 5 Jan 26 09:00:00 GMT',
  '5 Jan 99 09:00 EST',
  'Mon Jan  5 09:00:00 2026',
  'Mon, 32 Jan 2026 25:61:61 +9999',
  'Thu, 13 Feb 1969 23:32 -0330 (Newfoundland Time)',
  'Fri, 21 Nov 1997 09(comment):   55  :  06 -0600',
  'yesterday',
  '',
  '2026-01-05T09:00:00Z',
  'Mon, 5 Jan 12026 09:00:00 +0000',
].map((date) => ({ text: headed([`From: ${DANA}`, `Date: ${date}`, 'Subject: date']), holds: { subject: 'date' } }));

/** Parts that a search for a text must read. */
const searched: readonly Draft[] = [
  ['message/delivery-status', 'Reporting-MTA: dns; marker-X.test\n'],
  ['message/feedback-report', 'Feedback-Type: abuse\nUser-Agent: marker-X\n'],
  ['message/rfc822', 'Subject: inner\n\nmarker-X\n'],
  ['message/partial; id=a; number=1; total=2', 'Subject: part\n\nmarker-X\n'],
  ['text/x-unknown', 'marker-X\n'],
  ['text/html', '<p>marker-X</p>\n'],
].map(([type, content = ''], at) => ({
  text: `From: ${DANA}\n${multipart('mixed', ['\ntext\n', `Content-Type: ${type}\n\n${content.replace('X', String(at))}`])}`,
  holds: { found: `BODY marker-${at}` },
}));

/** Makes the corpus: several hundred odd mails, each with what must hold for it. The same seed gives the same mails. */
export function createMailCorpus(seed = 37): CorpusMail[] {
  const choice = new Choice(seed);
  const kinds: Readonly<Record<string, readonly Draft[]>> = {
    'odd address': oddAddresses(choice),
    'no domain': withoutDomain(choice),
    sender: SENDERS,
    'broken address': broken,
    subject: subjects,
    charset: charsets,
    thread: threads,
    bounce: bounces,
    torture: TORTURE,
    'line end': lineEnds,
    date: dates,
    search: searched,
  };
  return Object.entries(kinds).flatMap(([kind, drafts]) =>
    drafts.map(({ text, holds, dovecot, lineEnd = '\r\n', title = '' }, at) => ({
      kind,
      dovecot,
      title: title || `${kind} #${at}`,
      bytes: bytesOf(text.replaceAll('\n', lineEnd)),
      holds,
    })),
  );
}
