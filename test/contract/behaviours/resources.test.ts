import type { BehaviourId, BehaviourOptions } from 'agent-mailbox-mock';
import { describe, expect } from 'vitest';
import type { BehaviourValue, ChangeableId } from '../../../src/contract/behaviours.ts';
import { everywhere, interceptRequests, type Reply, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { namedIn, type Reading, testReadings } from '../../support/readings.ts';

interceptRequests();

const { helpdesk } = IDS.acme.inboxes;
const { support, sales } = IDS.acme.workspaces;
const LIST = `/v1/inboxes/${helpdesk}/lists/${IDS.acme.lists.customers}`;
const ENTRY = `${LIST}/entries/${IDS.acme.entries.dana}`;
const WEBHOOK = `/v1/webhooks/${IDS.acme.webhooks.support}`;
const ADDRESSES = `/v1/inboxes/${helpdesk}/addresses`;
const PASSWORDS = ['imapPassword', 'imap', 'smtp'];

type Call = Reading['call'];

/** A request with Acme's tenant key. */
const call =
  (method: string, path: string, json?: object): Call =>
  ({ send, mailbox }) =>
    send(method, path, { key: mailbox.keys.acme.tenant, ...(json && { json }) });

/** One request after another; the last reply counts. */
const inTurn =
  (first: Call, ...rest: Call[]): Call =>
  async (service) => {
    let reply = await first(service);
    for (const next of rest) reply = await next(service);
    return reply;
  };

const body = ({ json }: Reply) => json;
const status = (reply: Reply) => reply.status;
const error = ({ status: answered, json }: Reply) => [answered, json.code];

/** A test case: the value of a behaviour, the request that shows it, a part of the reply, and its expected value. */
function row<Id extends ChangeableId>(
  id: Id,
  current: BehaviourValue<Id>,
  request: Call,
  expected: Reading['expected'],
  value: unknown,
): [BehaviourOptions, Reading] {
  return [{ [id]: current }, { call: request, expected, value }];
}

const createInbox = (json: object) => call('POST', '/v1/inboxes', json);
const createAda = createInbox({ username: 'ada' });
const claimAda: Call = ({ send, mailbox }) =>
  send('POST', '/v1/inboxes', { key: mailbox.keys.globex.tenant, json: { username: 'ada' } });
const createAddress = call('POST', ADDRESSES, { email: 'help@mailbox.test' });
const removeAddress = inTurn(createAddress, call('DELETE', `${ADDRESSES}/help@mailbox.test`));
const removeCanonical = call('DELETE', `${ADDRESSES}/helpdesk@acme.test`);
const unverified = createInbox({ username: 'ada', domain: 'mail.acme.test' });
const unverifiedAddress = call('POST', ADDRESSES, { email: 'ada@elsewhere.test' });
const createSales = call('POST', '/v1/workspaces', { name: 'Sales' });
const deleteDefault = call('DELETE', `/v1/workspaces/${support}`);
const register = call('POST', '/v1/domains', { domain: 'new.example' });
const verifyTaken = inTurn(
  call('POST', '/v1/domains', { domain: 'globex.test' }),
  call('GET', '/v1/domains/globex.test/verify'),
);
const updateWebhook = call('PATCH', WEBHOOK, { isActive: false });

const reversedMetrics = call('GET', '/v1/metrics?from=2026-03-02&to=2026-03-01');
const ODD_URL = 'HTTPS://Agent.Example';
const SUPPORT_KEY = `/v1/workspaces/${support}/keys/${IDS.acme.keys.support}`;
const DRAFT = `/v1/inboxes/${helpdesk}/drafts/${IDS.acme.drafts.helpdesk}`;
const MESSAGE = `/v1/inboxes/${helpdesk}/messages/${IDS.acme.messages.thanks}`;

const READINGS: [BehaviourOptions, Reading][] = [
  row('workspaces.create.slug-taken', 'conflict', createSales, error, [409, 'ALREADY_EXISTS']),
  row('workspaces.create.slug-taken', 'suffixed', createSales, ({ json }) => json.slug, 'sales-2'),
  row('workspaces.create.slug-taken', 'suffixed', inTurn(createSales, createSales), ({ json }) => json.slug, 'sales-3'),
  row('workspaces.delete.default', 'conflict', deleteDefault, error, [409, 'CONFLICT']),
  row('workspaces.delete.default', 'forbidden', deleteDefault, error, [403, 'FORBIDDEN']),
  row('workspaces.delete.default', 'invalid', deleteDefault, error, [400, 'VALIDATION_ERROR']),
  row('workspaces.delete.body', 'empty', call('DELETE', `/v1/workspaces/${sales}`), body, {}),

  row('inboxes.shape', 'with-metadata', createInbox({}), ({ json }) => json.metadata, null),
  row('inboxes.shape', 'reference', createInbox({}), ({ json }) => 'metadata' in json, false),
  row('inboxes.display-name.unset', 'null', createInbox({}), ({ json }) => json.displayName, null),
  ...[createInbox({}), createInbox({ displayName: '' }), inTurn(createAda, createAda)].map((request) =>
    row('inboxes.display-name.unset', 'absent', request, ({ json }) => 'displayName' in json, false),
  ),
  row(
    'inboxes.display-name.unset',
    'absent',
    inTurn(call('PATCH', `/v1/inboxes/${helpdesk}`, { displayName: null }), call('GET', '/v1/inboxes')),
    ({ json }) => json.inboxes.map(({ displayName }: { displayName?: string }) => displayName),
    [undefined, 'Acme Billing', 'Acme Outreach'],
  ),
  row('inboxes.shape', 'reference', call('GET', '/v1/inboxes'), ({ json }) => 'metadata' in json.inboxes[0], false),
  ...(['omitted', 'included'] as const).map((current) =>
    row(
      'inboxes.list.credentials',
      current,
      call('GET', '/v1/inboxes'),
      ({ json }) => PASSWORDS.filter((field) => field in json.inboxes[0]),
      current === 'included' ? PASSWORDS : [],
    ),
  ),
  row('inboxes.create.domain', 'invalid', unverified, error, [400, 'VALIDATION_ERROR']),
  row('inboxes.create.domain', 'forbidden', unverified, error, [403, 'FORBIDDEN']),
  row(
    'inboxes.create.again',
    'next-number',
    inTurn(claimAda, createAda, createAda),
    ({ json }) => json.username,
    'ada2',
  ),
  row(
    'inboxes.create.again',
    'existing',
    inTurn(claimAda, createAda, createAda),
    ({ status: answered, json }) => [answered, json.username, json.existed],
    [200, 'ada1', true],
  ),
  row('inboxes.create.existing', 'conflict', createInbox({ username: 'helpdesk', domain: 'acme.test' }), body, {
    error: 'The address helpdesk@acme.test is taken.',
    code: 'USERNAME_TAKEN',
  }),
  row('inboxes.create.existing', 'conflict', inTurn(createAddress, createInbox({ username: 'help' })), body, {
    error: 'The address help@mailbox.test is taken.',
    code: 'USERNAME_TAKEN',
  }),
  row('inboxes.delete.body', 'empty', call('DELETE', `/v1/inboxes/${helpdesk}`), body, {}),
  row('inboxes.addresses.create.domain', 'invalid', unverifiedAddress, error, [400, 'VALIDATION_ERROR']),
  row('inboxes.addresses.create.domain', 'forbidden', unverifiedAddress, error, [403, 'FORBIDDEN']),
  row('inboxes.addresses.delete.canonical', 'conflict', removeCanonical, error, [409, 'CONFLICT']),
  row('inboxes.addresses.delete.canonical', 'invalid', removeCanonical, error, [400, 'VALIDATION_ERROR']),
  row('inboxes.addresses.delete.body', 'empty', removeAddress, body, {}),

  row('domains.create.workspace', 'tenant', register, ({ json }) => json.workspaceId, null),
  row('domains.create.workspace', 'default-workspace', register, ({ json }) => json.workspaceId, support),
  row(
    'domains.dns-records',
    'mx-spf-dkim',
    register,
    ({ json }) => json.dnsRecords.map(({ name }: { name: string }) => name),
    ['new.example', 'new.example', 'mailbox._domainkey.new.example', '_mailbox-verification.new.example'],
  ),
  row('domains.shape', 'wrapped', register, ({ json }) => json.domain.domain, 'new.example'),
  row('domains.verify.taken', 'conflict', verifyTaken, error, [409, 'CONFLICT']),
  row('domains.verify.taken', 'verified', verifyTaken, ({ json }) => json.status, 'verified'),
  row('domains.delete.body', 'deleted-and-domain', call('DELETE', '/v1/domains/acme.test'), body, {
    deleted: true,
    domain: 'acme.test',
  }),
  row('domains.delete.body', 'deleted-and-id', call('DELETE', '/v1/domains/acme.test'), body, {
    deleted: true,
    id: IDS.acme.domains.acme,
  }),
  row('domains.delete.body', 'empty', call('DELETE', '/v1/domains/acme.test'), body, {}),

  ...(['included', 'omitted'] as const).map((current) =>
    row(
      'lists.list.entries',
      current,
      call('GET', `/v1/inboxes/${helpdesk}/lists`),
      ({ json: { lists } }) => ['entries' in lists[0], lists[0].entryCount],
      [current === 'included', 2],
    ),
  ),
  row('lists.delete.body', 'empty', call('DELETE', LIST), body, {}),
  row('lists.entries.delete.body', 'empty', call('DELETE', ENTRY), body, {}),

  ...(['included', 'omitted'] as const).flatMap((current) =>
    [call('GET', WEBHOOK), updateWebhook].map((request) =>
      row('webhooks.get.secret', current, request, ({ json }) => 'secret' in json, current === 'included'),
    ),
  ),
  row('webhooks.update.reply', 'webhook', updateWebhook, ({ json }) => [json.id, json.isActive], [
    IDS.acme.webhooks.support,
    false,
  ]),
  row('webhooks.update.reply', 'updated-and-id', updateWebhook, body, {
    updated: true,
    id: IDS.acme.webhooks.support,
  }),
  row(
    'webhooks.create.repeated-events',
    'merged',
    call('PATCH', WEBHOOK, { events: ['message.sent', 'message.sent'] }),
    ({ json }) => json.events,
    ['message.sent'],
  ),
  row('webhooks.create.events', 'received-only', call('PATCH', WEBHOOK, { events: ['message.sent'] }), status, 400),
  row('webhooks.create.url-form', 'as-sent', call('PATCH', WEBHOOK, { url: ODD_URL }), ({ json }) => json.url, ODD_URL),
  row(
    'webhooks.create.url-form',
    'normalised',
    call('POST', '/v1/webhooks', { url: ODD_URL, events: ['message.received'] }),
    ({ json }) => json.url,
    'https://agent.example/',
  ),
  ...(['replaced', 'merged'] as const).map((current) =>
    row(
      'inboxes.update.metadata',
      current,
      async (service) => {
        await call('PATCH', `/v1/inboxes/${helpdesk}`, { metadata: { first: 1, both: 1 } })(service);
        const reply = await call('PATCH', `/v1/inboxes/${helpdesk}`, { metadata: { both: 2, last: 2 } })(service);
        const { json } = await call('GET', `/v1/inboxes/${helpdesk}`)(service);
        return { ...reply, json };
      },
      ({ json }) => json.metadata,
      current === 'replaced' ? { both: 2, last: 2 } : { first: 1, both: 2, last: 2 },
    ),
  ),
  row('metrics.reversed-window', 'invalid', reversedMetrics, status, 400),
  row('metrics.reversed-window', 'empty', reversedMetrics, ({ json }) => json.counts, {
    sent: 0,
    received: 0,
    bounced: 0,
  }),
  row(
    'workspaces.keys.delete.body',
    'revoked-and-new-key',
    async (service) => {
      const reply = await call('DELETE', SUPPORT_KEY)(service);
      const key = String(reply.json.newKey.key);
      const me = await service.send('GET', '/v1/me', { key });
      return { ...reply, json: [reply.json.revoked, me.json.workspaceId, reply.json.newKey.name] as never };
    },
    body,
    [true, support, 'support'],
  ),
  ...[`/v1/inboxes/${helpdesk}`, WEBHOOK, DRAFT, MESSAGE].flatMap((path) => [
    row('requests.empty-update', 'accepted', call('PATCH', path, {}), status, 200),
    row('requests.empty-update', 'invalid', call('PATCH', path, { unknown: 1 }), error, [400, 'VALIDATION_ERROR']),
  ]),
  row('webhooks.create.url', 'https', call('PATCH', WEBHOOK, { url: 'http://agent.example/' }), status, 400),
];

/** What a reply names, and what it does not: a behaviour is named where another value would have changed the reply. */
const NAMED: [title: string, request: Call, named: BehaviourId[], unnamed: BehaviourId[]][] = [
  [
    'a workspace whose slug is free',
    call('POST', '/v1/workspaces', { name: 'Research' }),
    [],
    ['workspaces.create.slug-taken', 'workspaces.read.tiers'],
  ],
  [
    'an inbox with a name on a verified domain in a workspace',
    createInbox({ username: 'ada', domain: 'acme.test', workspaceId: sales }),
    ['inboxes.shape'],
    ['inboxes.create.domain', 'inboxes.create.existing', 'requests.selectors'],
  ],
  ['an inbox without anything', createInbox({}), ['inboxes.display-name.unset'], []],
  [
    'an inbox with a display name',
    createInbox({ username: 'ada', displayName: 'Ada' }),
    ['inboxes.shape'],
    ['inboxes.display-name.unset'],
  ],
  [
    'an inbox that is there',
    createInbox({ username: 'helpdesk', domain: 'acme.test' }),
    ['inboxes.create.existing'],
    [],
  ],
  [
    'a user name that may not be',
    createInbox({ username: 'A' }),
    [],
    ['inboxes.create.existing', 'inboxes.create.domain'],
  ],
  [
    'a domain with a workspace',
    call('POST', '/v1/domains', { domain: 'new.example', workspaceId: sales }),
    ['domains.shape', 'domains.dns-records'],
    ['domains.create.workspace', 'requests.selectors'],
  ],
  ['an added address', createAddress, [], ['sending.plus-tags']],
  [
    'an inbox whose address is too long',
    createInbox({ username: 'a'.repeat(64), domain: `${'a.'.repeat(95)}test` }),
    [],
    ['inboxes.create.domain'],
  ],
  [
    'a reply with a copy to what is no address',
    call('POST', `/v1/inboxes/${helpdesk}/reply/${IDS.acme.messages.thanks}`, { cc: 'x@y' }),
    [],
    ['sending.address-lists'],
  ],
  ['a domain in lower case', register, ['domains.shape'], []],
  ['a webhook that stays', updateWebhook, ['webhooks.update.reply'], ['requests.empty-update']],
];

describe('behaviours of resources', () => {
  testReadings(READINGS);

  for (const [title, request, named, unnamed] of NAMED) {
    everywhere(
      `${title} names ${named.join(' and ') || 'no choice that it does not depend on'}`,
      async (service: Service) => {
        const ids = namedIn(await request(service));
        expect(ids).toEqual(expect.arrayContaining(named));
        expect(ids.filter((id) => unnamed.includes(id as BehaviourId))).toEqual([]);
      },
    );
  }

  everywhere(
    'a suffixed slug skips the slug of a name that ends with the same number',
    { behaviours: { 'workspaces.create.slug-taken': 'suffixed' } },
    async (service) => {
      const slugs = [];
      for (const name of ['Sales 2', 'Sales', 'Sales']) {
        slugs.push((await call('POST', '/v1/workspaces', { name })(service)).json.slug);
      }
      expect(slugs).toEqual(['sales-2', 'sales-3', 'sales-4']);
    },
  );

  everywhere(
    'under domains.create.workspace=default-workspace a domain is for the default workspace only',
    { behaviours: { 'domains.create.workspace': 'default-workspace' } },
    async (service) => {
      await inTurn(register, call('GET', '/v1/domains/new.example/verify'))(service);
      const create = (workspaceId: string) =>
        createInbox({ username: 'ada', domain: 'new.example', workspaceId })(service);
      expect([(await create(sales)).status, (await create(support)).status]).toEqual([400, 201]);
    },
  );
});
