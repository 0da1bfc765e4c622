import { createMailbox, defaultFixture, FixtureError, type FixtureInput } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import emptyFixture from '../fixtures/empty.json' with { type: 'json' };
import { parseFixture } from '../src/contract/fixture.ts';
import { IDS } from './support/ids.ts';

// biome-ignore lint/suspicious/noExplicitAny: each case breaks the fixture in a way that its type forbids.
type Spoilt = any;

const HELPDESK = '$.tenants.acme.workspaces.support.inboxes.helpdesk';
const handleMessage = 'as a handle must start with a lower-case letter, then letters, digits or -';
const ADDRESS = 'must be an e-mail address such as ada@example.com or Ada <ada@example.com>';

function helpdeskOf(fixture: Spoilt): Spoilt {
  return fixture.tenants.acme.workspaces.support.inboxes.helpdesk;
}

const SPOILT: [title: string, spoil: (fixture: Spoilt) => void, problems: string[]][] = [
  ['an operator that is null', (f) => (f.operator = null), ['$.operator must be an object']],
  ['a fixture without tenants', (f) => delete f.tenants, ['$.tenants is required']],
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
    (f) => (f.tenants.globex.workspaces.main.isDefault = false),
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
  ['a key that is a number', (f) => (f.tenants.globex.key = 7), ['$.tenants.globex.key must be a key or an object']],
  [
    'a key of another tier in short form',
    (f) => (f.tenants.globex.key = 'wk_globex_tenant_key'),
    ['$.tenants.globex.key must be tk_ and at least ten letters, digits, _ or -'],
  ],
  [
    'a key in short form that is given twice',
    (f) => (f.tenants.globex.key = 'tk_acme_tenant_key'),
    ['$.tenants.globex.key has the key of $.tenants.acme.key.key; each must have its own'],
  ],
  [
    'a key that the handles give twice',
    (f) => {
      delete f.tenants.globex.key;
      f.tenants.acme.key = 'tk_globex_tenant_key';
    },
    ['$.tenants.globex.key has the key of $.tenants.acme.key; each must have its own'],
  ],
  [
    'a slug that the handles give twice',
    (f) => (f.tenants.acme.workspaces.sUPPORT = {}),
    [
      '$.tenants.acme.workspaces.sUPPORT.slug has the slug of $.tenants.acme.workspaces.support.slug; each must have its own',
    ],
  ],
  [
    'an address that the handles give twice',
    (f) => (f.tenants.globex.workspaces.main.inboxes.helpdesk = { domain: 'ACME.test' }),
    [
      `$.tenants.globex.workspaces.main.inboxes.helpdesk.username has the address of ${HELPDESK}.username; each must have its own`,
      '$.tenants.globex.domains["acme.test"] is verified, and so is $.tenants.acme.domains["acme.test"]; for all tenants but one its status must be another',
    ],
  ],
  [
    "a further address that is another tenant's",
    (f) => (f.tenants.globex.workspaces.main.inboxes.info.addresses = ['Helpdesk@ACME.test']),
    [
      `$.tenants.globex.workspaces.main.inboxes.info.addresses[0] has the address of ${HELPDESK}.username; each must have its own`,
      '$.tenants.globex.domains["acme.test"] is verified, and so is $.tenants.acme.domains["acme.test"]; for all tenants but one its status must be another',
    ],
  ],
  [
    'tagged forms of the address of another inbox',
    (f) => {
      f.tenants.globex.workspaces.main.inboxes.box = { domain: 'mailbox.test', addresses: ['Box+mine@mailbox.test'] };
      helpdeskOf(f).addresses = ['BOX+a@mailbox.test', 'box+a+b@mailbox.test', 'helpdesk+orders@acme.test'];
      f.tenants.acme.workspaces.support.inboxes.billing.addresses = ['helpdesk+bills@acme.test'];
    },
    [
      `${HELPDESK}.addresses[0] is a tagged form of the address at $.tenants.globex.workspaces.main.inboxes.box.username, which only that inbox may have`,
      `${HELPDESK}.addresses[1] is a tagged form of the address at $.tenants.globex.workspaces.main.inboxes.box.username, which only that inbox may have`,
      `$.tenants.acme.workspaces.support.inboxes.billing.addresses[0] is a tagged form of the address at ${HELPDESK}.username, which only that inbox may have`,
    ],
  ],
  [
    'a domain that two tenants have verified',
    (f) => Object.assign(f.tenants.globex.domains, { 'acme.test': {}, 'mail.acme.test': { status: 'pending' } }),
    [
      '$.tenants.globex.domains["acme.test"] is verified, and so is $.tenants.acme.domains["acme.test"]; for all tenants but one its status must be another',
    ],
  ],
  [
    'a further address given twice',
    (f) => (helpdeskOf(f).addresses = [{ address: 'help@acme.test' }, 'help@acme.test']),
    [`${HELPDESK}.addresses[1] has the address of ${HELPDESK}.addresses[0].address; each must have its own`],
  ],
  [
    'two primary addresses',
    (f) =>
      (helpdeskOf(f).addresses = [
        { address: 'a@acme.test', isPrimary: true },
        { address: 'b@acme.test', isPrimary: true },
      ]),
    [`${HELPDESK}.addresses must have at most one address with "isPrimary": true, not 2`],
  ],
  [
    'an address that is none',
    (f) => (helpdeskOf(f).addresses = ['Help <help@acme.test>', 7]),
    [
      `${HELPDESK}.addresses[0] must be an e-mail address such as ada@example.com`,
      `${HELPDESK}.addresses[1] must be an e-mail address or an object`,
    ],
  ],
  [
    'an inbound message from nobody and an outbound one to nobody',
    (f) => {
      delete helpdeskOf(f).messages[0].from;
      delete helpdeskOf(f).messages[1].to;
    },
    [`${HELPDESK}.messages[0].from is required`, `${HELPDESK}.messages[1].to is required`],
  ],
  [
    'a recipient that is no address',
    (f) => {
      helpdeskOf(f).messages[0].to = 'nobody';
      helpdeskOf(f).messages[1].cc = ['a@b.test, c@d.test'];
      helpdeskOf(f).messages[1].bcc = 'a@b.test, c@d';
      helpdeskOf(f).drafts[0].bcc = 7;
      helpdeskOf(f).messages[2].to = [];
    },
    [
      `${HELPDESK}.messages[0].to ${ADDRESS}`,
      `${HELPDESK}.messages[1].cc[0] ${ADDRESS}`,
      `${HELPDESK}.messages[1].bcc ${ADDRESS}`,
      `${HELPDESK}.messages[2].to must not be empty`,
      `${HELPDESK}.drafts[0].bcc must be a string or an array of strings`,
    ],
  ],
  [
    'a user name that is no part of an address, and nothing that follows from it',
    (f) => {
      helpdeskOf(f).username = 'Help Desk';
      delete helpdeskOf(f).messages[0].to;
      delete helpdeskOf(f).messages[1].from;
    },
    [
      `${HELPDESK}.username must be lower-case letters, digits or . - _, starting with a letter or digit, no dot at its end or beside another`,
    ],
  ],
  [
    'an attachment without content, and with too much of it',
    (f) =>
      (helpdeskOf(f).messages[0].attachments = [
        { filename: 'a' },
        { filename: 'b', content: '', text: '' },
        { filename: 'c', text: 7 },
        { filename: 'd', content: 'é' },
        { filename: 'e\n', contentType: 'text', text: '' },
      ]),
    [
      `${HELPDESK}.messages[0].attachments[0].content is required`,
      `${HELPDESK}.messages[0].attachments[1].text must not stand beside "content"`,
      `${HELPDESK}.messages[0].attachments[2].text must be a string`,
      `${HELPDESK}.messages[0].attachments[3].content must be base64`,
      `${HELPDESK}.messages[0].attachments[4].filename must be a name on one line`,
      `${HELPDESK}.messages[0].attachments[4].contentType must be a media type such as text/plain`,
    ],
  ],
  [
    'a draft that answers a message of another inbox',
    (f) => (helpdeskOf(f).drafts[0].replyToMessageId = IDS.acme.messages.invoice),
    [`${HELPDESK}.drafts[0].replyToMessageId must be the id or the messageIdHeader of a message of this inbox`],
  ],
  [
    'a draft that answers a header of another inbox, and one that answers a number',
    (f) => (helpdeskOf(f).drafts = [{ replyToMessageId: '<invoice-1042@customer.test>' }, { replyToMessageId: 7 }]),
    [
      `${HELPDESK}.drafts[1].replyToMessageId must be a string`,
      `${HELPDESK}.drafts[0].replyToMessageId must be the id or the messageIdHeader of a message of this inbox`,
    ],
  ],
  [
    'a message with an odd id, and nothing of the draft that answers it',
    (f) => {
      helpdeskOf(f).messages = [
        { from: 'a@b.test', messageIdHeader: '<1>', id: 7 },
        { from: 'a@b.test', messageIdHeader: '<2>', id: '8' },
      ];
      helpdeskOf(f).drafts = [{ replyToMessageId: '<1>' }, { replyToMessageId: '<2>' }];
    },
    [`${HELPDESK}.messages[0].id must be a string`, `${HELPDESK}.messages[1].id must be a UUID`],
  ],
  [
    'a handle with a space, and whatever is wrong below it',
    (f) => {
      f.tenants.globex.workspaces.main.inboxes['Foo Bar'] = { isPaused: 1, messages: [{}], drafts: [{ subject: 7 }] };
      rename(f.tenants.globex.workspaces, 'main', 'Main');
      rename(f.tenants, 'globex', 'Glo bex');
    },
    [
      ['', handleMessage],
      ['.workspaces.Main', handleMessage],
      ['.workspaces.Main.inboxes["Foo Bar"]', handleMessage],
      ['.workspaces.Main.inboxes["Foo Bar"].isPaused', 'must be a boolean'],
      ['.workspaces.Main.inboxes["Foo Bar"].messages[0].from', 'is required'],
      ['.workspaces.Main.inboxes["Foo Bar"].drafts[0].subject', 'must be a string'],
    ].map(([path, message]) => `$.tenants["Glo bex"]${path} ${message}`),
  ],
  [
    'handles that are none, and nothing that follows from them',
    (f) => {
      f.tenants = {
        'a b': { workspaces: { '': { inboxes: { '-': { messages: [{ from: 'a@b.test' }], lists: { '--': {} } } } } } },
      };
    },
    ['', '.workspaces[""]', '.workspaces[""].inboxes["-"]', '.workspaces[""].inboxes["-"].lists["--"]'].map(
      (path) => `$.tenants["a b"]${path} ${handleMessage}`,
    ),
  ],
  [
    'a handle that is too long for a user name, whatever else is wrong',
    (f) => {
      f.operator.key = 'operator';
      f.tenants.globex.workspaces.main.inboxes = { ['x'.repeat(65)]: { messages: [{ from: 'a@b.test' }] } };
    },
    [
      '$.operator.key must be sa_ and at least ten letters, digits, _ or -',
      `$.tenants.globex.workspaces.main.inboxes.${'x'.repeat(65)}.username must be at most 64 characters long`,
    ],
  ],
  [
    'a time that is none, and nothing that follows from it',
    (f) => (helpdeskOf(f).drafts = [{ createdAt: 'now' }]),
    [`${HELPDESK}.drafts[0].createdAt must be a time such as 2026-01-05T09:00:00.000Z`],
  ],
  [
    'the domains of the emulator as those of a tenant, and what is wrong with them',
    (f) => Object.assign(f.tenants.globex.domains, { 'mailbox.test': {}, 'simulator.test': { status: 'lost' } }),
    [
      '$.tenants.globex.domains["simulator.test"].status must be one of pending, verifying, verified, failed, unknown',
      `$.tenants.globex.domains["mailbox.test"] must be a domain of the tenant's own, not one of the emulator`,
      `$.tenants.globex.domains["simulator.test"] must be a domain of the tenant's own, not one of the emulator`,
    ],
  ],
  [
    'inboxes that could not receive',
    (f) => {
      f.tenants.globex.workspaces.main.inboxes = {
        one: { domain: 'Simulator.test' },
        two: { addresses: ['two@SIMULATOR.test', { address: 'bounce@simulator.test' }, 'two@not.simulator.test'] },
      };
    },
    ['one.domain', 'two.addresses[0]', 'two.addresses[1].address'].map(
      (path) =>
        `$.tenants.globex.workspaces.main.inboxes.${path} must be of another domain than simulator.test, where only simulators receive`,
    ),
  ],
  [
    'a tenant whose handle gives the domain of the simulators',
    (f) => (f.tenants = { simulator: { workspaces: { main: { inboxes: { box: {} } } } } }),
    [
      '$.tenants.simulator.workspaces.main.inboxes.box.domain must be of another domain than simulator.test, where only simulators receive',
    ],
  ],
  [
    'a domain of an inbox that is no host name, once',
    (f) => (f.tenants.globex.workspaces.main.inboxes.info = { domain: 'a b', addresses: ['info@c d'] }),
    [
      '$.tenants.globex.workspaces.main.inboxes.info.domain must be a hostname',
      '$.tenants.globex.workspaces.main.inboxes.info.addresses[0] must be an e-mail address such as ada@example.com',
    ],
  ],
  [
    'an entry given twice',
    (f) => helpdeskOf(f).lists.customers.entries.push('DANA@customer.test'),
    [
      `${HELPDESK}.lists.customers.entries[2] has the email of ${HELPDESK}.lists.customers.entries[0].email; each must have its own`,
    ],
  ],
  [
    'entries that are none',
    (f) => (helpdeskOf(f).lists.customers.entries = ['Dana', null, { email: 'a@b.test', metadata: [] }]),
    [
      `${HELPDESK}.lists.customers.entries[0] must be an e-mail address such as ada@example.com`,
      `${HELPDESK}.lists.customers.entries[1] must be an e-mail address or an object`,
      `${HELPDESK}.lists.customers.entries[2].metadata must be an object`,
    ],
  ],
  [
    'metadata that is no JSON',
    (f) => (helpdeskOf(f).metadata = { at: new Date(0) }),
    [`${HELPDESK}.metadata.at must be JSON`],
  ],
  [
    'a list with an odd handle',
    (f) => rename(helpdeskOf(f).lists, 'customers', 'Customers'),
    [`${HELPDESK}.lists.Customers as a handle must start with a lower-case letter, then letters, digits or -`],
  ],
  [
    'a domain of a workspace that is not there',
    (f) => (f.tenants.globex.domains['globex.test'].workspace = 'support'),
    ['$.tenants.globex.domains["globex.test"].workspace names no workspace of this tenant; it has: main'],
  ],
  [
    'domains with odd names and states',
    (f) => (f.tenants.globex.domains = { 'Globex.test': {}, 'a b': {}, 'c.test': { status: 'lost' } }),
    [
      '$.tenants.globex.domains["Globex.test"] must be a host name in lower case',
      '$.tenants.globex.domains["a b"] must be a host name in lower case',
      '$.tenants.globex.domains["c.test"].status must be one of pending, verifying, verified, failed, unknown',
    ],
  ],
  [
    'an id that every other kind of thing has too',
    (f) => {
      const { id } = f.tenants.acme;
      const helpdesk = helpdeskOf(f);
      helpdesk.addresses = [{ id, address: 'help@acme.test' }];
      helpdesk.messages[0].attachments[0].id = id.toUpperCase();
      helpdesk.drafts[0].id = id;
      helpdesk.lists.customers.id = id;
      helpdesk.lists.customers.entries[0].id = id;
      f.tenants.acme.domains['acme.test'].id = id;
    },
    [
      '$.tenants.acme.domains["acme.test"].id',
      `${HELPDESK}.addresses[0].id`,
      `${HELPDESK}.messages[0].attachments[0].id`,
      `${HELPDESK}.drafts[0].id`,
      `${HELPDESK}.lists.customers.id`,
      `${HELPDESK}.lists.customers.entries[0].id`,
    ].map((path) => `${path} has the id of $.tenants.acme.id; each must have its own`),
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
    expect(globex?.webhooks).toHaveLength(1);
  });

  test('the default fixture tells its story under fixed ids', () => {
    const [acme, globex] = createMailbox().snapshot().tenants as Spoilt;
    const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
    expect(idsOf(acme.messages)).toEqual(Object.values(IDS.acme.messages));
    expect([...new Set(acme.messages.map((message: Spoilt) => message.threadId))]).toEqual(
      Object.values(IDS.acme.threads),
    );
    expect(idsOf(acme.attachments)).toEqual(Object.values(IDS.acme.attachments));
    expect(acme.attachments[0]).toMatchObject({
      messageId: IDS.acme.messages.cannotLogIn,
      filename: 'login-error.txt',
    });
    expect(atob(acme.attachments[0].content)).toMatch(/^2026-01-06 .+expired/s);
    expect(atob(acme.attachments[1].content)).toMatch(/^\x89PNG\r\n.{55}IEND/s);
    expect(acme.drafts).toMatchObject([
      {
        id: IDS.acme.drafts.helpdesk,
        replyToMessageId: IDS.acme.messages.thanks,
        to: ['Dana Reyes <dana@customer.test>'],
      },
    ]);
    expect(idsOf(acme.lists)).toEqual([IDS.acme.lists.customers]);
    expect(idsOf(acme.listEntries)).toEqual(Object.values(IDS.acme.entries));
    expect(acme.domains).toMatchObject([
      { id: IDS.acme.domains.acme, domain: 'acme.test', workspaceId: null, status: 'verified' },
      { id: IDS.acme.domains.mail, workspaceId: IDS.acme.workspaces.support, status: 'pending' },
    ]);
    expect(idsOf(globex.messages)).toEqual(Object.values(IDS.globex.messages));
    expect(idsOf(globex.domains)).toEqual([IDS.globex.domains.globex]);
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

  test.for(['"customers":', '"acme.test":'])(
    'the name __proto__ instead of %s is told, not dropped',
    (name, { expect }) => {
      const text = JSON.stringify(defaultFixture).replace(name, '"__proto__":');
      expect(() => createMailbox({ fixtures: JSON.parse(text) })).toThrow(
        /\.__proto__ must (not be a handle|be a host)/,
      );
    },
  );

  test('the domains that inboxes use are domains of their tenant', async () => {
    const inboxes = {
      one: {},
      two: { domain: 'TWO.test', addresses: ['two@further.test', { address: 'two@Mailbox.test' }] },
      three: { domain: 'listed.test', addresses: ['three@two.test'] },
      four: { domain: 'mailbox.test' },
    };
    const domains = { 'listed.test': { status: 'pending' as const } };
    const fixtures = { tenants: { initech: { workspaces: { main: { inboxes } }, domains } } };
    const { snapshot } = createMailbox({ fixtures });
    const rows = snapshot().tenants[0]?.domains;
    expect(rows?.map(({ domain, status }) => [domain, status])).toEqual([
      ['listed.test', 'pending'],
      ['initech.test', 'verified'],
      ['two.test', 'verified'],
      ['further.test', 'verified'],
    ]);
    const written = { ...domains, 'initech.test': {}, 'two.test': {}, 'further.test': {} };
    const spelt = { tenants: { initech: { ...fixtures.tenants.initech, domains: written } } };
    expect(createMailbox({ fixtures: spelt }).snapshot()).toEqual(snapshot());
  });

  test('a domain that no fixture lists takes new inboxes, and mail to nobody there bounces', async () => {
    const { keys, baseUrl, snapshot, fetch } = createMailbox({ fixtures: SHORT });
    const post = (path: string, body: object) =>
      fetch(
        new Request(baseUrl + path, {
          method: 'POST',
          headers: { 'X-API-Key': keys.initech.tenant, 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      );
    const created = await post('/v1/inboxes', { username: 'sales', domain: 'initech.test' });
    expect([created.status, await created.json()]).toMatchObject([201, { email: 'sales@initech.test' }]);
    const inboxId = snapshot().tenants[0]?.inboxes[0]?.id;
    const mail = { to: 'nobody@initech.test', subject: 'Hi', plainBody: 'Hi', verified: true };
    expect((await post(`/v1/inboxes/${inboxId}/send`, mail)).ok).toBe(true);
    expect(snapshot().tenants[0]?.messages.at(-1)).toMatchObject({ subject: 'Hi', bouncedAt: expect.any(String) });
  });

  test('a draft may name the message that it answers by its header', () => {
    const id = '00000000-0006-4000-8000-000000000001';
    const inbox = {
      messages: [
        { from: 'a@b.test', messageIdHeader: '<1>' },
        { from: 'a@b.test', messageIdHeader: '<2>', id },
        { from: 'a@b.test', messageIdHeader: '<1>' },
        { from: 'a@b.test', messageIdHeader: id },
      ],
      drafts: [{ replyToMessageId: '<1>' }, { replyToMessageId: '<2>' }, { replyToMessageId: id }, {}],
    };
    const fixtures = { tenants: { acme: { workspaces: { main: { inboxes: { box: inbox } } } } } };
    const [state] = createMailbox({ fixtures }).snapshot().tenants;
    expect(state?.drafts.map(({ replyToMessageId }) => replyToMessageId)).toEqual([
      state?.messages[0]?.id,
      id,
      id,
      null,
    ]);
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

/** A working tenant in fifteen lines of JSON. */
const SHORT = {
  tenants: {
    initech: {
      workspaces: {
        main: {
          inboxes: {
            orders: { messages: [{ from: 'Kim <kim@visitor.test>', subject: 'Opening hours' }] },
          },
        },
      },
      webhooks: { audit: { url: 'http://127.0.0.1:9999/audit' } },
    },
  },
};

/** One of each thing with each of its fields, none as it would be derived. */
const FULL = {
  operator: { key: 'sa_of_the_full_one' },
  tenants: {
    full: {
      id: '00000000-0001-4000-8000-000000000001',
      name: 'The Tenant',
      createdAt: '2026-02-01T00:00:00.001Z',
      key: {
        id: '00000000-0004-4000-8000-000000000001',
        key: 'tk_of_the_full_one',
        name: 'first',
        createdAt: '2026-02-01T00:00:00.002Z',
      },
      workspaces: {
        other: {
          id: '00000000-0002-4000-8000-000000000001',
          name: 'The Workspace',
          slug: 'the-slug',
          isDefault: true,
          createdAt: '2026-02-01T00:00:00.003Z',
          key: {
            id: '00000000-0004-4000-8000-000000000002',
            key: 'wk_of_the_full_one',
            name: 'second',
            createdAt: '2026-02-01T00:00:00.004Z',
          },
          inboxes: {
            box: {
              id: '00000000-0003-4000-8000-000000000001',
              username: 'in.box',
              domain: 'full.example',
              displayName: 'The Inbox',
              metadata: { deep: [{ a: null }] },
              imapPassword: 'fake',
              isPaused: true,
              createdAt: '2026-02-01T00:00:00.005Z',
              key: {
                id: '00000000-0004-4000-8000-000000000003',
                key: 'ak_of_the_full_one',
                name: 'third',
                createdAt: '2026-02-01T00:00:00.006Z',
              },
              addresses: [
                {
                  id: '00000000-000d-4000-8000-000000000001',
                  address: 'further@full.example',
                  isPrimary: true,
                  createdAt: '2026-02-01T00:00:00.007Z',
                },
              ],
              messages: [
                {
                  id: '00000000-0006-4000-8000-000000000001',
                  threadId: '00000000-0007-4000-8000-000000000001',
                  direction: 'outbound',
                  from: 'Somebody <somebody@full.example>',
                  to: ['one@to.example', 'Two <two@to.example>'],
                  cc: ['three@to.example'],
                  bcc: ['four@to.example'],
                  replyTo: 'five@to.example',
                  subject: 'The subject',
                  plainBody: 'The text',
                  htmlBody: '<p>The text</p>',
                  isRead: false,
                  isStarred: true,
                  isArchived: true,
                  deletedAt: '2026-02-01T00:00:00.008Z',
                  bouncedAt: '2026-02-01T00:00:00.009Z',
                  messageIdHeader: '<full@full.example>',
                  inReplyTo: '<gone@to.example>',
                  references: ['<older@to.example>', '<gone@to.example>'],
                  receivedAt: '2026-02-01T00:00:00.010Z',
                  attachments: [
                    {
                      id: '00000000-0008-4000-8000-000000000001',
                      filename: 'ünï.bin',
                      contentType: 'application/x-full',
                      content: 'AP8=',
                    },
                  ],
                },
              ],
              drafts: [
                {
                  id: '00000000-0009-4000-8000-000000000001',
                  to: ['one@to.example'],
                  cc: ['two@to.example'],
                  bcc: ['three@to.example'],
                  subject: 'The draft',
                  plainBody: 'Its text',
                  htmlBody: '<p>Its text</p>',
                  replyToMessageId: '00000000-0006-4000-8000-000000000001',
                  createdAt: '2026-02-01T00:00:00.011Z',
                  updatedAt: '2026-02-01T00:00:00.012Z',
                },
              ],
              lists: {
                people: {
                  id: '00000000-000a-4000-8000-000000000001',
                  name: 'The List',
                  description: 'All of them',
                  createdAt: '2026-02-01T00:00:00.013Z',
                  entries: [
                    {
                      id: '00000000-000b-4000-8000-000000000001',
                      email: 'one@to.example',
                      displayName: 'One',
                      metadata: { number: 1 },
                      createdAt: '2026-02-01T00:00:00.014Z',
                    },
                  ],
                },
              },
            },
          },
        },
      },
      domains: {
        'full.example': {
          id: '00000000-000c-4000-8000-000000000001',
          workspace: 'other',
          status: 'failed',
          verifiedAt: '2026-02-01T00:00:00.016Z',
          createdAt: '2026-02-01T00:00:00.015Z',
          updatedAt: '2026-02-01T00:00:00.016Z',
        },
      },
      webhooks: {
        hook: {
          id: '00000000-0005-4000-8000-000000000001',
          workspace: 'other',
          url: 'https://full.example/hook',
          events: ['message.bounced'],
          secret: 'whsec_ZmFrZSBhY21lIHN1cHBvcnQgc2VjcmV0',
          isActive: false,
          createdAt: '2026-02-01T00:00:00.017Z',
        },
      },
    },
  },
} as const satisfies FixtureInput;

/** The messages of a mailbox whose one inbox has these. */
function messagesOf(messages: readonly object[]): Spoilt[] {
  const fixtures: Spoilt = { tenants: { acme: { workspaces: { main: { inboxes: { box: { messages } } } } } } };
  const { tenants } = createMailbox({ fixtures }).snapshot();
  return [...(tenants[0]?.messages ?? [])];
}

describe('short forms of fixtures', () => {
  test('fifteen lines give a working tenant', async () => {
    expect(JSON.stringify(SHORT).replace(/[{[]/g, '$&\n').split('\n').length).toBeLessThan(15);
    const { keys, fetch } = createMailbox({ fixtures: SHORT });
    expect(keys).toEqual({
      operator: 'sa_platform_operator_key',
      initech: {
        tenant: 'tk_initech_tenant_key',
        workspaces: { main: 'wk_initech_main_key' },
        inboxes: { orders: 'ak_initech_orders_key' },
      },
    });
    const headers = { 'X-API-Key': keys.initech.tenant };
    const reply = await fetch(new Request('https://mailbox.test/v1/webhooks', { headers }));
    expect(await reply.json()).toMatchObject({
      webhooks: [{ events: ['message.received', 'message.sent', 'message.bounced'], isActive: true }],
    });
  });

  test('what is derived is the same in every mailbox and in every version', () => {
    const state = createMailbox({ fixtures: SHORT }).snapshot();
    expect(createMailbox({ fixtures: structuredClone(SHORT) }).snapshot()).toEqual(state);
    expect(state.tenants[0]).toMatchObject({
      id: '086fc617-fda2-55ff-aea1-7fb528cb77f3',
      name: 'Initech',
      createdAt: '2026-01-05T09:00:00.000Z',
      workspaces: [{ id: '35582689-9d27-55bb-a7c8-837c26d330f3', name: 'Main', slug: 'main', isDefault: true }],
      inboxes: [
        {
          id: 'ce250e0b-17b7-535c-b942-e40791ea42b6',
          username: 'orders',
          domain: 'initech.test',
          imapPassword: 'fake-imap-password-of-initech-orders',
          isPaused: false,
          deletedAt: null,
        },
      ],
      addresses: [{ id: 'df418c35-0cc3-515a-b86a-b30ae0bd6e8b', address: 'orders@initech.test', isPrimary: true }],
      apiKeys: [
        { id: '5269f048-27f8-56bb-975f-c30e6219f258' },
        { id: '0125952d-4378-5663-8a71-49f22e485a26' },
        { id: '42c794ed-60fc-5655-9a65-1baacdedcb26' },
      ],
      webhooks: [
        { id: '9114c3cf-26ae-52fc-a5c1-92200ebf4886', secret: 'whsec_ZmFrZSBzZWNyZXQgb2YgaW5pdGVjaC9hdWRpdC4uLi4=' },
      ],
      messages: [
        {
          id: '073e37bb-03a3-5da8-8b16-a41ab0029dc3',
          threadId: '3dab505a-94ae-54f2-b338-6dc7d6ed184d',
          direction: 'inbound',
          fromAddress: 'kim@visitor.test',
          to: ['orders@initech.test'],
          isRead: false,
          messageIdHeader: '<073e37bb-03a3-5da8-8b16-a41ab0029dc3@visitor.test>',
          references: [],
          receivedAt: '2026-01-05T09:01:00.000Z',
        },
      ],
    });
  });

  test('every field of every resource is kept', () => {
    const [state] = createMailbox({ fixtures: FULL }).snapshot().tenants;
    const { workspaces, domains, webhooks, key, ...tenant } = FULL.tenants.full;
    const { inboxes, key: workspaceKey, ...workspace } = workspaces.other;
    const { addresses, messages, drafts, lists, key: inboxKey, ...inbox } = inboxes.box;
    const [{ attachments, ...message }] = messages;
    const { entries, ...list } = lists.people;
    const ofWorkspace = { workspace: undefined, workspaceId: workspace.id };
    const ofInbox = { inboxId: inbox.id };
    expect(state).toEqual({
      ...tenant,
      workspaces: [workspace],
      inboxes: [{ ...inbox, workspaceId: workspace.id, deletedAt: null }],
      addresses: [
        expect.objectContaining({ ...ofInbox, address: 'in.box@full.example', isPrimary: false }),
        { ...addresses[0], ...ofInbox },
      ],
      apiKeys: [
        { ...key, tier: 'tenant', ownerId: tenant.id },
        { ...workspaceKey, tier: 'workspace', ownerId: workspace.id },
        { ...inboxKey, tier: 'inbox', ownerId: inbox.id },
      ],
      domains: [{ ...domains['full.example'], ...ofWorkspace, domain: 'full.example' }],
      webhooks: [{ ...webhooks.hook, ...ofWorkspace }],
      messages: [{ ...message, ...ofInbox, fromAddress: 'somebody@full.example', headers: null, raw: null }],
      attachments: [{ ...attachments[0], messageId: message.id, sizeBytes: 2 }],
      drafts: [{ ...drafts[0], ...ofInbox }],
      lists: [{ ...list, ...ofInbox }],
      listEntries: [{ ...entries[0], listId: list.id }],
    });
  });

  test.for([defaultFixture, SHORT, FULL])(
    'a complete fixture is a fixture that completes to itself',
    (fixture, test) => {
      const complete: FixtureInput = parseFixture(fixture);
      test.expect(parseFixture(complete)).toEqual(complete);
    },
  );

  test('the short forms mean what the long ones do', () => {
    const inbox = {
      addresses: ['Further@ACME.test'],
      messages: [
        { from: 'kim@visitor.test', cc: 'a@b.test', attachments: [{ filename: 'a', text: 'naïve €' }] },
        { direction: 'outbound', to: 'kim@visitor.test', bcc: 'c@d.test' },
      ],
      drafts: [{ to: 'kim@visitor.test' }],
      lists: { regulars: { entries: ['Kim@visitor.test'] } },
      key: 'ak_my_own_inbox_key',
    };
    const boxes = { displayName: 'Box, the "First"', ...inbox };
    const fixtures: Spoilt = { tenants: { acme: { workspaces: { main: { inboxes: { box: boxes } } } } } };
    expect(createMailbox({ fixtures }).snapshot().tenants[0]).toMatchObject({
      addresses: [
        { address: 'box@acme.test', isPrimary: true },
        { address: 'further@acme.test', isPrimary: false },
      ],
      messages: [
        { to: ['box@acme.test'], cc: ['a@b.test'], bcc: [], isRead: false },
        {
          from: '"Box, the \\"First\\"" <box@acme.test>',
          fromAddress: 'box@acme.test',
          bcc: ['c@d.test'],
          isRead: true,
          messageIdHeader: expect.stringMatching(/^<[\da-f-]{36}@acme\.test>$/),
        },
      ],
      attachments: [{ contentType: 'application/octet-stream', sizeBytes: 10, content: 'bmHDr3ZlIOKCrA==' }],
      drafts: [{ to: ['kim@visitor.test'], cc: [], subject: null, plainBody: null, replyToMessageId: null }],
      lists: [{ name: 'Regulars', description: null }],
      listEntries: [{ email: 'kim@visitor.test', displayName: null, metadata: null }],
      apiKeys: [{}, {}, { key: 'ak_my_own_inbox_key', name: null }],
    });
  });

  test.for<[title: string, messages: Record<string, unknown>[], threads: number[]]>([
    ['that answers nothing known is a thread', [{ inReplyTo: '<9>' }, {}], [0, 1]],
    ['that answers another is in its thread', [{ n: 1 }, { n: 2, inReplyTo: '<1>' }, { inReplyTo: '<2>' }], [0, 0, 0]],
    ['may stand before what it answers', [{ inReplyTo: '<2>' }, { n: 2, inReplyTo: '<1>' }, { n: 1 }], [0, 0, 0]],
    ['is found by its references', [{ n: 1 }, { inReplyTo: '<9>', references: ['<8>', '<1>'] }], [0, 0]],
    ['that answers itself is a thread', [{ n: 1, inReplyTo: '<1>' }, {}], [0, 1]],
    [
      'may answer in a circle',
      [{ n: 1, inReplyTo: '<2>' }, { n: 2, inReplyTo: '<1>' }, { inReplyTo: '<1>' }],
      [0, 0, 0],
    ],
    ['may name another thread', [{ n: 1 }, { inReplyTo: '<1>', threadId: IDS.nobody.replace('0', '1') }], [0, 1]],
  ])('a message %s', ([, messages, threads], { expect }) => {
    const written = messages.map(({ n, ...rest }) => ({
      from: 'a@b.test',
      ...(n ? { messageIdHeader: `<${n}>` } : {}),
      ...rest,
    }));
    const found = messagesOf(written).map(({ threadId }) => threadId);
    const distinct = [...new Set(found)];
    expect(found.map((thread) => distinct.indexOf(thread))).toEqual(threads);
  });

  test('messages without a time keep their order across the tenant, and stand in that of their times', () => {
    const inbox = (...messages: Spoilt[]) => ({ messages: messages.map((m) => ({ from: 'a@b.test', ...m })) });
    const late = { subject: '2', receivedAt: '2026-03-01T00:00:00.000Z' };
    const inboxes = { one: inbox({ subject: '1' }, late), two: inbox({ subject: '3' }) };
    const fixtures: Spoilt = { tenants: { acme: { workspaces: { main: { inboxes } } } } };
    const messages = createMailbox({ fixtures }).snapshot().tenants[0]?.messages;
    expect(messages?.map(({ subject, receivedAt }) => [subject, receivedAt])).toEqual([
      ['1', '2026-01-05T09:01:00.000Z'],
      ['3', '2026-01-05T09:03:00.000Z'],
      ['2', '2026-03-01T00:00:00.000Z'],
    ]);
  });

  test('the first workspace is the default one, unless another says that it is', () => {
    const defaultsOf = (workspaces: Record<string, object>) => {
      const [tenant] = createMailbox({ fixtures: { tenants: { acme: { workspaces } } } }).snapshot().tenants;
      return tenant?.workspaces.filter(({ isDefault }) => isDefault).map(({ slug }) => slug);
    };
    expect(defaultsOf({ one: {}, two: {} })).toEqual(['one']);
    expect(defaultsOf({ one: {}, two: { isDefault: true } })).toEqual(['two']);
    expect(defaultsOf({ one: { isDefault: false }, two: {} })).toEqual(['two']);
  });

  test.for(['a', 'z-', 'a-very-long-handle'.repeat(20)])(
    'the handle %s gives keys and a domain',
    (handle, { expect }) => {
      const workspaces = { [handle]: { inboxes: { b: {} } } };
      const state = createMailbox({ fixtures: { tenants: { [handle]: { workspaces } } } }).snapshot().tenants[0];
      expect(state?.apiKeys).toHaveLength(3);
      expect(state?.inboxes[0]?.domain).toMatch(/^[a-z-]{0,62}[a-z]\.test$/);
    },
  );

  test('a name has a capital for each word of its handle', () => {
    const { tenants } = createMailbox({ fixtures: { tenants: { 'acme-corp': {} } } }).snapshot();
    expect(tenants[0]?.name).toBe('Acme Corp');
  });

  test('whatever stands in the place of something is a fixture or is told', () => {
    for (const path of pathsOf(FULL)) {
      for (const junk of [null, 7, '', 'x', true, [], [null], {}, { a: [] }]) {
        const error = catchErrorIfAny(() => createMailbox({ fixtures: replaceAt(FULL, path, junk) }));
        const told = error instanceof FixtureError && error.problems.length > 0;
        expect(error === undefined || told, `${JSON.stringify(junk)} at ${path.join('.')}: ${error}`).toBe(true);
      }
    }
  });
});

function pathsOf(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([name, part]) => pathsOf(part).map((path) => [name, ...path]))];
}

function replaceAt(value: Spoilt, [name, ...rest]: string[], junk: unknown): Spoilt {
  if (name === undefined) return junk;
  const copy = structuredClone(value);
  copy[name] = replaceAt(copy[name], rest, junk);
  return copy;
}

function catchErrorIfAny(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
}

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
