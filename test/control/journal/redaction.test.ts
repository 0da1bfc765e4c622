import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHar } from '../../../src/control/journal/har.ts';
import { maskText } from '../../../src/world/secrets/mask.ts';
import { IDS } from '../../support/ids.ts';

/** Every key and webhook secret of a mailbox. */
function secretsOf(mailbox: Mailbox): string[] {
  const { tenants } = mailbox.snapshot();
  const ofTenants = tenants.flatMap(({ apiKeys, webhooks }) => [
    ...apiKeys.map(({ key }) => key),
    ...webhooks.map(({ secret }) => secret),
  ]);
  return [mailbox.keys.operator, ...ofTenants];
}

/** Every password of a mailbox. Only replies contain them, because requests never need them. */
function passwordsOf(mailbox: Mailbox): string[] {
  return mailbox.snapshot().tenants.flatMap(({ inboxes }) => inboxes.map(({ imapPassword }) => imapPassword));
}

const encodeAll = (text: string) => [...text].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('');
const escapeAll = (text: string) =>
  [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

interface Sent {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** The places of a request in which a client can send a key, and the forms in which it can send it there. */
const PLACES: Readonly<Record<string, (key: string, around: string) => Sent>> = {
  'X-API-Key': (key) => ({ headers: { 'X-API-Key': key } }),
  Authorization: (key) => ({ headers: { Authorization: `Bearer ${key}` } }),
  'Basic authorization': (key) => ({ headers: { Authorization: `Basic ${btoa(`${key}:`)}` } }),
  'two keys in one header': (key) => ({ headers: { 'X-API-Key': `${key}, ${key}` } }),
  'any header': (key, around) => ({ headers: { 'X-Trace': `${around}${key}` } }),
  cookie: (key) => ({ headers: { Cookie: `key=${encodeURIComponent(btoa(key))}` } }),
  query: (key) => ({ path: `/v1/webhooks?api_key=${key}` }),
  'encoded query': (key, around) => ({ path: `/v1/webhooks?q=${around}${encodeAll(key)}&${encodeAll(key)}=1` }),
  'doubly encoded query': (key) => ({ path: `/v1/webhooks?q=${encodeURIComponent(encodeAll(key))}` }),
  path: (key) => ({ path: `/v1/inboxes/${key}` }),
  'encoded path': (key, around) => ({ path: `/v1/${around}${encodeAll(key)}` }),
  'JSON body': (key, around) => ({ body: JSON.stringify({ name: `${around}${key}`, [key]: key }) }),
  'escaped JSON body': (key) => ({ body: `{"name":"${escapeAll(key)}"}` }),
  'a body that is not JSON': (key, around) => ({ body: `${around}key=${key}&other=${encodeAll(key)}` }),
  'a body that is cut within the key': (key) => ({ body: `${' '.repeat(16 * 1024 - key.length + 1)}${key}` }),
};

/** Requests whose replies contain keys, secrets or passwords. */
const REVEALING: readonly [method: string, path: string, json?: object][] = [
  ['GET', '/v1/webhooks'],
  ['POST', '/v1/webhooks', { url: 'http://dana:pass-word@127.0.0.1:9/in', events: ['message.received'] }],
  ['POST', '/v1/inboxes', { username: 'new', workspaceId: IDS.acme.workspaces.support }],
  ['GET', '/v1/inboxes'],
  ['GET', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`],
  ['POST', `/v1/inboxes/${IDS.acme.inboxes.billing}/keys`],
  ['POST', `/v1/workspaces/${IDS.acme.workspaces.support}/keys`, { name: 'second' }],
  ['GET', `/v1/workspaces/${IDS.acme.workspaces.support}/keys`],
];

/** Everything that a person can read: the journal, its HAR document and the feed. */
async function readAll(mailbox: Mailbox): Promise<string> {
  const requests = mailbox.requests();
  const events: object[] = [];
  for await (const event of mailbox.feed({ follow: false })) events.push(event);
  return JSON.stringify([requests, createHar(requests, mailbox.baseUrl), events]);
}

/** Reads a text as its readers may: also without escapes and encodings. */
function readingsOf(text: string): string[] {
  const unescaped = text.replace(/\\+u00([0-9a-f]{2})|%([0-9a-f]{2})/gi, (_, a, b) =>
    String.fromCharCode(Number.parseInt(a ?? b, 16)),
  );
  return unescaped === text ? [text] : [text, ...readingsOf(unescaped)];
}

test('no key or secret that a client sends is in the journal, the HAR document or the feed', async () => {
  const place = fc.constantFrom(...Object.keys(PLACES));
  const around = fc.string({ unit: fc.constantFrom('a', 'Z', '9', '_', '-', 'k', ' ') });
  const requests = fc.array(fc.tuple(place, around, fc.nat()), { minLength: 1, maxLength: 12 });
  const check = async (sent: readonly (readonly [string, string, number])[]) => {
    const mailbox = createMailbox();
    const secrets = secretsOf(mailbox);
    for (const [name, text, index] of sent) {
      const key = secrets[index % secrets.length] ?? '';
      const { path = '/v1/webhooks', headers, body } = PLACES[name]?.(key, text.trim()) ?? {};
      const method = body === undefined ? 'GET' : 'POST';
      await mailbox.fetch(
        new Request(mailbox.baseUrl + path, { method, ...(headers && { headers }), ...(body && { body }) }),
      );
    }
    const shown = readingsOf(await readAll(mailbox));
    for (const secret of secrets) for (const reading of shown) expect(reading).not.toContain(secret);
  };
  await fc.assert(fc.asyncProperty(requests, check), { numRuns: 60 });
});

test('no key, secret or password that a reply contains is in the journal, the HAR document or the feed', async () => {
  const mailbox = createMailbox({ behaviours: { 'inboxes.list.credentials': 'included' } });
  const before = secretsOf(mailbox);
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
  const replies: string[] = [];
  for (const [method, path, json] of REVEALING) {
    const body = json && JSON.stringify(json);
    const reply = await mailbox.fetch(new Request(mailbox.baseUrl + path, { method, headers, ...(body && { body }) }));
    replies.push(await reply.text());
  }
  const shown = readingsOf(await readAll(mailbox));
  const secrets = [...new Set([...before, ...secretsOf(mailbox), ...passwordsOf(mailbox), 'pass-word'])];
  const revealed = secrets.filter((secret) => replies.join().includes(secret));
  expect(revealed.length).toBeGreaterThan(8);
  for (const secret of secrets) for (const reading of shown) expect(reading).not.toContain(secret);
});

test.for([
  ['a break_even point of visa_card', 'a break_even point of visa_card'],
  ['{"a":"50%25 \\u0041"}', '{"a":"50%25 \\u0041"}'],
  ['tk_acme_tenant_key', 'tk_acme_…'],
  ['tk%5Facme%5ftenant_key 100%25', 'tk_acme_… 100%25'],
  ['whsec_MDEy\\/MzQ1 tail', 'whsec_… tail'],
  ['{"password":"a\\"b","key":"c"}', '{"password":"…","key":"c"}'],
  ['{"Password":"a","client_secret":"b","x-api-key":"c"}', '{"Password":"…","client_secret":"…","x-api-key":"…"}'],
  ['user=a&password=hunter2%21&New-Passwd=b\nc=d', 'user=a&password=…&New-Passwd=…\nc=d'],
  ['{"a":"?secret=b","secrets":"c"}', '{"a":"?secret=…","secrets":"c"}'],
  ['{"imapPassword": "cut off', '{"imapPassword": "…'],
  ['http://dana:word@127.0.0.1/in?a@b', 'http://…@127.0.0.1/in?a@b'],
])('masks %j as %j', ([given, masked], { expect }) => {
  expect(maskText(given ?? '')).toBe(masked);
});
