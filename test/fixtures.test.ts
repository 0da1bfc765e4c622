import { createMailbox, defaultFixture, FixtureError } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import emptyFixture from '../fixtures/empty.json' with { type: 'json' };

// biome-ignore lint/suspicious/noExplicitAny: each case breaks the fixture in a way that its type forbids.
type Spoilt = any;

const SPOILT: [title: string, spoil: (fixture: Spoilt) => void, problems: string[]][] = [
  ['no operator', (f) => delete f.operator, ['$.operator is required']],
  [
    'a key of another tier',
    (f) => (f.operator.key = 'tk_platform_operator'),
    ['$.operator.key must be sa_ and at least ten letters, digits, _ or -'],
  ],
  [
    'a handle with a space',
    (f) => rename(f.tenants, 'globex', 'a b'),
    ['$.tenants["a b"] as a handle must start with a lower-case letter, then letters, digits or -'],
  ],
  [
    'the reserved handle',
    (f) => rename(f.tenants, 'globex', 'operator'),
    ['$.tenants.operator as a handle must not be "operator", which names the operator key'],
  ],
  ['a field that is not known', (f) => (f.tenants.acme.colour = 'red'), ['$.tenants.acme.colour is not a field here']],
  ['an id that is no UUID', (f) => (f.tenants.acme.id = '1'), ['$.tenants.acme.id must be a UUID']],
  [
    'a name that is a number',
    (f) => (f.tenants.acme.workspaces.sales.name = 7),
    ['$.tenants.acme.workspaces.sales.name must be a string'],
  ],
  [
    'a time without milliseconds',
    (f) => (f.tenants.acme.createdAt = '2026-01-05T09:00:00Z'),
    ['$.tenants.acme.createdAt must be a time such as 2026-01-05T09:00:00.000Z'],
  ],
  [
    'a relative webhook url',
    (f) => (f.tenants.acme.webhooks.support.url = '/hook'),
    ['$.tenants.acme.webhooks.support.url must be an absolute http or https URL'],
  ],
  [
    'an unknown event kind',
    (f) => (f.tenants.acme.webhooks.support.events = ['message.lost']),
    ['$.tenants.acme.webhooks.support.events[0] must be one of message.received, message.sent, message.bounced'],
  ],
  [
    'a secret that verifiers refuse',
    (f) => (f.tenants.acme.webhooks.support.secret = 'whsec_c2hvcnQ='),
    ['$.tenants.acme.webhooks.support.secret must hold 24 to 64 bytes'],
  ],
  [
    'a webhook of a workspace that is not there',
    (f) => (f.tenants.acme.webhooks.support.workspace = 'main'),
    ['$.tenants.acme.webhooks.support.workspace names no workspace of this tenant; it has: support, sales'],
  ],
  [
    'two default workspaces',
    (f) => (f.tenants.acme.workspaces.sales.isDefault = true),
    ['$.tenants.acme.workspaces must have exactly one workspace with "isDefault": true, not 2'],
  ],
  [
    'no default workspace',
    (f) => delete f.tenants.globex.workspaces.main.isDefault,
    ['$.tenants.globex.workspaces must have exactly one workspace with "isDefault": true, not 0'],
  ],
  [
    'a key given twice',
    (f) => (f.tenants.globex.key.key = f.tenants.acme.key.key),
    ['$.tenants.globex.key.key has the key of $.tenants.acme.key.key; each must have its own'],
  ],
  [
    'an id given twice',
    (f) => (f.tenants.globex.id = f.tenants.acme.id),
    ['$.tenants.globex.id has the id of $.tenants.acme.id; each must have its own'],
  ],
  [
    'a slug given twice',
    (f) => (f.tenants.acme.workspaces.sales.slug = 'support'),
    [
      '$.tenants.acme.workspaces.sales.slug has the slug of $.tenants.acme.workspaces.support.slug; each must have its own',
    ],
  ],
  [
    'an address given twice',
    (f) => (f.tenants.acme.workspaces.sales.inboxes.outreach.username = 'helpdesk'),
    [
      '$.tenants.acme.workspaces.sales.inboxes.outreach.username has the address of $.tenants.acme.workspaces.support.inboxes.helpdesk.username; each must have its own',
    ],
  ],
  ['tenants that are an array', (f) => (f.tenants = []), ['$.tenants must be an object']],
  [
    'two inboxes without a user name',
    (f) => {
      delete f.tenants.acme.workspaces.support.inboxes.helpdesk.username;
      delete f.tenants.acme.workspaces.support.inboxes.billing.username;
    },
    [
      '$.tenants.acme.workspaces.support.inboxes.helpdesk.username is required',
      '$.tenants.acme.workspaces.support.inboxes.billing.username is required',
    ],
  ],
  [
    'problems of shape and of reference at once',
    (f) => {
      f.tenants.acme.name = '';
      f.tenants.acme.webhooks.support.workspace = 'main';
    },
    [
      '$.tenants.acme.name must not be empty',
      '$.tenants.acme.webhooks.support.workspace names no workspace of this tenant; it has: support, sales',
    ],
  ],
];

describe('fixtures', () => {
  test.for(SPOILT)('%s is told with its path', ([, spoil, problems], { expect }) => {
    const fixture = structuredClone(defaultFixture);
    spoil(fixture);
    const error = catchError(() => createMailbox({ fixtures: fixture }));
    expect(error).toBeInstanceOf(FixtureError);
    expect((error as FixtureError).problems.map(({ path, message }) => `${path} ${message}`)).toEqual(problems);
    expect((error as Error).message).toBe(
      ['The fixture is not valid:', ...problems.map((line) => `  ${line}`)].join('\n'),
    );
  });

  test.for([[null], [7], ['x'], [[]], [{ tenants: null }], [{ operator: [], tenants: { acme: 3 } }]])(
    '%j is no fixture',
    ([fixture], { expect }) => {
      expect(() => createMailbox({ fixtures: fixture as never })).toThrow(FixtureError);
    },
  );

  test('the default fixture holds what README and tests rely on', () => {
    const { keys } = createMailbox();
    expect(keys).toEqual({
      operator: 'sa_platform_operator_key',
      acme: {
        tenant: 'tk_acme_tenant_key',
        workspaces: { support: 'wk_acme_support_key', sales: 'wk_acme_sales_key' },
        inboxes: { helpdesk: 'ak_acme_helpdesk_key', billing: 'ak_acme_billing_key', outreach: 'ak_acme_outreach_key' },
      },
      globex: {
        tenant: 'tk_globex_tenant_key',
        workspaces: { main: 'wk_globex_main_key' },
        inboxes: { info: 'ak_globex_info_key' },
      },
    });
    const [acme, globex] = createMailbox().snapshot().tenants;
    expect(acme?.webhooks.map(({ workspaceId }) => workspaceId)).toEqual([null, acme?.workspaces[0]?.id]);
    expect(acme?.workspaces[0]).toMatchObject({ name: 'Support', isDefault: true });
    expect(acme?.messages.length).toBeGreaterThan(3);
    expect(globex?.webhooks).toHaveLength(1);
  });

  test('an empty fixture has an operator and no tenant', async () => {
    const mailbox = createMailbox({ fixtures: emptyFixture });
    expect(mailbox.keys).toEqual({ operator: 'sa_platform_operator_key' });
    expect(mailbox.snapshot().tenants).toEqual([]);
  });

  test('an id in upper case is found by the path that names it', async () => {
    const fixture = structuredClone(defaultFixture) as Spoilt;
    const { support } = fixture.tenants.acme.webhooks;
    support.id = support.id.toUpperCase();
    const mailbox = createMailbox({ fixtures: fixture as typeof defaultFixture });
    const request = new Request(`${mailbox.baseUrl}/v1/webhooks/${support.id}`, {
      method: 'DELETE',
      headers: { 'X-API-Key': 'tk_acme_tenant_key' },
    });
    expect((await mailbox.fetch(request)).status).toBe(200);
  });

  test('keys that differ in case only are two keys', () => {
    const fixture = structuredClone(defaultFixture) as Spoilt;
    fixture.tenants.globex.key.key = 'tk_ACME_tenant_key';
    expect(() => createMailbox({ fixtures: fixture })).not.toThrow();
  });

  test('the handle __proto__ is told, not dropped', () => {
    const text = JSON.stringify(defaultFixture).replace('"globex":', '"__proto__":');
    expect(() => createMailbox({ fixtures: JSON.parse(text) })).toThrow('$.tenants.__proto__ must not be a handle');
  });

  test('names of Object.prototype are handles like any other', () => {
    const text = JSON.stringify(defaultFixture)
      .replace('"globex":', '"constructor":')
      .replace('"main":', '"toString":');
    const mailbox = createMailbox({ fixtures: JSON.parse(text) as typeof defaultFixture });
    expect(mailbox.keys).toMatchObject({ constructor: { workspaces: { toString: 'wk_globex_main_key' } } });
  });

  test('the default fixture cannot be changed for the mailboxes to come', () => {
    expect(() => {
      (defaultFixture as Spoilt).tenants.acme.webhooks.support.events.push('message.sent');
    }).toThrow(TypeError);
  });

  test('what a test reads is a copy', () => {
    const mailbox = createMailbox();
    const [acme] = mailbox.snapshot().tenants as Spoilt;
    acme.webhooks[0].url = 'changed';
    acme.webhooks[0].events.length = 0;
    acme.workspaces.length = 0;
    expect(mailbox.snapshot()).toEqual(createMailbox().snapshot());
  });

  test('changing the fixture object afterwards does not change the mailbox', async () => {
    const fixture = structuredClone(defaultFixture);
    const mailbox = createMailbox({ fixtures: fixture });
    const start = mailbox.snapshot();
    (fixture as Spoilt).tenants.acme.webhooks.support.events.push('message.sent');
    mailbox.reset();
    expect(mailbox.snapshot()).toEqual(start);
  });

  test('two mailboxes do not meet', async () => {
    const [one, two] = [createMailbox(), createMailbox()];
    const before = two.snapshot();
    const headers = { 'X-API-Key': one.keys.acme.tenant };
    const body = JSON.stringify({ url: 'https://a.example/', events: ['message.sent'] });
    await one.fetch(new Request('https://mailbox.test/v1/webhooks', { method: 'POST', headers, body }));
    expect(one.snapshot().tenants[0]?.webhooks).toHaveLength(3);
    expect(two.snapshot()).toEqual(before);
  });

  test.for([
    'https://mailbox.test?',
    'https://mailbox.test#',
    'https://user:pw@mailbox.test',
    'mailbox.test',
    '/v1',
    'ftp://mailbox.test',
    'https://mailbox.test/?x=1',
    '',
  ])('the baseUrl %j is refused', (baseUrl, { expect }) => {
    expect(() => createMailbox({ baseUrl })).toThrow(/baseUrl must be an absolute http or https URL/);
  });
});

function rename(tenants: Spoilt, from: string, to: string): void {
  tenants[to] = tenants[from];
  delete tenants[from];
}

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}
