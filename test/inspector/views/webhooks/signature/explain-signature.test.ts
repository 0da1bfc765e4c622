import { createHmac } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { expect, test } from 'vitest';
import {
  explainComputed,
  explainSignature,
  type SignatureInput,
} from '../../../../../src/inspector/views/webhooks/signature/explain-signature.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER_SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX';
const NOW = new Date('2026-03-01T09:00:00.000Z');
const TIMESTAMP = String(NOW.getTime() / 1000);
const ID = 'evt_1';
const BODY = '{"event":"message.received","subject":"Größe / 😀","to":["a@customer.test"]}';
const SIGNATURE = new StandardWebhook(SECRET).sign(ID, NOW, BODY);
const KEY = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
const CONTENT = `${ID}.${TIMESTAMP}.${BODY}`;
const hexOf = (key: string | Buffer, content: string) => createHmac('sha256', key).update(content).digest('hex');
const HEX = hexOf(SECRET, BODY);

const lines = (signature: string | null = SIGNATURE, timestamp = TIMESTAMP) =>
  [
    `webhook-id: ${ID}`,
    `webhook-timestamp: ${timestamp}`,
    ...(signature ? [`webhook-signature: ${signature}`] : []),
  ].join('\n');

const explain = (changes: Partial<SignatureInput> = {}) =>
  explainSignature({ headers: lines(), body: BODY, secret: SECRET, now: NOW, ...changes });

const problemsOf = (changes: Partial<SignatureInput>) => explain(changes).flatMap(({ problems }) => problems);

const ROUND_TRIP = /^The body was parsed and written again/;

test('a signature of either library verifies, with each step', () => {
  for (const Webhook of [StandardWebhook, SvixWebhook]) {
    const headers = lines(new Webhook(SECRET).sign(ID, NOW, BODY));
    const [check] = explain({ headers });
    expect(check?.problems).toEqual([]);
    expect(check?.steps.every(({ isOk }) => isOk)).toBe(true);
    expect(check?.steps.map(({ title }) => title)).toEqual([
      'Read the headers',
      'Compare the time; at most 5 minutes may differ',
      'Decode the secret after whsec_ from base64: that is the key',
      'Join id, timestamp and body with full stops: that is the signed content',
      'Compute the HMAC-SHA256 in base64',
      'Compare',
    ]);
    expect(check?.steps[3]?.result).toBe(CONTENT);
    expect(check?.steps[4]?.result).toBe(SIGNATURE);
  }
});

test('one of several signatures is enough', () => {
  const other = new StandardWebhook(OTHER_SECRET).sign(ID, NOW, BODY);
  expect(problemsOf({ headers: lines(`${other} ${SIGNATURE}`) })).toEqual([]);
});

test.each([
  ['lines', lines()],
  ['lines with Windows line breaks', lines().replaceAll('\n', '\r\n')],
  ['options of curl', lines().replace(/^(.*)$/gm, "  -H '$1' \\")],
  ['JSON', JSON.stringify({ 'Webhook-Id': ID, 'webhook-timestamp': TIMESTAMP, 'webhook-signature': SIGNATURE })],
  [
    'JSON with lists',
    JSON.stringify({ 'webhook-id': [ID], 'webhook-timestamp': [TIMESTAMP], 'webhook-signature': [SIGNATURE] }, null, 2),
  ],
  [
    'a printed object of Node',
    `{\n  host: 'a.test',\n  'webhook-id': '${ID}',\n  'webhook-timestamp': '${TIMESTAMP}',\n  'webhook-signature': '${SIGNATURE}'\n}`,
  ],
  ['a printed map of Go', `map[Webhook-Id:[${ID}] Webhook-Timestamp:[${TIMESTAMP}] Webhook-Signature:[${SIGNATURE}]]`],
])('headers may be pasted as %s', (_, headers) => {
  expect(problemsOf({ headers })).toEqual([]);
});

test.each<[string, Partial<SignatureInput>, RegExp]>([
  ['the secret of another webhook', { secret: OTHER_SECRET }, /^The secret is wrong: it is not that of the webhook/],
  ['a secret that is not base64', { secret: 'whsec_not!base64' }, /^The secret is wrong: it must be whsec_ followed/],
  ['no secret', { secret: '' }, /^The secret is missing/],
  ['a secret in quotes', { secret: `"${SECRET}"` }, /^The secret has spaces, line breaks or quotes around it/],
  ['a secret with a line break', { secret: `${SECRET}\n` }, /^The secret has spaces, line breaks or quotes/],
  ['a body that is indented', { body: JSON.stringify(JSON.parse(BODY), null, 2) }, ROUND_TRIP],
  ['a body with spaces', { body: BODY.replaceAll(':', ': ').replaceAll(',', ', ') }, ROUND_TRIP],
  ['a body with escaped letters', { body: BODY.replace('ö', '\\u00f6') }, ROUND_TRIP],
  ['a body with escaped slashes', { body: BODY.replace('/', '\\/') }, ROUND_TRIP],
  ['a body in a JSON text', { body: JSON.stringify(BODY) }, /^The body was written as JSON twice/],
  ['a body with a line break', { body: `${BODY}\n` }, /^The body has a line break or a space at its start or end/],
  ['a body in Latin-1', { body: Buffer.from(BODY).toString('latin1') }, /^The body was read as Latin-1/],
  ['no body', { body: '' }, /^The body is missing/],
  ['another body', { body: BODY.replace('Größe', 'Preis') }, /Or the content of webhook-id, .* was changed\./],
  [
    'a time too long ago',
    { now: new Date(NOW.getTime() + 301_000) },
    /signed 5 minutes before the time of the receiver/,
  ],
  ['a time in the future', { now: new Date(NOW.getTime() - 86_400_000) }, /signed 24 hours after the time/],
  [
    'a time by the clock of the mailbox that is ahead',
    { now: new Date(NOW.getTime() - 7_200_000), mailboxTime: NOW },
    /signed by the clock of the mailbox, which was 2 hours ahead of real time, .* deliveries\.timestamp was clock/,
  ],
  [
    'a time by the clock of the mailbox that is behind',
    { now: new Date(NOW.getTime() + 3 * 86_400_000), mailboxTime: NOW },
    /signed by the clock of the mailbox, which was 3 days behind real time/,
  ],
  [
    'a time that is neither real nor by the clock of the mailbox',
    { now: new Date(NOW.getTime() + 3_600_000), mailboxTime: new Date(NOW.getTime() + 7_200_000) },
    /outside the tolerance: the request was signed 60 minutes before the time of the receiver/,
  ],
  ['a time in milliseconds', { headers: lines(SIGNATURE, `${TIMESTAMP}000`) }, /is in milliseconds/],
  ['a time that is no number', { headers: lines(SIGNATURE, NOW.toISOString()) }, /a whole number of seconds/],
  ['a missing signature', { headers: lines(null) }, /^The header webhook-signature is missing/],
  ['no header', { headers: '' }, /^The header webhook-id is missing/],
  ['a missing prefix', { headers: lines(SIGNATURE.slice(3)) }, /lacks its prefix v1,/],
  ['hex instead of base64', { headers: lines(`v1,${hexOf(KEY, CONTENT)}`) }, /is written in hex; it must be base64/],
  [
    'the text of the secret as key',
    { headers: lines(`v1,${Buffer.from(hexOf(SECRET, CONTENT), 'hex').toString('base64')}`) },
    /the whole text of the secret, instead of/,
  ],
  [
    'a signature of the body alone',
    { headers: lines(`v1,${Buffer.from(hexOf(KEY, BODY), 'hex').toString('base64')}`) },
    /that of the body alone/,
  ],
])('%s is found', (_, changes, problem) => {
  const [check] = explain(changes);
  expect(check?.problems.join(' ')).toMatch(problem);
  expect(check?.steps.some(({ isOk }) => !isOk)).toBe(true);
});

test('a missing prefix is named beside the one mistake', () => {
  expect(problemsOf({ headers: lines(hexOf(KEY, CONTENT)) })).toEqual([
    expect.stringMatching('written in hex'),
    expect.stringMatching('lacks its prefix'),
  ]);
});

test('more than one mistake is said plainly, and is not searched for', () => {
  const headers = lines(`v1,${hexOf(KEY, CONTENT)}`);
  const problems = problemsOf({ headers, body: JSON.stringify(JSON.parse(BODY), null, 2) });
  expect(problems).toEqual([expect.stringMatching(/Or there is more than one mistake, because no single mistake/)]);
});

test.each(['v1=', 'sha256=', ''])('a hex signature with the prefix "%s" verifies', (prefix) => {
  const headers = `${lines()}\nX-Webhook-Signature: ${prefix}${HEX}`;
  expect(explain({ headers }).map(({ scheme, problems }) => [scheme, problems])).toEqual([
    ['standard', []],
    ['hex', []],
  ]);
});

test.each<[string, Partial<SignatureInput>, RegExp]>([
  ['without whsec_', { secret: SECRET.slice('whsec_'.length) }, /lacks its prefix whsec_/],
  ['with an indented body', { body: JSON.stringify(JSON.parse(BODY), null, 2) }, ROUND_TRIP],
  ['with another secret', { secret: OTHER_SECRET }, /^The secret is wrong/],
  [
    'in base64',
    { headers: `x-signature: ${Buffer.from(HEX, 'hex').toString('base64')}` },
    /is written in base64; it must be hex/,
  ],
  [
    'with the decoded key',
    { headers: `x-signature: ${hexOf(KEY, BODY)}` },
    /the secret decoded from base64, instead of/,
  ],
])('a hex signature %s does not verify', (_, changes, problem) => {
  const [check] = explain({ headers: `x-signature: v1=${HEX}`, ...changes });
  expect([check?.scheme, check?.problems.join(' ')]).toEqual(['hex', expect.stringMatching(problem)]);
});

test('what the emulator sent shows what was changed', () => {
  const sent = {
    headers: { 'webhook-id': ID, 'webhook-timestamp': TIMESTAMP, 'webhook-signature': SIGNATURE },
    body: BODY,
    secret: SECRET,
    fault: null,
  };
  expect(problemsOf({ sent, secret: OTHER_SECRET })).toEqual(['The secret is wrong: it is not that of the webhook.']);
  expect(problemsOf({ sent, body: BODY.replace('Größe', 'Grösse') })).toEqual([
    expect.stringMatching(
      /^The body was changed, from character 43: the emulator sent ".*Größe.*", and this is ".*Grösse/,
    ),
  ]);
  // However it was written again, the same JSON in other bytes has been parsed.
  const { to, ...others } = JSON.parse(BODY) as { readonly to: readonly string[] };
  for (const body of [JSON.stringify(JSON.parse(BODY), null, '\t\t'), JSON.stringify({ to, ...others }, null, 1)]) {
    expect(problemsOf({ sent, body })).toEqual([
      expect.stringMatching(
        /^The body was parsed and written again: .* Verify the raw bytes of the request, before JSON\.parse\.$/,
      ),
    ]);
  }
  const forged = new StandardWebhook(OTHER_SECRET).sign(ID, NOW, BODY);
  const faulty = { ...sent, headers: { ...sent.headers, 'webhook-signature': forged }, fault: 'wrong-secret' };
  expect(problemsOf({ sent: faulty, headers: lines(forged) })).toEqual([
    'The fault wrong-secret makes the verification fail on purpose.',
  ]);
  expect(problemsOf({ sent, headers: lines().replace(ID, 'evt_2') })).toEqual([
    'The header webhook-id was changed; the emulator sent evt_1.',
  ]);
  expect(problemsOf({ sent, headers: lines(forged) })).toEqual([
    'The signature was changed; it is not the one that the emulator sent.',
  ]);
});

const base64Of = (key: string | Buffer, content: string) => Buffer.from(hexOf(key, content), 'hex').toString('base64');

test.each<[string, string, RegExp[]]>([
  ['correctly', SIGNATURE, []],
  ['in hex', hexOf(KEY, CONTENT), [/in hex; write it in base64/]],
  ['with the text of the secret', base64Of(SECRET, CONTENT), [/decode the part after whsec_/]],
  ['without the prefix of the secret', base64Of(SECRET.slice(6), CONTENT), [/without whsec_ as the key/]],
  ['over the body alone', base64Of(KEY, BODY), [/signed the body alone; sign id.timestamp.body/]],
  ['as for Stripe', hexOf(KEY, `${TIMESTAMP}.${BODY}`), [/signed timestamp.body in hex, as for Stripe/]],
  [
    'over an indented body',
    base64Of(KEY, `${ID}.${TIMESTAMP}.${JSON.stringify(JSON.parse(BODY), null, 2)}`),
    [/a body that was parsed and written again: indented by 2/],
  ],
  ['over an empty body', base64Of(KEY, `${ID}.${TIMESTAMP}.`), [/signed an empty body/]],
])('says that own code computed a signature %s', (_, computed, expected) => {
  const found = explainComputed(computed, { headers: lines(), body: BODY, secret: SECRET, now: NOW });
  expect(found).toEqual(expected.map((each) => expect.stringMatching(each)));
});

test('a signature that no single known mistake leads to stays unexplained', () => {
  const input = { headers: lines(), body: BODY, secret: SECRET, now: NOW };
  expect(explainComputed('v1,AAAA', input)).toBeUndefined();
  expect(explainComputed(hexOf(SECRET, CONTENT), input)).toBeUndefined();
});

test('a large body is explained too', () => {
  const body = JSON.stringify({ padding: 'x'.repeat(200_000) });
  const headers = lines(new StandardWebhook(SECRET).sign(ID, NOW, body));
  expect(problemsOf({ headers, body: `${body}\n` })[0]).toMatch(/line break/);
});
