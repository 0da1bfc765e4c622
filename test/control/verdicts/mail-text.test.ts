import { expect, test } from 'vitest';
import { toBase64 } from '../../../src/basics/base64.ts';
import {
  foldText,
  isEmptyAnswer,
  type TextPlace,
  textsOfMail,
  type WrittenMail,
} from '../../../src/control/verdicts/mail-text.ts';

const base64 = (text: string) => toBase64(new TextEncoder().encode(text));
const hex = (text: string, before: string) =>
  [...new TextEncoder().encode(text)].map((byte) => `${before}${byte.toString(16).padStart(2, '0')}`).join('');
const file = (filename: string, content: string, contentType = 'text/plain') => ({
  filename,
  contentType,
  content: base64(content),
});

/** What is looked for. */
const TEXT = 'Meet Zoë at KLLRRNKK';

/** The forms in which a text can be written. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in capitals': (text) => text.toUpperCase(),
  'as decimal entities': (text) => [...text].map((each) => `&#${each.codePointAt(0)};`).join(''),
  'as hexadecimal entities': (text) => [...text].map((each) => `&#x${each.codePointAt(0)?.toString(16)};`).join(''),
  'with a named entity': (text) => text.replace('ë', '&euml;'),
  'in quoted-printable': (text) => hex(text, '='),
  'with a soft line break': (text) => text.replace('LLRR', 'LL=\r\nRR'),
  'in percent-encoding': (text) => hex(text, '%'),
  'in base64': (text) => base64(text),
  'in base64 for URLs': (text) => base64(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
  'in wrapped base64': (text) => base64(text.repeat(3)).replace(/.{20}/g, '$&\r\n'),
  'in wrapped base64 behind a word': (text) => `Code: ${base64(text.repeat(3)).replace(/.{76}/g, '$&\n')}`,
  'in quoted base64': (text) => base64(text.repeat(3)).replace(/(.{16})/g, '\r\n> $1'),
  'in base64 behind a path': (text) => `/v1/${base64(text)}`,
  'in base64 with entities': (text) => base64(text).replaceAll('a', '&#97;'),
  'with zero-width spaces': (text) => [...text].join('\u200b'),
  'with soft hyphens': (text) => text.replace('LLRR', 'LL\u00adRR'),
  'with marks of direction': (text) => text.replace('LLRR', 'LL\u202e\u2066RR'),
  'with variation selectors': (text) => text.replace('LLRR', 'LL\ufe0fRR'),
  'in full width': (text) => text.replace(/[A-Z]/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0)),
  'in mathematical letters': (text) =>
    text.replace(/[A-Z]/g, (each) => String.fromCodePoint(each.charCodeAt(0) + 0x1d400 - 0x41)),
  decomposed: (text) => text.normalize('NFD'),
  'over two lines': (text) => text.replace(' at ', '\r\nat '),
};

/** The places at which a mail can have a text. */
const PLACES: readonly (readonly [TextPlace, string, (text: string) => WrittenMail])[] = [
  ['subject', 'the subject', (text) => ({ subject: text })],
  ['plainBody', 'the plain body', (text) => ({ plainBody: `Hello,\r\n${text}\r\nBye` })],
  ['htmlBody', 'a paragraph', (text) => ({ htmlBody: `<p>Hello</p><p>${text}</p>` })],
  ['htmlBody', 'text behind an error', (text) => ({ htmlBody: `<div <b>5 < 6 ${text}` })],
  ['htmlBody', 'a cell', (text) => ({ htmlBody: `<table><tr><td>${text}</td><td>8</td></tr></table>` })],
  ['hidden HTML', 'a hidden element', (text) => ({ htmlBody: `<p>Hi</p><div style="display: none">${text}</div>` })],
  ['hidden HTML', 'a comment', (text) => ({ htmlBody: `<p>Hi</p><!-- ${text} -->` })],
  ['hidden HTML', 'an attribute', (text) => ({ htmlBody: `<p title="${text}">Hi</p>` })],
  ['hidden HTML', 'a script', (text) => ({ htmlBody: `<script>"${text}"</script>Hi` })],
  ['link', 'a link', (text) => ({ htmlBody: `<a href="https://x.test/?q=${text}">Hi</a>` })],
  ['name', 'the name of a recipient', (text) => ({ to: [`"${text}" <dana@customer.test>`] })],
  ['name', 'the name of the sender', (text) => ({ from: `"${text}" <helpdesk@acme.test>` })],
  ['attachment name', 'the name of a file', (text) => ({ attachments: [file(`${text}.txt`, '')] })],
  ['attachment', 'a file', (text) => ({ attachments: [file('a.txt', text)] })],
  [
    'attachment',
    'a file of an unknown type',
    (text) => ({ attachments: [file('a', text, 'application/octet-stream')] }),
  ],
  ['attachment', 'a file of HTML', (text) => ({ attachments: [file('a.html', `<p>${text}</p>`, 'text/html')] })],
  ['header', 'a header field', (text) => ({ headers: { 'x-note': text } })],
];

const placesOf = (mail: WrittenMail, text: string) =>
  textsOfMail(mail).flatMap((each) => (foldText(each.text).includes(foldText(text)) ? each.place : []));

const CASES = PLACES.flatMap(([place, where, write]) =>
  Object.entries(FORMS).map(([form, encode]) => [where, form, place, write(encode(TEXT))] as const),
);

test.for(CASES)('finds in %s what is written %s, and only there', ([, , place, mail]) => {
  expect(new Set(placesOf(mail, TEXT))).toEqual(new Set([place]));
});

test.for(CASES)('does not find in %s, written %s, what is not there', ([, , , mail]) => {
  for (const other of ['KLLRRNKX', 'Meet Zoe', 'RNKKL', 'Order 7']) expect(placesOf(mail, other)).toEqual([]);
});

test.for([
  ['within a word', 'KL<b>LR</b>R<!-- -->N<span hidden>zz</span>KK'],
  ['in a soft break', 'KLL<wbr>RR&shy;NKK&zwnj;'],
  ['by an entity without a semicolon', 'KLLRRNKK&copy'],
  ['in elements that are not closed', '<div><i>KLLRR<p hidden>x<p>y</div>'.replace('KLLRR', 'KLLRRNKK')],
] as const)('reads as one word in HTML what a reader sees as one: %s', ([, htmlBody]) => {
  expect(placesOf({ htmlBody }, 'KLLRRNKK')).toContain('htmlBody');
});

test('separates blocks, so that no word comes from two of them', () => {
  expect(placesOf({ htmlBody: '<p>KLLR</p><p>RNKK</p><td>AB</td><td>CD</td>' }, 'KLLRRNKK')).toEqual([]);
  expect(placesOf({ htmlBody: '<p>KLLR</p><p>RNKK</p><td>AB</td><td>CD</td>' }, 'ABCD')).toEqual([]);
});

test.for([
  ['a quarter of a word', 'helloworld'],
  ['a UUID', 'ac3e0000-0003-4000-8000-000000000001'],
  ['a long word', 'internationalisation understanding'],
  ['a path', '/v1/inboxes/messages/threads'],
] as const)('reads no base64 in %s', ([, plainBody]) => {
  const folded = new Set(textsOfMail({ plainBody }).map(({ text }) => foldText(text)));
  expect([...folded]).toEqual([foldText(plainBody)]);
});

test('reads no text in a file that is none', () => {
  const content = toBase64(Uint8Array.from({ length: 300 }, (_, index) => index % 256));
  const attachments = [{ filename: 'a.png', contentType: 'image/png', content }];
  expect(textsOfMail({ attachments }).map(({ place }) => place)).toEqual(['attachment name']);
});

test.for([
  ['UTF-16', 'text/plain', Uint8Array.from([0xff, 0xfe, 0x4b, 0, 0x4c, 0])],
  ['the charset of its type', 'text/plain; charset=iso-8859-1', Uint8Array.from([0xe9, 0x4b, 0x4c])],
] as const)('reads a file in %s', ([, contentType, bytes]) => {
  const attachments = [{ filename: '', contentType, content: toBase64(bytes) }];
  expect(placesOf({ attachments }, 'KL')).toEqual(['attachment']);
});

const QUOTE = '> How late is it?\n> Dana';

/** Texts in which nothing is answered, and such with an answer. */
const EMPTY: readonly (readonly [string, WrittenMail])[] = [
  ['nothing', { plainBody: '' }],
  ['no bodies', { plainBody: null, htmlBody: null }],
  ['white space', { plainBody: ' \r\n\t\u00a0\u3000\n' }],
  ['invisible characters', { plainBody: '\u200b\u2060\ufeff\u00ad' }],
  ['signs', { plainBody: '--\n...' }],
  ['a quote', { plainBody: QUOTE }],
  ['a quote in a quote', { plainBody: `>> Hello\n${QUOTE}` }],
  [
    'a quote of Gmail',
    { plainBody: `\n\nOn Mon, Jan 5, 2026 at 9:00 AM Dana <dana@customer.test> wrote:\n\n${QUOTE}` },
  ],
  [
    'a quote whose introduction is broken',
    { plainBody: `On Mon, Jan 5, 2026 at 9:00 AM Dana\n<dana@customer.test> wrote:\n${QUOTE}` },
  ],
  ['a German quote', { plainBody: `Am 05.01.2026 um 09:00 schrieb Dana:\n${QUOTE}` }],
  ['a French quote', { plainBody: `Le 5 janv. 2026 à 9h00, Dana a écrit :\n${QUOTE}` }],
  [
    'a quote of Outlook',
    {
      plainBody: `${'_'.repeat(32)}\nFrom: Dana <dana@customer.test>\nSent: Monday\nTo: x\nSubject: Order\n\nHow late is it?`,
    },
  ],
  ['a head of a quote', { plainBody: 'Von: Dana\nGesendet: Montag\n\nHow late?' }],
  ['an original message', { plainBody: '-----Original Message-----\nHow late is it?' }],
  ['a signature', { plainBody: '-- \nHelpdesk of Acme' }],
  [
    'HTML without text',
    { htmlBody: '<html><head><title>Re</title><style>p{}</style></head><body><p><br></p></body></html>' },
  ],
  ['&nbsp;', { htmlBody: '<p>&nbsp;</p><div>&#160;&zwnj;</div>' }],
  ['hidden HTML', { htmlBody: '<p style="font-size:0">Hello</p><!-- Hello -->' }],
  ['a hidden picture', { htmlBody: '<img hidden alt="Yes"><div hidden><img alt="Yes"></div><img src="x" alt="">' }],
  ['a blockquote', { htmlBody: '<blockquote type="cite"><p>How late is it?</p></blockquote>' }],
  [
    'a quote of Gmail in HTML',
    {
      htmlBody:
        '<div><br></div><div class="gmail_quote"><div class="gmail_attr">On Mon, Dana wrote:</div><blockquote>How late?</blockquote></div>',
    },
  ],
  [
    'a quote of Thunderbird',
    { htmlBody: '<div class="moz-cite-prefix">On 1/5/26 09:00, Dana wrote:</div><blockquote>How late?</blockquote>' },
  ],
  [
    'a quote of Outlook in HTML',
    { htmlBody: '<hr><div id="divRplyFwdMsg"><b>From:</b> Dana</div><div>How late is it?</div>' },
  ],
  [
    'an introduction outside of its quote',
    { htmlBody: 'On 5 Jan 2026, at 9:00 AM, Dana wrote:<br><blockquote>How late?</blockquote>' },
  ],
  ['a file without content', { plainBody: '', attachments: [file('a.txt', '')] }],
];

const ANSWERS: readonly (readonly [string, WrittenMail])[] = [
  ['a word', { plainBody: 'ok' }],
  ['a line that begins with dashes', { plainBody: '---- the gate ---- is open until nine' }],
  ['a digit', { plainBody: '7' }],
  ['another alphabet', { plainBody: 'Да' }],
  ['an emoji', { plainBody: '👍' }],
  [
    'a word above a quote',
    { plainBody: `Nine.\nOn Mon, Jan 5, 2026 at 9:00 AM Dana <dana@customer.test> wrote:\n${QUOTE}` },
  ],
  ['a word below a quote', { plainBody: `${QUOTE}\nNine.` }],
  ['a word between quotes', { plainBody: `${QUOTE}\nNine.\n${QUOTE}` }],
  ['a sentence with a colon above a quote', { plainBody: `You asked:\n${QUOTE}` }],
  ['fields', { plainBody: 'Mail: dana@customer.test\nPhone: 12\nOrder: 7' }],
  ['a word above a signature', { plainBody: 'Nine.\n-- \nHelpdesk' }],
  ['a heading', { plainBody: '**Done**' }],
  ['HTML', { htmlBody: '<p>ok</p><blockquote>How late?</blockquote>' }],
  ['HTML behind a quote', { htmlBody: '<blockquote>How <blockquote>late</blockquote>?</blockquote><p>ok</p>' }],
  ['HTML after a hidden element', { htmlBody: '<div hidden>a<div>b</div></div><p>ok</p>' }],
  ['HTML beside an empty text', { plainBody: ' ', htmlBody: 'ok' }],
  ['the text of a picture', { htmlBody: '<p><img src="cid:1" alt="Yes, we are open"></p>' }],
  ['a file', { plainBody: '', attachments: [file('a.txt', 'ok')] }],
];

test.for(EMPTY)('finds no answer in %s', ([, mail]) => {
  expect(isEmptyAnswer(mail)).toBe(true);
});

test.for(ANSWERS)('finds an answer in %s', ([, mail]) => {
  expect(isEmptyAnswer(mail)).toBe(false);
});
