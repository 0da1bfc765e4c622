import { readdirSync, readFileSync } from 'node:fs';
import { encodeHTML } from 'entities';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KnownSecrets } from '../../../src/world/secrets/known-secrets.ts';
import { createMask, maskNamed, maskText } from '../../../src/world/secrets/mask.ts';
import { ENCODINGS, readingsOf } from '../../support/encodings.ts';

/** Characters of passwords, some of which encodings treat specially. */
const CHARACTERS = [...'abcxyzABCXYZ0189_-+/=&%"\\<>@:;!? äß€'];

const anySecret = fc.oneof(
  fc
    .string({ unit: fc.constantFrom(...CHARACTERS), minLength: 10, maxLength: 40 })
    .filter((text) => text === text.trim()),
  fc
    .string({ unit: fc.constantFrom(...'abcdef0123456789_-'), minLength: 12, maxLength: 40 })
    .map((text) => `tk_${text}`),
  fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`),
);
const anyEncoding = fc.constantFrom(...Object.keys(ENCODINGS));
const encode = (name: string, text: string) => ENCODINGS[name]?.(text) ?? '';

const isFound = (secret: string, text: string) => readingsOf(text).some((reading) => reading.includes(secret));

/** The report of fast-check, which has the seed, is the message of a failure. */
const RUNS = { numRuns: 400 };

test('a known secret is found in every encoding, and in two around each other', () => {
  const check = (secret: string, encodings: readonly string[], before: string, after: string) => {
    const known = new KnownSecrets();
    known.add(secret);
    const encoded = encodings.reduce((text, name) => encode(name, text), secret);
    const text = `${before} ${encoded} ${after}`;
    // JSON in JSON around another encoding is more than the check undoes.
    fc.pre(isFound(secret, text));
    const masked = createMask(known).text(text);
    expect(isFound(secret, masked)).toBe(false);
    expect(masked.startsWith(`${before} `)).toBe(true);
    expect(masked.endsWith(` ${after}`)).toBe(true);
  };
  const around = fc.constantFrom('see', 'The 2 keys:', '{"a":', '<p>', 'x');
  const encodings = fc.array(anyEncoding, { minLength: 1, maxLength: 2 });
  fc.assert(fc.property(anySecret, encodings, around, around, check), RUNS);
});

test('a known secret is found whatever sign of it is written by its name in HTML', () => {
  const signs = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index));
  for (const sign of signs) {
    const secret = `Hk3x9${sign}pw47Qr`;
    const known = new KnownSecrets();
    known.add(secret);
    expect(createMask(known).text(`<p>see ${encodeHTML(secret)} here</p>`), sign).toBe('<p>see … here</p>');
  }
});

test('a key that nobody knows is found by its form in every encoding', () => {
  for (const name of Object.keys(ENCODINGS)) {
    const text = `Here: ${encode(name, 'wk_globex_of_a_stranger')} is it.`;
    expect(isFound('wk_globex_of_a_stranger', text)).toBe(true);
    expect([name, isFound('wk_globex_of_a_stranger', maskText(text))]).toEqual([name, false]);
  }
});

test('a word after base64 in lines is no part of it, unless the lines are indented in the same way', () => {
  const lines = (indentation: string) =>
    btoa(`a line that is long, and tk_acme_of_somebody_${'z'.repeat(15)}`).replace(/.{20}/g, `$&\r\n${indentation}`);
  expect(maskText(`see ${lines('')} The 2 keys`)).toMatch(/\r\n The 2 keys$/);
  expect(isFound('tk_acme_of_somebody', maskText(`see ${lines(' ')}.`).replaceAll('\n ', '\n'))).toBe(false);
});

test('a text that was shown is masked as soon as it is known as a secret', () => {
  const known = new KnownSecrets();
  const mask = createMask(known);
  expect(mask.text('Hk3x9-pw is new')).toBe('Hk3x9-pw is new');
  known.add('Hk3x9-pw');
  expect(mask.text('Hk3x9-pw is new')).toBe('… is new');
});

test('a secret that was removed is found, until many others were removed after it', () => {
  const known = new KnownSecrets();
  const mask = createMask(known);
  const masks = (text: string) => mask.text(`It is ${text}.`) !== `It is ${text}.`;
  known.add('used by two rows');
  known.add('used by two rows');
  known.remove('used by two rows');
  known.add('rotated-long-ago');
  known.remove('rotated-long-ago');
  for (let index = 1; index < 40_000; index += 1) {
    known.add(`former-secret-${index}`);
    known.remove(`former-secret-${index}`);
  }
  expect(masks('rotated-long-ago')).toBe(true);
  known.add('one-secret-more');
  known.remove('one-secret-more');
  expect(masks('rotated-long-ago')).toBe(false);
  expect([masks('used by two rows'), masks('former-secret-1'), masks('former-secret-39999')]).toEqual([
    true,
    true,
    true,
  ]);
});

test('a secret at whose middle a body was cut is hidden', () => {
  const known = new KnownSecrets();
  known.add('a password of some length');
  expect(createMask(known).text('{"note":"a password of so')).toBe('{"note":"…');
  expect(createMask(known).text('{"note":"a password')).toBe('{"note":"…');
  expect(createMask(known).text('They sent me a pass')).toBe('They sent me a pass');
});

test('within base64, a secret becomes asterisks, and the rest can still be decoded', () => {
  const known = new KnownSecrets();
  known.add('Pa5s-w0rd');
  const masked = createMask(known).text(Buffer.from('user dana, login Pa5s-w0rd, see you').toString('base64'));
  expect(masked).toMatch(/^[\w+/]+=*$/);
  expect(Buffer.from(masked, 'base64').toString()).toMatch(/^user dana, logi.{0,2}\*+.{0,2} see you$/);
});

test.for([
  ['http://dana:p%2Fss@h.test/in', 'http://…@h.test/in'],
  ['http://dana:p%40ss@h.test/in', 'http://…@h.test/in'],
  ['http://dana:p@ss@h.test/in', 'http://…@h.test/in'],
  ['http://dana:p/s?s#@h.test/in', 'http://…@h.test/in'],
  ['http:dana:pass@h.test/in', 'http:…@h.test/in'],
  ['https:\\/\\/dana:pass@h.test\\/in', 'https:\\/\\/…@h.test\\/in'],
  ['dana:pass@127.0.0.1:9/in', '…@127.0.0.1:9/in'],
  ['next=http%3A%2F%2Fdana%3Apass%40h.test', 'next=http%3A%2F%2F…%40h.test'],
  ['/in?token=abc&a=b', '/in?token=…&a=b'],
  ['/in?api_key=abc#x', '/in?api_key=…'],
  ['/in?user%5Bpassword%5D=abc&a=b', '/in?user%5Bpassword%5D=…&a=b'],
  ["{'password': 'x', 'a': 1}", "{'password': '…', 'a': 1}"],
  ['{password: "x"}', '{password: "…"}'],
  ['{"a":"{\\"access_token\\":\\"x\\"}"}', '{"a":"{\\"access_token\\":\\"…\\"}"}'],
  ['{"pass\\u0077ord":"x"}', '{"pass\\u0077ord":"…"}'],
  ['{"password":12345}', '{"password":…}'],
  ['<a:password>x y</a:password>', '<a:password>…</a:password>'],
  [
    'Content-Disposition: form-data; name="password"\r\n\r\nx y\r\n--b',
    'Content-Disposition: form-data; name="password"\r\n\r\n…\r\n--b',
  ],
  ['X-Auth: abc\r\nSubject: Hi', 'X-Auth: …\r\nSubject: Hi'],
  ['Set-Cookie: sid=1; Path=/\r\nA: b', 'Set-Cookie: …\r\nA: b'],
  ['curl -H "Authorization: Basic ZGFuYTp4"', 'curl -H "Authorization: …"'],
  ['Authorization: Bearer tk_acme_tenant_key', 'Authorization: Bearer tk_acme_…'],
  ['a bearer 1a2b3c4d5e6f', 'a bearer …'],
])('masks %j as %j', ([given, masked], { expect }) => {
  expect(maskText(given ?? '')).toBe(masked);
  expect(maskText(masked ?? '')).toBe(masked);
});

test.for([
  'Authorization',
  'Proxy-Authorization',
  'Cookie',
  'Set-Cookie',
  'X-Auth',
  'X-Auth-Token',
  'X-API-Key',
  'X-CSRF-Token',
  'token',
  'access_token',
  'api_key',
  'apikey',
  'client_secret',
  'password',
])('the whole value of %s is hidden', (name, { expect }) => {
  expect(maskNamed(name, 'anything')).toBe('(hidden)');
  expect(Object.values(createMask().deep({ [name]: 'anything' }))).toEqual(['…']);
});

test.for([
  'The token is at the desk, and the password: please choose a new one.',
  'Your password=secret hunt begins: which cookie do you like?'.replace('=', ' is '),
  'A bearer of good news; basic information about authorization and sessions.',
  'mailto:dana@customer.test, From:dana@customer.test, https://customer.test/@dana and https://customer.test/a?b=c@d',
  'break_even_calculation of visa_card_numbers and task_list_of_today',
  '{"maxTokens":4096,"tokens":"12","keys":"a","secrets":"b"}',
  'C:\\new\\users\\tools 100% &amp; more = 50% =?maybe?= &copy; U+0041 \\u0041 %41',
  'ac3e0000-0003-4000-8000-000000000001 2026-01-05T09:00:00.000Z <login-1@customer.test>',
  'Send a key as X-API-Key: <key> or Authorization: Bearer <key>, or as X-Auth: $KEY',
  'v=DKIM1; k=ed25519; p=0123456789abcdef0123456789abcdef',
])('leaves %j as it is', (text, { expect }) => {
  const known = new KnownSecrets();
  known.add('tk_acme_tenant_key');
  known.add('hunter2');
  expect(createMask(known).text(text)).toBe(text);
});

test('the prose of the pages of this project is left as it is', () => {
  const known = new KnownSecrets();
  for (const secret of ['tk_acme_tenant_key', 'Hk3x9-pw', `whsec_${btoa('a secret of these tests.')}`])
    known.add(secret);
  const mask = createMask(known);
  const pages = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'));
  const lines = pages.flatMap((path) => readFileSync(`src/${path}`, 'utf8').split('\n'));
  // The pages have some keys and logins, as examples.
  const changed = lines.filter(
    (line) => mask.text(line) !== line && !/(?:sa|tk|wk|ak)_|whsec_|:\/\/\S*@|password|Authorization:/i.test(line),
  );
  expect(lines.length).toBeGreaterThan(2000);
  expect(changed).toEqual([]);
});
