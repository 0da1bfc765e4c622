import { BEHAVIOURS, BehaviourError, type BehaviourId, type BehaviourOptions, createMailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { type BehaviourDefinition, createSilentReader, parseBehaviours } from '../../src/contract/behaviours.ts';
import { ERRORS } from '../../src/contract/errors.ts';
import type { OperationDefinition } from '../../src/contract/operation.ts';
import { OPERATIONS, type OperationId } from '../../src/contract/operations.ts';
import { everywhere, interceptRequests, type Reply, type Service } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { namedIn, type Reading, testReadings } from '../support/readings.ts';

interceptRequests();

const HOOK = { url: 'https://agent.example/hook', events: ['message.received'] };
const SUPPORT_KEYS = `/v1/workspaces/${IDS.acme.workspaces.support}/keys`;

const asTenant = ({ mailbox }: Service) => ({ key: mailbox.keys.acme.tenant });
const list = (service: Service) => service.send('GET', '/v1/webhooks', asTenant(service));
const create = (service: Service, json: object = HOOK) =>
  service.send('POST', '/v1/webhooks', { ...asTenant(service), json });

const READINGS: [BehaviourOptions, Reading][] = [
  [
    { 'webhooks.list.secret': 'included' },
    { call: list, expected: ({ json }) => 'secret' in json.webhooks[0], value: true },
  ],
  [
    { 'webhooks.list.secret': 'omitted' },
    { call: list, expected: ({ json }) => 'secret' in json.webhooks[0], value: false },
  ],
  [
    { 'webhooks.list.order': 'newest-first' },
    { call: list, expected: ({ json }) => json.webhooks[0].id, value: IDS.acme.webhooks.support },
  ],
  [
    { 'webhooks.list.workspace-scope': 'own-and-tenant-wide' },
    {
      call: ({ send, mailbox }) => send('GET', '/v1/webhooks', { key: mailbox.keys.acme.workspaces.support }),
      expected: ({ json }) => json.webhooks.length,
      value: 2,
    },
  ],
  ...(
    [
      ['deleted-and-id', { deleted: true, id: IDS.acme.webhooks.support }],
      ['empty', {}],
      ['none', undefined],
    ] as const
  ).map(([current, value]): [BehaviourOptions, Reading] => [
    { 'webhooks.delete.body': current },
    {
      call: (service) => service.send('DELETE', `/v1/webhooks/${IDS.acme.webhooks.support}`, asTenant(service)),
      expected: ({ json }) => json,
      value,
    },
  ]),
  [
    { 'webhooks.create.required': 'url' },
    {
      call: (service) => create(service, { url: HOOK.url }),
      expected: ({ json }) => json.events,
      value: ['message.received'],
    },
  ],
  [{ 'webhooks.create.is-active': 'inactive' }, { call: create, expected: ({ json }) => json.isActive, value: false }],
  [
    { 'webhooks.create.repeated-events': 'kept' },
    {
      call: (service) => create(service, { ...HOOK, events: ['message.sent', 'message.sent'] }),
      expected: ({ json }) => json.events,
      value: ['message.sent', 'message.sent'],
    },
  ],
  [
    { 'webhooks.create.repeated-events': 'merged' },
    {
      call: (service) => create(service, { ...HOOK, events: ['message.sent', 'message.sent'] }),
      expected: ({ json }) => json.events,
      value: ['message.sent'],
    },
  ],
  [
    { 'inboxes.rotate.reply': 'key-only' },
    {
      call: (service) => service.send('POST', `/v1/inboxes/${IDS.acme.inboxes.billing}/keys`, asTenant(service)),
      expected: ({ json }) => Object.keys(json),
      value: ['key'],
    },
  ],
  [
    { 'workspaces.keys.delete.body': 'empty' },
    {
      call: (service) => service.send('DELETE', `${SUPPORT_KEYS}/${IDS.acme.keys.support}`, asTenant(service)),
      expected: ({ json }) => json,
      value: {},
    },
  ],
  [
    { 'tenants.delete.body': 'empty' },
    {
      call: ({ send, mailbox }) => send('DELETE', `/v1/tenants/${IDS.acme.tenant}`, { key: mailbox.keys.operator }),
      expected: ({ json }) => json,
      value: {},
    },
  ],
  [
    { 'errors.shape': 'error-only' },
    {
      call: ({ send }) => send('GET', '/v1/webhooks'),
      expected: ({ json }) => Object.keys(json),
      value: ['error'],
    },
  ],
  [{ 'health.body': 'empty' }, { call: ({ send }) => send('GET', '/health'), expected: ({ json }) => json, value: {} }],
];

/** What a reply names, and what it does not: a behaviour is named where another value would have changed the reply. */
const NAMED: [title: string, call: Reading['call'], named: BehaviourId[], unnamed: string[]][] = [
  [
    'an http url that is taken',
    (service) => create(service, { ...HOOK, url: 'http://agent.example/' }),
    ['webhooks.create.url'],
    ['webhooks.create.events', 'webhooks.create.required'],
  ],
  [
    'an event kind beyond the document that is taken',
    (service) => create(service, { ...HOOK, events: ['message.sent'] }),
    ['webhooks.create.events'],
    ['webhooks.create.url', 'webhooks.create.required'],
  ],
  [
    'a url that no value would take',
    (service) => create(service, { ...HOOK, url: '/hook' }),
    ['errors.shape'],
    ['webhooks.create.url', 'webhooks.create.events', 'webhooks.create.required'],
  ],
  [
    'absent events',
    (service) => create(service, { url: HOOK.url }),
    ['webhooks.create.required'],
    ['webhooks.create.url'],
  ],
  [
    'a url that is too long',
    (service) => create(service, { ...HOOK, url: `https://a.example/${'x'.repeat(2048)}` }),
    [],
    ['webhooks.create.url'],
  ],
  [
    'a workspace without a slug of its own',
    ({ send, mailbox }) =>
      send('POST', '/v1/workspaces', { key: mailbox.keys.acme.tenant, json: { name: 'Field work' } }),
    [],
    ['workspaces.create.slug-taken'],
  ],
  ['a body that is no object', (service) => create(service, []), [], ['webhooks.create.url']],
  [
    'a slash behind a path that is unknown without it too',
    ({ send }) => send('GET', '/v1/nothing/'),
    ['requests.check-order'],
    ['requests.trailing-slash'],
  ],
  [
    'a path that is unknown, with a valid key',
    (service) => service.send('GET', '/v1/nothing', asTenant(service)),
    [],
    ['requests.check-order'],
  ],
  [
    'a webhook of another tenant',
    (service) =>
      service.send('GET', `/v1/webhooks/${IDS.acme.webhooks.support}`, { key: service.mailbox.keys.globex.tenant }),
    ['errors.foreign-resource'],
    [],
  ],
  [
    'a list of messages with a wrong direction',
    (service) =>
      service.send('GET', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/messages?direction=up`, asTenant(service)),
    [],
    ['messages.list.over-limit'],
  ],
  [
    'an empty X-API-Key beside a bearer in lower case',
    ({ send, mailbox }) =>
      send('GET', '/v1/webhooks', {
        headers: { 'X-API-Key': '', Authorization: `bearer ${mailbox.keys.acme.tenant}` },
      }),
    [],
    ['auth.both-headers'],
  ],
  [
    'a mail with a subject, to somebody once',
    (service) =>
      service.send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/send`, {
        ...asTenant(service),
        json: { to: 'info@globex.test', subject: 'Hello', verified: true },
      }),
    ['sending.reply'],
    [],
  ],
  ['a method that a path does not support', ({ send }) => send('PUT', '/v1/webhooks'), ['requests.wrong-method'], []],
  [
    'a webhook that is not there',
    (service) => service.send('GET', `/v1/webhooks/${IDS.nobody}`, asTenant(service)),
    [],
    ['errors.foreign-resource'],
  ],
  ['a list of several webhooks', list, ['webhooks.list.order'], []],
  [
    'a list of the webhooks of a workspace',
    (service) =>
      service.send('GET', '/v1/webhooks', { ...asTenant(service), query: { workspace: IDS.acme.workspaces.sales } }),
    [],
    ['webhooks.list.order'],
  ],
  ['a webhook of the tenant', create, ['webhooks.create.is-active'], []],
  [
    'an inbox key that may not list webhooks',
    ({ send, mailbox }) => send('GET', '/v1/webhooks', { key: mailbox.keys.acme.inboxes.billing }),
    ['auth.wrong-tier'],
    ['webhooks.list.order'],
  ],
];

/** Two keys in one request, and the tenant that it acts for: Acme has two webhooks, Globex one. */
const BOTH_HEADERS: [BehaviourOptions, (reply: Reply) => unknown, unknown][] = [
  [{}, ({ json }) => json.webhooks.length, 2],
  [{ 'auth.both-headers': 'authorization' }, ({ json }) => json.webhooks.length, 1],
  [{ 'auth.both-headers': 'refuse' }, ({ status }) => status, 401],
];

/** The ways in which a request can carry a key, each with the status of listing webhooks. */
const CREDENTIALS: [title: string, headers: (key: string) => Record<string, string>, status: number][] = [
  ['X-API-Key', (key) => ({ 'X-API-Key': key }), 200],
  ['x-api-key in lower case', (key) => ({ 'x-api-key': key }), 200],
  ['Authorization: Bearer', (key) => ({ Authorization: `Bearer ${key}` }), 200],
  ['Authorization: bearer', (key) => ({ Authorization: `bearer ${key}` }), 200],
  ['Authorization: BEARER', (key) => ({ Authorization: `BEARER ${key}` }), 200],
  ['Authorization: Bearer with two spaces', (key) => ({ Authorization: `Bearer  ${key}` }), 200],
  ['both headers with one key', (key) => ({ Authorization: `Bearer ${key}`, 'X-API-Key': key }), 200],
  ['an empty X-API-Key beside a bearer', (key) => ({ Authorization: `Bearer ${key}`, 'X-API-Key': '' }), 200],
  ['no header', () => ({}), 401],
  ['Authorization: Basic', (key) => ({ Authorization: `Basic ${btoa(`${key}:`)}` }), 401],
  ['Authorization without a scheme', (key) => ({ Authorization: key }), 401],
  ['Authorization: Bearer without a key', () => ({ Authorization: 'Bearer' }), 401],
  ['a key with something behind it', (key) => ({ 'X-API-Key': `${key}x` }), 401],
  ['a key with a space in it', (key) => ({ 'X-API-Key': `${key} x` }), 401],
  ['a key in upper case', (key) => ({ 'X-API-Key': key.toUpperCase() }), 401],
  ['a key of no tier', (key) => ({ 'X-API-Key': key.replace('tk_', 'xk_') }), 401],
  ['a key of another tier', (key) => ({ 'X-API-Key': key.replace('tk_', 'wk_') }), 401],
  ['two keys in one header', (key) => ({ 'X-API-Key': `${key}, ${key}` }), 401],
  ['a name of Object.prototype', () => ({ 'X-API-Key': 'constructor' }), 401],
  ['a prefix alone', () => ({ 'X-API-Key': 'tk_' }), 401],
];

describe('behaviours', () => {
  testReadings(READINGS);

  test('the ledger names every status and code that is not one of the reference', () => {
    const { assumption } = BEHAVIOURS['errors.codes'];
    for (const [code, { status }] of Object.entries(ERRORS)) {
      const isNamed = (text: string) => new RegExp(`\\b${text}\\b`).test(assumption);
      expect([code, isNamed(code)]).toEqual([
        code,
        !['VALIDATION_ERROR', 'INBOX_PAUSED', 'USERNAME_TAKEN'].includes(code),
      ]);
      expect([code, isNamed(String(status))]).toEqual([code, ![400, 401, 403, 404, 409, 502].includes(status)]);
    }
  });

  everywhere('a documented reply of documented values names no assumption', async ({ send, mailbox }) => {
    const { headers } = await send('GET', '/v1/webhooks', { key: mailbox.keys.globex.tenant });
    expect(headers.has('x-mock-assumed')).toBe(false);
  });

  for (const [title, call, named, unnamed] of NAMED) {
    everywhere(`${title} names ${named.join(' and ') || 'no choice that it does not depend on'}`, async (service) => {
      const ids = namedIn(await call(service));
      expect(ids).toEqual(expect.arrayContaining(named));
      expect(ids.filter((id) => unnamed.includes(id))).toEqual([]);
    });
  }

  test('a request whose key is rotated while its body arrives is refused, and the journal knows who sent it', async () => {
    const mailbox = createMailbox();
    const { helpdesk } = mailbox.ids.acme.inboxes;
    const inbox = `${mailbox.baseUrl}/v1/inboxes/${helpdesk}`;
    let finish = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        finish = () => {
          controller.enqueue(new TextEncoder().encode('{"isRead":true}'));
          controller.close();
        };
      },
    });
    const headers = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk };
    const init = { method: 'PATCH', headers, body, duplex: 'half' };
    const slow = mailbox.fetch(`${inbox}/messages/${IDS.acme.messages.thanks}`, init as RequestInit);
    await mailbox.fetch(`${inbox}/keys`, { method: 'POST', headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
    finish();
    expect((await slow).status).toBe(401);
    expect((await mailbox.fetch(inbox, { headers })).status).toBe(401);
    const [, running, late] = mailbox.requests();
    expect([running?.principal?.inboxId, late?.principal]).toEqual([helpdesk, null]);
  });

  test('a second webhook with the same URL gets each event too, and a repeated recipient gets one mail', async () => {
    const mailbox = createMailbox();
    const headers = { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
    const post = async (path: string, json: object) => {
      const init = { method: 'POST', headers, body: JSON.stringify(json) };
      return (await mailbox.fetch(`${mailbox.baseUrl}/v1/${path}`, init)).json();
    };
    const [first, second] = [await post('webhooks', HOOK), await post('webhooks', HOOK)];
    expect(first.secret).not.toBe(second.secret);
    const to = ['billing@acme.test', 'Billing <BILLING@acme.test>'];
    await post(`inboxes/${IDS.acme.inboxes.helpdesk}/send`, { to, subject: '', verified: true });
    expect(mailbox.messages({ direction: 'inbound' })).toMatchObject([{ subject: '', to }]);
    const called = mailbox.deliveries().map(({ webhookId }) => webhookId);
    expect(called).toEqual(expect.arrayContaining([first.id, second.id]));
  });

  everywhere(
    'under auth.wrong-tier=not-found a forbidden tier cannot tell that the route exists',
    { behaviours: { 'auth.wrong-tier': 'not-found' } },
    async ({ send, mailbox }) => {
      const refused = await send('GET', '/v1/webhooks', { key: mailbox.keys.acme.inboxes.helpdesk });
      const absent = await send('GET', '/v1/nothing', { key: mailbox.keys.acme.inboxes.helpdesk });
      expect([refused.status, refused.text]).toEqual([absent.status, absent.text.replace('nothing', 'webhooks')]);
    },
  );

  everywhere(
    'under requests.options=refused OPTIONS answers 405',
    { behaviours: { 'requests.options': 'refused' } },
    async ({ send }) => {
      const { status, headers } = await send('OPTIONS', '/v1/webhooks');
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    },
  );

  test('the behaviours of a mailbox cannot be changed once it is made', () => {
    const { behaviours } = createMailbox();
    expect(() => Object.assign(behaviours, { 'webhooks.delete.body': 'none' })).toThrow(TypeError);
  });

  for (const [behaviours, read, value] of BOTH_HEADERS) {
    everywhere(`two different keys under ${JSON.stringify(behaviours)}`, { behaviours }, async ({ send, mailbox }) => {
      const reply = await send('GET', '/v1/webhooks', {
        key: mailbox.keys.acme.tenant,
        headers: { Authorization: `Bearer ${mailbox.keys.globex.tenant}` },
      });
      expect(read(reply)).toEqual(value);
      expect(reply.headers.get('x-mock-assumed')).toContain('auth.both-headers');
    });
  }

  for (const [title, headers, status] of CREDENTIALS) {
    everywhere(`${title} answers ${status}`, async ({ send, mailbox }) => {
      const reply = await send('GET', '/v1/webhooks', { headers: headers(mailbox.keys.acme.tenant) });
      expect(reply.status).toBe(status);
      expect(reply.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    });
  }

  everywhere('api_key in the query does not authenticate a request', async ({ send, mailbox }) => {
    const { status, json } = await send('GET', `/v1/webhooks?api_key=${mailbox.keys.acme.tenant}`);
    expect(status).toBe(401);
    expect(json.error).toContain('WebSocket');
  });

  test('an unknown behaviour is refused with similar ids', () => {
    const behaviours = { 'webhooks.list.secrets': 'omitted' } as BehaviourOptions;
    expect(() => createMailbox({ behaviours })).toThrow(BehaviourError);
    expect(() => createMailbox({ behaviours })).toThrow(
      /no behaviour "webhooks\.list\.secrets"; did you mean webhooks\.list\.secret, (\S+, ){1,3}\S+\? Otherwise, npx agent-mailbox-mock behaviours lists all behaviours\.$/,
    );
  });

  test('an unknown behaviour without similar ids is refused with where to find the list', () => {
    const behaviours = { 'x.y': 'z' } as BehaviourOptions;
    expect(() => createMailbox({ behaviours })).toThrow(
      'There is no behaviour "x.y"; npx agent-mailbox-mock behaviours lists all behaviours.',
    );
  });

  test('an unknown value is refused with the list of valid values', () => {
    const behaviours = { 'webhooks.list.secret': 'hidden' } as unknown as BehaviourOptions;
    expect(() => createMailbox({ behaviours })).toThrow(
      'Behaviour "webhooks.list.secret" cannot be "hidden"; it can be: included, omitted.',
    );
  });

  test('a name of Object.prototype is not a behaviour', () => {
    expect(() => createMailbox({ behaviours: { constructor: 'x' } as BehaviourOptions })).toThrow(BehaviourError);
  });

  test('an assumption cannot be switched, and the refusal says what it is', () => {
    const behaviours = { 'tenants.create.workspace': 'none' } as BehaviourOptions;
    expect(() => createMailbox({ behaviours })).toThrow(
      'Behaviour "tenants.create.workspace" cannot be changed, because it is an assumption: yes, one called Default.',
    );
  });

  test.for(Object.entries<BehaviourDefinition>(BEHAVIOURS))(
    '%s has a question, a section, and a default among several values or an assumption',
    ([id, entry], { expect }) => {
      expect(id).toMatch(/^[a-z]+(\.[a-z-]+)+$/);
      expect(entry.question).toMatch(/\?$/);
      expect(entry.section).toMatch(/^\d/);
      if ('assumption' in entry) expect(entry.assumption).not.toBe('');
      else {
        expect(Object.keys(entry.choices)).toContain(entry.default);
        expect(Object.keys(entry.choices).length + (entry.otherValues ? 1 : 0)).toBeGreaterThan(1);
      }
    },
  );

  test('an entry names only operations that there are, and only fields that one of them has', () => {
    const { readBehaviour } = createSilentReader(parseBehaviours());
    for (const [id, entry] of Object.entries<BehaviourDefinition>(BEHAVIOURS)) {
      if (!('assumption' in entry)) continue;
      const { operations = [], fields = [] } = entry;
      expect([id, operations.filter((each) => !Object.hasOwn(OPERATIONS, each))]).toEqual([id, []]);
      const rows = operations.map((each): OperationDefinition => OPERATIONS[each as OperationId]);
      const known = rows.flatMap(({ query, body }) => [query, body].flatMap((build) => build?.(readBehaviour) ?? []));
      const names = known.flatMap(({ shape }) => Object.keys(shape));
      expect([id, fields.filter((field) => !names.includes(field))]).toEqual([id, []]);
    }
  });
});
