import { createMailbox, FixtureError, type Mailbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { randomCalls, runCalls } from '../../support/model/random-calls.ts';
import { senderTo } from '../../support/send.ts';

interceptRequests();

/** A mail that a fixture written by hand could not have: it breaks the limits of requests. */
const ODD_EML = [
  'From: "Dana, of \\"x\\"" <Dana@Customer.test>',
  'To: helpdesk@acme.test',
  `Subject: ${'long '.repeat(400)}`,
  `References: ${'<a@b.test> '.repeat(120)}`,
  'X-Odd: \u00fc\u0001',
  'Content-Type: text/plain; name=""',
  '',
  'Hi',
].join('\r\n');

test('an exported fixture loads again to an equal state, whatever happened before', async () => {
  await fc.assert(
    fc.asyncProperty(randomCalls, async (calls) => {
      const mailbox = createMailbox();
      await runCalls(mailbox, calls);
      const fixtures = JSON.parse(JSON.stringify(mailbox.export()));
      const copy = createMailbox({ fixtures });
      expect(copy.snapshot()).toEqual(mailbox.snapshot());
      expect(copy.export()).toEqual(fixtures);
      mailbox.reset();
      mailbox.load(fixtures);
      expect(mailbox.snapshot()).toEqual(copy.snapshot());
    }),
    { numRuns: 15 },
  );
});

everywhere('an exported fixture keeps mail from outside as it came', async (service) => {
  const { mailbox } = service;
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', eml: new TextEncoder().encode(ODD_EML) });
  const { status, json } = await control(service, 'GET /export', undefined, () => mailbox.export());
  expect(status).toBe(200);
  expect(createMailbox({ fixtures: json }).snapshot()).toEqual(mailbox.snapshot());
});

everywhere('an exported fixture keeps handles, and names what was created later', async ({ mailbox, send }) => {
  const { operator, acme } = mailbox.keys;
  await send('POST', '/v1/inboxes', { key: acme.tenant, json: { username: '7-up', domain: 'acme.test' } });
  const created = await send('POST', '/v1/tenants', { key: operator, json: { name: 'Acme' } });
  const copy = createMailbox({ fixtures: mailbox.export() });
  expect(copy.ids.acme).toMatchObject({ ...mailbox.ids.acme, inboxes: mailbox.ids.acme.inboxes });
  expect(copy.keys.acme).toMatchObject(acme);
  expect(Object.keys(copy.ids.acme?.inboxes ?? {})).toContain('inbox-7-up');
  expect(copy.ids['acme-2']?.tenant).toBe(created.json.id);
});

test('a mailbox with a seed creates no id that an exported fixture of the same seed has', async () => {
  const create = async (mailbox: Pick<Mailbox, 'baseUrl' | 'fetch'>) =>
    senderTo(mailbox)('POST', '/v1/inboxes', { key: 'tk_acme_tenant_key', json: { domain: 'acme.test' } });
  const first = createMailbox({ seed: 42 });
  await create(first);
  const second = createMailbox({ seed: 42, fixtures: first.export() });
  expect((await create(second)).status).toBe(201);
  first.load(first.export());
  expect((await create(first)).status).toBe(201);
});

test('a fixture that does not load leaves everything as it is', async () => {
  const mailbox = createMailbox({ maxMailBytes: 100_000 });
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'a@b.test' });
  const before = mailbox.snapshot();
  expect(() => mailbox.load({ tenants: 7 } as never)).toThrow(FixtureError);
  const large = { from: 'a@b.test', plainBody: 'x'.repeat(200_000) };
  const tenants = { big: { workspaces: { main: { inboxes: { one: { messages: [large] } } } } } };
  expect(() => mailbox.load({ tenants })).toThrow(RangeError);
  expect(mailbox.snapshot()).toEqual(before);
  expect(mailbox.deliveries()).toEqual([]);
});

test('a loaded fixture is what a reset restores, with its keys and ids', () => {
  const mailbox = createMailbox();
  mailbox.load({ tenants: { initech: {} } });
  expect(mailbox.keys).toEqual({
    operator: 'sa_platform_operator_key',
    initech: { tenant: 'tk_initech_tenant_key', workspaces: {}, inboxes: {} },
  });
  const loaded = mailbox.snapshot();
  mailbox.reset();
  expect(mailbox.snapshot()).toEqual(loaded);
  expect(mailbox.exposure('tk_initech_tenant_key').handle).toBe('initech.tenant');
});

// biome-ignore lint/suspicious/noExplicitAny: the fixture is broken on purpose.
type Tenant = Record<string, any>;

test.each<[title: string, change: (tenant: Tenant) => void, problem: string]>([
  [
    'key and rows',
    (acme) => Object.assign(acme, { key: 'tk_acme_other_key' }),
    '.key must not be combined with "rows"',
  ],
  [
    'an unknown inbox',
    ({ rows }) => Object.assign(rows.messages[0], { inboxId: IDS.nobody }),
    '.rows.messages[0].inboxId must be the id of a row of this tenant',
  ],
  [
    'an unknown owner',
    ({ rows }) => Object.assign(rows.apiKeys[0], { ownerId: IDS.nobody }),
    '.rows.apiKeys[0].ownerId must be the id of a row of this tenant',
  ],
  [
    'an id twice',
    ({ rows }) => rows.webhooks.push(rows.webhooks[0]),
    '.rows.webhooks[2].id has the id of $.tenants.acme.rows.webhooks[0].id; each must have its own',
  ],
  [
    'a time that is none',
    ({ rows }) => Object.assign(rows.inboxes[0], { createdAt: 'now' }),
    '.rows.inboxes[0].createdAt must be a time such as 2026-01-05T09:00:00.000Z',
  ],
  [
    'a secret that is none',
    ({ rows }) => Object.assign(rows.webhooks[0], { secret: 'x' }),
    '.rows.webhooks[0].secret must be whsec_ followed by base64',
  ],
  ['a missing kind', ({ rows }) => Reflect.deleteProperty(rows, 'lists'), '.rows.lists is required'],
  ['an unknown kind', ({ rows }) => Object.assign(rows, { files: [] }), '.rows.files is an unknown field'],
  ['rows that are none', (acme) => Object.assign(acme, { rows: [] }), '.rows must be an object'],
])('an exported fixture with %s is refused', (_, change, problem) => {
  const fixture = JSON.parse(JSON.stringify(createMailbox().export()));
  change(fixture.tenants.acme);
  expect(() => createMailbox({ fixtures: fixture })).toThrow(`  $.tenants.acme${problem}`);
});
