import { describe, expect } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { namedIn } from '../../support/readings.ts';

interceptRequests();

const INBOX = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`;
const ADDRESSES = `POST ${INBOX}/addresses`;
const LISTS = `POST ${INBOX}/lists`;
const ENTRIES = `POST ${INBOX}/lists/${IDS.acme.lists.customers}/entries`;
const WEBHOOK = `PATCH /v1/webhooks/${IDS.acme.webhooks.support}`;
const MESSAGE = `PATCH ${INBOX}/messages/${IDS.acme.messages.thanks}`;
const PATCH_INBOX = `PATCH ${INBOX}`;

const NOT_A_NAME =
  'must be lower-case letters, digits, dots, hyphens or underscores, start with a letter or a digit, and have no dot at its end or next to another dot';
const NOT_A_SLUG = 'must be lower-case letters and digits, with single hyphens between them';
const NOT_A_DOMAIN = 'must be a domain name such as example.com';
const NOT_AN_ADDRESS = 'must be an e-mail address such as ada@example.com';
const NOT_A_LIMIT = 'must be a whole number from 1';
const NOT_AN_OFFSET = 'must be a whole number from 0 to 1000000000';
const NOT_A_MOMENT =
  'must be a time such as 2026-01-05T09:00:00.000Z, a day such as 2026-01-05, or seconds or milliseconds since 1970 such as 1767603600';
const NOT_ONE_LINE = 'must be a single line';

const nested = (levels: number): object => (levels === 0 ? {} : { in: nested(levels - 1) });
const long = (length: number) => 'x'.repeat(length);

/** Invalid bodies and the expected errors. */
type WrongBodies = readonly (readonly [line: string, bodies: readonly (readonly [json: object, error: string])[]])[];

const WRONG_BODIES: WrongBodies = [
  [
    'POST /v1/workspaces',
    [
      [{}, 'name is required'],
      [{ name: null }, 'name must be a string'],
      [{ name: 7 }, 'name must be a string'],
      [{ name: '' }, 'name must not be empty'],
      [{ name: ' \t ' }, 'name must not be empty'],
      [{ name: 'two\nlines' }, `name ${NOT_ONE_LINE}`],
      [{ name: 'two\rlines' }, `name ${NOT_ONE_LINE}`],
      [{ name: 'nul\0' }, `name ${NOT_ONE_LINE}`],
      [{ name: long(201) }, 'name must be at most 200 characters long'],
      [{ name: 'A', slug: 7 }, 'slug must be a string'],
      [{ name: 'A', slug: long(64) }, 'slug must be at most 63 characters long'],
      ...['', 'A', '-a', 'a-', 'a--b', 'a_b', 'a b', 'é'].map(
        (slug) => [{ name: 'A', slug }, `slug ${NOT_A_SLUG}`] as const,
      ),
    ],
  ],
  [
    'POST /v1/inboxes',
    [
      [{ username: 7 }, 'username must be a string'],
      [{ username: long(65) }, 'username must be at most 64 characters long'],
      ...['', 'Ada', '.ada', '-ada', '_ada', 'ada.', 'a..b', 'a b', 'ada@mailbox.test', 'ädä', 'a\n', 'a+b'].map(
        (username) => [{ username }, `username ${NOT_A_NAME}`] as const,
      ),
      [{ displayName: 7 }, 'displayName must be a string'],
      [{ displayName: 'two\nlines' }, `displayName ${NOT_ONE_LINE}`],
      [{ displayName: long(201) }, 'displayName must be at most 200 characters long'],
      [{ domain: 7 }, 'domain must be a string'],
      [{ domain: 'x' }, `domain ${NOT_A_DOMAIN}`],
      [
        { domain: 'example.com' },
        'The domain example.com is not verified for this workspace; verify it, or use mailbox.test.',
      ],
      [{ workspaceId: 7 }, 'workspaceId must be a UUID'],
      [{ workspaceId: 'support' }, 'workspaceId must be a UUID'],
      [{ workspaceId: '' }, 'workspaceId must be a UUID'],
      [{ username: 7, domain: 7 }, 'username must be a string; domain must be a string'],
    ],
  ],
  [
    PATCH_INBOX,
    [
      [{ displayName: 7 }, 'displayName must be a string'],
      [{ displayName: 'two\r\nlines' }, `displayName ${NOT_ONE_LINE}`],
      [{ displayName: long(201) }, 'displayName must be at most 200 characters long'],
      [{ metadata: 'text' }, 'metadata must be an object'],
      [{ metadata: [] }, 'metadata must be an object'],
      [{ metadata: nested(10) }, 'metadata must be nested at most 10 levels deep'],
      [{ metadata: { text: long(16_384) } }, 'metadata must be at most 16384 characters of JSON'],
    ],
  ],
  [
    ADDRESSES,
    [
      [{}, 'email is required'],
      [{ email: 7 }, 'email must be a string'],
      [{ email: ['help@mailbox.test'] }, 'email must be a string'],
      [{ email: `${long(250)}@mailbox.test` }, 'email must be at most 254 characters long'],
      ...['', 'help', '@mailbox.test', 'help@', 'help@mailbox', 'Help <help@mailbox.test>', ' help@mailbox.test'].map(
        (email) => [{ email }, `email ${NOT_AN_ADDRESS}`] as const,
      ),
      [{ email: 'help@mailbox.test\nBcc: eve@example.com' }, `email ${NOT_AN_ADDRESS}`],
      [{ email: 'help@mailbox.test', primary: 'true' }, 'primary must be true or false'],
      [{ email: 'help@mailbox.test', primary: null }, 'primary must be true or false'],
    ],
  ],
  [
    LISTS,
    [
      [{}, 'name is required'],
      [{ name: '  ' }, 'name must not be empty'],
      [{ name: 'two\nlines' }, `name ${NOT_ONE_LINE}`],
      [{ name: long(201) }, 'name must be at most 200 characters long'],
      [{ name: 'A', description: 7 }, 'description must be a string'],
      [{ name: 'A', description: long(2001) }, 'description must be at most 2000 characters long'],
    ],
  ],
  [
    ENTRIES,
    [
      [{}, 'email is required'],
      [{ email: 'ada' }, `email ${NOT_AN_ADDRESS}`],
      [{ email: 'ada@example.com', displayName: 'two\nlines' }, `displayName ${NOT_ONE_LINE}`],
      [{ email: 'ada@example.com', displayName: [] }, 'displayName must be a string'],
      [{ email: 'ada@example.com', metadata: 7 }, 'metadata must be an object'],
      [{ email: 'ada@example.com', metadata: nested(10) }, 'metadata must be nested at most 10 levels deep'],
    ],
  ],
  [
    'POST /v1/domains',
    [
      [{}, 'domain is required'],
      [{ domain: 7 }, 'domain must be a string'],
      [{ domain: `${long(250)}.test` }, 'domain must be at most 253 characters long'],
      ...[
        '',
        'example',
        '.example.com',
        'example.com.',
        'a..example',
        '-a.example',
        'a-.example',
        'a_b.example',
        'exa mple.com',
        'https://example.com',
        'ada@example.com',
        '127.0.0.1',
        `${long(64)}.example`,
        'example.com\n',
      ].map((domain) => [{ domain }, `domain ${NOT_A_DOMAIN}`] as const),
      [{ domain: 'new.example', workspaceId: 'support' }, 'workspaceId must be a UUID'],
    ],
  ],
  [
    WEBHOOK,
    [
      [{ url: '/hook' }, 'url must be an absolute http or https URL'],
      [{ url: null }, 'url must be a string'],
      [{ events: [] }, 'events must list at least one event kind'],
      [{ events: null }, 'events must be an array of event kinds'],
      [{ events: ['message.lost'] }, 'events[0] must be one of message.received, message.sent, message.bounced'],
      [{ isActive: 'false' }, 'isActive must be true or false'],
      [{ isActive: null }, 'isActive must be true or false'],
    ],
  ],
  [
    MESSAGE,
    [
      [{ isRead: 'true' }, 'isRead must be true or false'],
      [{ isStarred: 1 }, 'isStarred must be true or false'],
      [{ isArchived: null }, 'isArchived must be true or false'],
    ],
  ],
  [
    'POST /v1/verify-email',
    [
      [{}, 'email is required'],
      [{ email: null }, 'email must be a string'],
      [{ email: ['ada@example.com'] }, 'email must be a string'],
      [{ email: long(255) }, 'email must be at most 254 characters long'],
    ],
  ],
];

const PAGED = [`${INBOX}/messages`, `${INBOX}/threads`, `${INBOX}/drafts`, '/v1/messages'];
const METRICS = '/v1/metrics';

/** Invalid queries of a GET and the expected errors. */
const WRONG_QUERIES: readonly (readonly [paths: readonly string[], query: string, error: string])[] = [
  ...['0', '-1', 'abc', '1e1', '1.0', '0x10', '+1', '%201', '', 'Infinity', 'null'].map(
    (limit) => [PAGED, `limit=${limit}`, `limit ${NOT_A_LIMIT}`] as const,
  ),
  ...['-1', '1.5', '1e3', 'abc', '', '1000000001', '99999999999'].map(
    (offset) => [PAGED, `offset=${offset}`, `offset ${NOT_AN_OFFSET}`] as const,
  ),
  [PAGED, 'limit=abc&limit=1', `limit ${NOT_A_LIMIT}`],
  [PAGED, 'limit=0&offset=-1', `limit ${NOT_A_LIMIT}; offset ${NOT_AN_OFFSET}`],
  [[`${INBOX}/messages`], 'direction=', 'direction must be inbound or outbound'],
  [[`${INBOX}/messages`], 'direction=Inbound', 'direction must be inbound or outbound'],
  ...['', 'spam', 'INBOX', 'inbox,sent'].map(
    (folder) =>
      [['/v1/messages'], `folder=${folder}`, 'folder must be one of inbox, sent, starred, archived, trash'] as const,
  ),
  ...['', 'day', 'true'].map((group) => [['/v1/messages'], `group=${group}`, 'group must be thread'] as const),
  ...['', 'helpdesk', '7'].map(
    (id) => [['/v1/messages', '/v1/messages/folders/counts'], `inboxId=${id}`, 'inboxId must be a UUID'] as const,
  ),
  ...['', 'support'].map((id) => [['/v1/inboxes', METRICS], `workspace=${id}`, 'workspace must be a UUID'] as const),
  [[METRICS], 'inbox=helpdesk', 'inbox must be a UUID'],
  ...['', 'yesterday', '2026-13-01', '2026-02-30', '2026-01-05T09:00', '2026-1-5', '-1767603600', '1e9', 'now'].flatMap(
    (time) => ['from', 'to'].map((name) => [[METRICS], `${name}=${time}`, `${name} ${NOT_A_MOMENT}`] as const),
  ),
  [[METRICS], 'to=0000-01-01', 'to must be in the years 0001 to 9999'],
  [[METRICS], 'to=9999-12-31T23:59:59-10:00', 'to must be in the years 0001 to 9999'],
];

/** Requests that look invalid but are accepted. */
const ACCEPTED: readonly (readonly [title: string, line: string, json: object | undefined, status: number])[] = [
  ['a name of 200 characters', 'POST /v1/workspaces', { name: long(200) }, 201],
  ['a slug of 63 characters', 'POST /v1/workspaces', { name: 'A', slug: long(63) }, 201],
  ['a display name that is null', 'POST /v1/inboxes', { displayName: null }, 201],
  ['a selector in upper case', 'POST /v1/inboxes', { workspaceId: IDS.acme.workspaces.sales.toUpperCase() }, 201],
  ['metadata of nine nested levels', PATCH_INBOX, { metadata: nested(9) }, 200],
  ['metadata of the maximum length', PATCH_INBOX, { metadata: { text: long(16_384 - '{"text":""}'.length) } }, 200],
  ['metadata with names of Object.prototype', PATCH_INBOX, { metadata: { constructor: 1, toString: null } }, 200],
  ['a description of several lines', LISTS, { name: 'A', description: 'one\r\ntwo' }, 201],
  ['an address with an apostrophe and a tag', ENTRIES, { email: "o'brien+tag@example.com" }, 201],
  ['a domain with an encoded name', 'POST /v1/domains', { domain: 'xn--mnchen-3ya.xn--p1ai' }, 201],
  ['an international domain', 'POST /v1/domains', { domain: 'münchen.example' }, 201],
  ['a domain of one letter each', 'POST /v1/domains', { domain: 'a.b' }, 201],
  ['limit=200', 'GET /v1/messages?limit=200', undefined, 200],
  ['limit=001', 'GET /v1/messages?limit=001', undefined, 200],
  ['offset=1000000000', 'GET /v1/messages?offset=1000000000', undefined, 200],
  ['a repeated parameter, whose first value is used', 'GET /v1/messages?limit=1&limit=abc', undefined, 200],
  ['an unknown parameter', 'GET /v1/messages?Limit=0&page=-1', undefined, 200],
  ['a parameter of another operation', 'GET /v1/inboxes?limit=0', undefined, 200],
];

describe('requests of resources', () => {
  for (const [line, bodies] of WRONG_BODIES) {
    everywhere(`${line} refuses every wrong body with a clear sentence`, async ({ send, mailbox }) => {
      const before = mailbox.snapshot();
      const [method = '', path = ''] = line.split(' ');
      for (const [json, error] of bodies) {
        const sentence = error.endsWith('.') ? error : `The body is not valid: ${error}.`;
        const reply = await send(method, path, { key: mailbox.keys.acme.tenant, json });
        const shown = JSON.stringify(json).slice(0, 100);
        expect([shown, reply.status, reply.json]).toEqual([shown, 400, { error: sentence, code: 'VALIDATION_ERROR' }]);
      }
      expect(mailbox.snapshot()).toEqual(before);
    });
  }

  for (const path of new Set(WRONG_QUERIES.flatMap(([paths]) => paths))) {
    everywhere(`GET ${path} refuses every wrong query with a clear sentence`, async ({ send, mailbox }) => {
      for (const [, query, error] of WRONG_QUERIES.filter(([paths]) => paths.includes(path))) {
        const reply = await send('GET', `${path}?${query}`, { key: mailbox.keys.acme.tenant });
        const sentence = `The query is not valid: ${error}.`;
        expect([query, reply.status, reply.json]).toEqual([query, 400, { error: sentence, code: 'VALIDATION_ERROR' }]);
      }
    });
  }

  everywhere('POST /v1/inboxes accepts only true or false for strict', async ({ send, mailbox }) => {
    const before = mailbox.snapshot();
    for (const strict of ['', '1', 'yes', 'TRUE']) {
      const reply = await send('POST', `/v1/inboxes?strict=${strict}`, { key: mailbox.keys.acme.tenant, json: {} });
      expect([reply.status, reply.json.error]).toEqual([400, 'The query is not valid: strict must be true or false.']);
    }
    expect(mailbox.snapshot()).toEqual(before);
  });

  everywhere('metadata of 20,000 levels is refused like that of 11', async ({ send, mailbox }) => {
    const before = mailbox.snapshot();
    const body = `{"metadata":${'{"in":'.repeat(20_000)}{}${'}'.repeat(20_000)}}`;
    const refused = await send('PATCH', INBOX, { key: mailbox.keys.acme.tenant, body });
    expect([refused.status, refused.json.error]).toEqual([
      400,
      'The body is not valid: metadata must be nested at most 10 levels deep.',
    ]);
    expect(mailbox.snapshot()).toEqual(before);
  });

  for (const [title, line, json, status] of ACCEPTED) {
    everywhere(`${title} is accepted`, async ({ send, mailbox }) => {
      const [method = '', path = ''] = line.split(' ');
      const reply = await send(method, path, { key: mailbox.keys.acme.tenant, ...(json && { json }) });
      expect(reply.status, reply.text).toBe(status);
    });
  }

  everywhere('a limit above 200 is treated as 200, and an invalid limit is refused', async (service) => {
    const get = (limit: string) =>
      service.send('GET', `/v1/messages?limit=${limit}`, { key: service.mailbox.keys.acme.tenant });
    for (const limit of ['201', '999999999999999', '9'.repeat(30), '9'.repeat(400)]) {
      const clamped = await get(limit);
      expect([clamped.status, clamped.json.pagination.limit]).toEqual([200, 200]);
      expect(namedIn(clamped)).toContain('messages.list.over-limit');
    }
    for (const limit of ['0', '-201', '1e9', 'Infinity', '0x100', '201.5', '']) {
      const refused = await get(limit);
      expect([limit, refused.status]).toEqual([limit, 400]);
      expect(namedIn(refused)).not.toContain('messages.list.over-limit');
    }
  });
});
