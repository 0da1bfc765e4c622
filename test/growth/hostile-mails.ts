/** The text again and again, up to about this size. */
function fill(text: string, size: number): string {
  return text.repeat(Math.max(1, Math.ceil(size / text.length)));
}

/** What each number from 0 gives, one after the other, up to about this size. */
function count(size: number, write: (at: number) => string): string {
  const pieces = Array.from({ length: Math.max(1, Math.ceil(size / write(9999).length)) }, (_, at) => write(at));
  return pieces.join('');
}

const FIELDS = 'From: Eve <eve@customer.test>\r\nTo: helpdesk@acme.test\r\nSubject: Hi\r\n';

const mail = (head: string, body: string) => `${FIELDS}${head}\r\n\r\n${body}`;

const text = (body: string) => mail('Content-Type: text/plain; charset=utf-8', body);

const html = (body: string) => mail('Content-Type: text/html; charset=utf-8', body);

/** A text, and HTML beside it. */
const both = (body: string, subtype = 'alternative') =>
  mail(
    `Content-Type: multipart/${subtype}; boundary=b`,
    `--b\r\nContent-Type: text/plain\r\n\r\nHi\r\n--b\r\nContent-Type: text/html\r\n\r\n${body}\r\n--b--\r\n`,
  );

/** A mail of another beginning; `head` may have any fields. */
const headed = (head: string, body = 'Hi') => `${head}\r\n\r\n${body}`;

const encoded = (encoding: string, body: string, type = 'text/plain; charset=utf-8') =>
  mail(`Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}`, body);

const mixed = (body: string, boundary = 'b') => mail(`Content-Type: multipart/mixed; boundary="${boundary}"`, body);

/** A mail from a mail server that could not deliver something. */
const bounce = (body: string, type = 'text/plain') =>
  headed(`From: mailer-daemon@customer.test\r\nTo: helpdesk@acme.test\r\nContent-Type: ${type}`, body);

const report = (status: string) =>
  bounce(
    `--b\r\nContent-Type: message/delivery-status\r\n\r\n${status}\r\n--b--\r\n`,
    'multipart/report; report-type=delivery-status; boundary=b',
  );

/** Parts within parts. */
function nest(size: number, depth: number, boundary: (at: number) => string): string {
  const open = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary="${boundary(at)}"\r\n\r\n--${boundary(at)}\r\n`,
  ).join('');
  return `${FIELDS}${open}\r\n${fill(`--${boundary(0)}x\r\n`, size - open.length)}`;
}

/** A text as bytes, with one byte for each character. */
const bytes = (content: string) => Buffer.from(content, 'latin1');

/**
 * Mails that are hard to read, by what is in them; each function returns one of about so many bytes. All name an inbox
 * of the default fixture.
 */
export const HOSTILE_MAILS: Readonly<Record<string, (size: number) => string | Uint8Array>> = {
  // Text and HTML.
  'an HTML link with many href and no end': (size) => both(`<a ${fill('href=', size)}`, 'mixed'),
  'HTML links without an end': (size) => both(fill('<a ', size), 'mixed'),
  'HTML of <': (size) => both(fill('<', size)),
  'HTML of comments without an end': (size) => both(fill('<!--', size)),
  'HTML of scripts without an end': (size) => both(fill('<script>', size)),
  'HTML of list items and spaces': (size) => both(fill('<li> ', size)),
  'HTML of ampersands': (size) => both(fill('&#38', size)),
  'HTML of spaces and line breaks': (size) => both(fill(' \n', size), 'mixed'),
  'HTML of line breaks': (size) => html(fill('\n', size)),
  'HTML of line breaks beside a text': (size) => both(fill('\r\n', size)),
  'HTML of one quote after href': (size) => html(`<a href=${fill('" href=', size)}`),
  'a text beside HTML, both long': (size) => both(fill('<p>Hello, how are you?</p>', size)),
  'HTML alone, one long line': (size) => html(fill('<p>Hello', size)),
  'many texts and HTML parts in turn': (size) =>
    mixed(fill('--b\r\nContent-Type: text/html\r\n\r\n<a href=\r\n--b\r\n\r\nHi\r\n', size)),
  'a text of line breaks': (size) => text(fill('\n', size)),
  'a text of CR LF': (size) => text(fill('\r\n', size)),
  'a text of CR': (size) => text(fill('\r', size)),
  'a mail whose lines end with CR': (size) => `From: eve@customer.test\rTo: helpdesk@acme.test\r\r${fill('a\r', size)}`,
  'a text of short lines': (size) => text(fill('a\r\n', size)),
  'a text of spaces': (size) => text(fill(' ', size)),
  'a text of spaces and one letter': (size) => text(`${fill(' ', size)}x`),
  'a text of lines of spaces': (size) => text(fill(' \t \r\n', size)),
  'a text of one long line': (size) => text(fill('a', size)),
  'a text of quote marks': (size) => text(fill('> ', size)),
  'a text of quoted lines': (size) => text(fill('>>>>>>>> a\r\n', size)),
  'a text of NUL': (size) => text(fill('\0', size)),
  'a text of web addresses': (size) => text(fill('http://', size)),
  'a text of invalid UTF-8': (size) => bytes(text(fill('\xff\xc3', size))),
  'a text in UTF-16': (size) => bytes(mail('Content-Type: text/plain; charset=utf-16', fill('\0\xd8', size))),
  'a text in ISO-2022-JP': (size) =>
    bytes(mail('Content-Type: text/plain; charset=iso-2022-jp', fill('\x1b$B\x1b(B', size))),
  'a flowed text of spaces and line breaks': (size) =>
    mail('Content-Type: text/plain; format=flowed; delsp=yes', fill(' \r\n', size)),
  'a flowed text of one paragraph': (size) => mail('Content-Type: text/plain; format=flowed', fill('a \r\n', size)),
  'a flowed text of signature marks': (size) => mail('Content-Type: text/plain; format=flowed', fill('-- \r\n', size)),
  // Encodings.
  'base64 of short lines': (size) => encoded('base64', fill('A\r\n', size)),
  'base64 of padding': (size) => encoded('base64', fill('=', size)),
  'base64 of padded pieces': (size) => encoded('base64', fill('QQ==', size)),
  'base64 of other characters': (size) => encoded('base64', fill('*', size)),
  'a file of base64 and junk': (size) => encoded('base64', fill('QUJD*', size), 'application/pdf'),
  'a file of one long base64 line': (size) => encoded('base64', fill('QUJD', size), 'application/pdf'),
  'quoted-printable of =': (size) => encoded('quoted-printable', fill('=', size)),
  'quoted-printable of soft line breaks': (size) => encoded('quoted-printable', fill('=\r\n', size)),
  'quoted-printable of encoded bytes': (size) => encoded('quoted-printable', fill('=C3=BC', size)),
  'quoted-printable of spaces at line ends': (size) => encoded('quoted-printable', fill('a   \t \r\n', size)),
  'quoted-printable of one run of spaces': (size) => encoded('quoted-printable', `${fill(' ', size)}x`),
  'an unknown encoding of brackets': (size) => mail(`Content-Transfer-Encoding: ${fill('(', size)}`, 'Hi'),
  // Parts.
  'many empty parts': (size) => mixed(fill('--b\r\n', size)),
  'many parts with an empty body': (size) => mixed(fill('--b\r\n\r\n\r\n', size)),
  'many files': (size) =>
    mixed(count(size, (at) => `--b\r\nContent-Disposition: attachment; filename=${at}.txt\r\n\r\nx\r\n`)),
  'many mails within the mail': (size) => mixed(fill('--b\r\nContent-Type: message/rfc822\r\n\r\na: b\r\n', size)),
  'many calendars': (size) => mixed(fill('--b\r\nContent-Type: text/calendar; method=x\r\n\r\n\n\n', size)),
  'a calendar of line breaks': (size) => mail('Content-Type: text/calendar', `${fill('\n', size)}x`),
  'many ends of the same parts': (size) => mixed(`--b\r\n\r\nHi\r\n${fill('--b--\r\n', size)}`),
  'lines that are almost boundaries': (size) => mixed(fill('--bb\r\n', size)),
  'lines that begin with a long boundary': (size) => mixed(fill(`--${'b'.repeat(69)}\r\n`, size), 'b'.repeat(70)),
  'a boundary and many spaces': (size) => mixed(fill(`--b${' '.repeat(200)}x\r\n`, size)),
  'a boundary of line breaks and spaces': (size) => mixed(fill('\r\n --b \r\n', size), ' b'),
  'a boundary as long as the mail': (size) => {
    const boundary = fill('b', size / 3);
    return mixed(`--${boundary}\r\n\r\nHi\r\n--${boundary}--`, boundary);
  },
  'a boundary that does not occur': (size) => mixed(fill('--c\r\n', size)),
  'a boundary without a quote at its end': (size) =>
    mail(`Content-Type: multipart/mixed; boundary="${fill('b', size)}`, 'Hi'),
  'a multipart without a boundary': (size) => mail(`Content-Type: multipart/${fill(' boundary', size)}`, 'Hi'),
  'ten levels of parts': (size) => nest(size, 10, (at) => `b${at}`),
  'two hundred levels of parts': (size) => nest(size, 200, (at) => `b${at}`),
  'levels of parts whose boundaries begin alike': (size) => nest(size, 60, (at) => 'b'.repeat(at + 1)),
  'mails within mails': (size) => fill(`${FIELDS}Content-Type: message/rfc822\r\n\r\n`, size),
  'levels without end': (size) =>
    FIELDS + count(size, (at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`),
  // Header fields.
  'a header without an end': (size) => fill('a: b\r\n', size),
  'many fields of one name': (size) => headed(FIELDS + fill('From: a@customer.test\r\n', size)),
  'many fields of other names': (size) => headed(FIELDS + count(size, (at) => `X-${at}: ${at}\r\n`)),
  'many lines that are no fields': (size) => headed(FIELDS + fill('x\r\n', size)),
  'a field of many lines': (size) => headed(`${FIELDS}X-Long: a\r\n${fill(' a\r\n', size)}`),
  'a field of many empty lines': (size) => headed(`${FIELDS}X-Long: a\r\n${fill(' \r\n', size)}`),
  'a field of spaces': (size) => headed(`${FIELDS}X-Long: a${fill(' ', size)}b`),
  'a name of a field without an end': (size) => headed(FIELDS + fill('x', size)),
  'a long subject': (size) => headed(`To: helpdesk@acme.test\r\nSubject: ${fill('a ', size)}`),
  'a subject of encoded words in base64': (size) =>
    headed(`To: helpdesk@acme.test\r\nSubject:${fill(' =?utf-8?B?QUJD?=', size)}`),
  'a subject of encoded words on lines of their own': (size) =>
    headed(`To: helpdesk@acme.test\r\nSubject:${fill(' =?utf-8?Q?=C3=BC?=\r\n', size)}`),
  'a subject of one encoded word': (size) =>
    headed(`To: helpdesk@acme.test\r\nSubject: =?utf-8?Q?${fill('= ', size)}?=`),
  'a subject of beginnings of encoded words': (size) =>
    headed(`To: helpdesk@acme.test\r\nSubject: ${fill('=?', size)}`),
  'a subject of encoded words in unknown charsets': (size) =>
    headed(`To: helpdesk@acme.test\r\nSubject:${count(size, (at) => ` =?x-${at}?Q?a?=`)}`),
  'a name of brackets': (size) => headed(`From: ${fill('(', size)} <eve@customer.test>\r\nTo: helpdesk@acme.test`),
  'a name of quotes': (size) => headed(`From: ${fill('"', size)} <eve@customer.test>\r\nTo: helpdesk@acme.test`),
  'a sender of @': (size) => headed(`From: ${fill('@', size)}\r\nTo: helpdesk@acme.test`),
  'a sender of a@': (size) => headed(`From: ${fill('a@ ', size)}\r\nTo: helpdesk@acme.test`),
  'a sender of <': (size) => headed(`From: ${fill('<', size)}\r\nTo: helpdesk@acme.test`),
  'a sender of encoded words': (size) => headed(`From:${fill(' =?u?B?PGE=?=', size)}\r\nTo: helpdesk@acme.test`),
  'many recipients': (size) => headed(`To: helpdesk@acme.test${count(size, (at) => `, a${at}@customer.test`)}`),
  'the same recipient many times': (size) => headed(`To: ${fill('helpdesk@acme.test, ', size)}`),
  'many fields of recipients': (size) => headed(fill('To: helpdesk@acme.test\r\n', size)),
  'many commas': (size) => headed(`To: helpdesk@acme.test${fill(',', size)}`),
  'many recipients with names': (size) => headed(`To: ${fill('"Help, Desk" <helpdesk@acme.test>, ', size)}`),
  'a group of many recipients': (size) => headed(`To: all: ${fill('helpdesk@acme.test, ', size)};`),
  'many groups': (size) => headed(`To: ${fill('a:helpdesk@acme.test;,', size)}`),
  'groups within groups': (size) => headed(`To: helpdesk@acme.test, ${fill('a:', size)}`),
  'groups within groups, with quotes': (size) => headed(`To: helpdesk@acme.test, ${fill('a:"', size)}`),
  'a recipient of many words': (size) => headed(`To: ${fill('a ', size)}<helpdesk@acme.test>`),
  'many references': (size) => headed(`${FIELDS}References:${count(size, (at) => ` <${at}@customer.test>`)}`),
  'references of <': (size) => headed(`${FIELDS}References: ${fill('<', size)}`),
  'references of <a': (size) => headed(`${FIELDS}References: ${fill('<a', size)}`),
  'a long Message-ID': (size) => headed(`${FIELDS}Message-ID: <${fill('a', size)}@customer.test>`),
  'a long date': (size) => headed(`${FIELDS}Date: ${fill('1 ', size)}`),
  'a file name of many pieces': (size) =>
    mail(`Content-Disposition: attachment${count(size, (at) => `; filename*${at}*=%C3%BC`)}`, 'x'),
  'a file name of %': (size) => mail(`Content-Disposition: attachment; filename*=utf-8''${fill('%', size)}`, 'x'),
  "a file name of '": (size) => mail(`Content-Disposition: attachment; filename*=${fill("'", size)}`, 'x'),
  'a file name without a quote at its end': (size) =>
    mail(`Content-Disposition: attachment; filename="${fill('\\"', size)}`, 'x'),
  'parameters without values': (size) => mail(`Content-Type: text/plain${fill('; a', size)}`, 'x'),
  'a media type of comments': (size) => mail(`Content-Type: text/plain ${fill('(a)', size)}`, 'x'),
  'a media type of comments without an end': (size) => mail(`Content-Type: text/plain ${fill('(', size)}`, 'x'),
  'a media type of charset': (size) => bytes(mail(`Content-Type: text/plain; ${fill('charset ', size)}`, '\xff')),
  'a header in another charset': (size) => bytes(headed(`${FIELDS}X-Long: ${fill('\xfc ', size)}`, '\xff')),
  // Reports of mail that could not be delivered.
  'a report in HTML of tags without an end': (size) => bounce(fill('<style ', size), 'text/html'),
  'a report of addresses': (size) => bounce(`Undelivered: ${fill('a@customer.test ', size)}`),
  'a report of one long address': (size) => bounce(`Undelivered: ${fill('a.', size)}@customer.test`),
  'a report of status codes': (size) => bounce(`Undelivered: ${fill('5.1.1.', size)}`),
  'a report of the word mail': (size) => bounce(fill('mail ', size)),
  'a report of Message-IDs': (size) => bounce(`Undelivered\r\n${fill('Message-ID: <a@customer.test>\r\n', size)}`),
  'a report of dashes': (size) => bounce(fill('---a\r\n', size)),
  'a status of empty groups': (size) => report(fill('\r\n', size)),
  'a status of many failures': (size) =>
    report(fill('Action: failed\r\nFinal-Recipient: rfc822;a@b.test\r\n\r\n', size)),
  'a status of one long recipient': (size) => report(`Action: failed\r\nFinal-Recipient: ${fill(';', size)}`),
};
