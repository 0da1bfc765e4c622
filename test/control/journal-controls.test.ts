import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { control, sendControl } from '../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { senderTo } from '../support/send.ts';

interceptRequests();

const TENANT = 'tk_acme_tenant_key';
const SALES = 'wk_acme_sales_key';
const HOOK = { url: 'http://127.0.0.1:9/in', events: ['message.received'] };

/** Lists the journal by the method in process, and by the control call over HTTP. */
async function list(service: Service, filter: Record<string, string | number> = {}) {
  const query = new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, String(value)]));
  const run = () => ({ requests: service.mailbox.requests(filter as never) });
  return (await control(service, `GET /requests?${query}`, undefined, run)).json;
}

everywhere('the journal shows a request with its reply', async (service) => {
  const reply = await service.send('POST', '/v1/webhooks', { key: TENANT, json: HOOK, query: { page: 1 } });
  const { requests } = await list(service);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    id: 'req_1',
    operation: 'createWebhook',
    method: 'POST',
    path: '/v1/webhooks',
    key: 'tk_acme_…',
    principal: { tier: 'tenant', tenantId: IDS.acme.tenant, workspaceId: null, inboxId: null },
    status: 201,
    code: null,
    reason: null,
    choices: { 'webhooks.create.is-active': 'active' },
    faults: [],
    request: {
      query: [['page', '1']],
      headers: { 'content-type': 'application/json', 'x-api-key': 'tk_acme_…' },
      body: JSON.stringify(HOOK),
      bodyBytes: JSON.stringify(HOOK).length,
    },
    reply: {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...reply.json, secret: 'whsec_…' }),
      bodyBytes: reply.bytes.byteLength,
    },
  });
  expect(Date.parse(requests[0].realTime)).not.toBeNaN();
});

everywhere('the journal has the reason of a refusal that the reply must not reveal', async (service) => {
  const { send } = service;
  await send('DELETE', `/v1/webhooks/${IDS.acme.webhooks.support}`, { key: SALES });
  await send('GET', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`, { key: 'ak_globex_info_key' });
  await send('GET', `/v1/inboxes/${IDS.acme.tenant}`, { key: TENANT });
  await send('GET', '/v1/inboxes/helpdesk', { key: TENANT });
  await send('POST', '/v1/tenants', { key: SALES, json: { name: 'Initech' } });
  await send('GET', '/v1/webhooks', { key: 'tk_unknown_key_123' });
  await send('GET', '/v1/webhooks');
  const { requests } = await list(service);
  const basis = '(section 5; choice errors.foreign-resource)';
  expect(requests.map(({ status, reason }: { status: number; reason: string }) => [status, reason])).toEqual([
    [404, `Workspace key of Sales; the webhook with this id belongs to Support ${basis}.`],
    [
      404,
      `Inbox key of Main / info@globex.test; the inbox with this id belongs to Acme / Support / helpdesk@acme.test ${basis}.`,
    ],
    [404, 'There is no inbox with this id in any tenant.'],
    [404, expect.stringMatching(/^The path is not valid: id .+ \(choice requests\.malformed-id\)\.$/)],
    [403, 'This wk_ key may not call POST /v1/tenants; use a sa_ key.'],
    [
      401,
      'The API key is not valid: it is unknown or has been revoked; the key of a sandbox is valid only at the URL ' +
        'where the sandbox was created.',
    ],
    [401, expect.stringMatching(/^The request has no API key; /)],
  ]);
});

everywhere(
  'the reason of a refusal names a sandbox to a tenant, and in a sandbox nothing outside of it',
  async ({ mailbox, send }) => {
    using own = mailbox.createSandbox();
    using other = mailbox.createSandbox();
    const inbox = `/v1/inboxes/${other.ids.inboxes.helpdesk}`;
    await send('GET', inbox, { key: TENANT });
    await send('GET', inbox, { key: own.keys.tenant });
    await send('DELETE', `/v1/webhooks/${IDS.acme.webhooks.support}`, { key: own.keys.tenant });
    await send('DELETE', `/v1/webhooks/${own.ids.webhooks.support}`, { key: own.keys.workspaces.sales });
    const basis = '(section 5; choice errors.foreign-resource)';
    const owner = `Acme (sandbox ${other.id}) / Support / helpdesk@${other.domain}`;
    expect(mailbox.requests().map(({ reason }) => reason)).toEqual([
      `Tenant key of Acme; the inbox with this id belongs to ${owner} ${basis}.`,
      'There is no inbox with this id in this sandbox.',
      'There is no webhook with this id in this sandbox.',
      `Workspace key of Sales; the webhook with this id belongs to Support ${basis}.`,
    ]);
  },
);

everywhere('the reason of a refusal is that of the time of the request', async (service) => {
  const { mailbox, send } = service;
  await send('GET', `/v1/webhooks/${IDS.acme.webhooks.support}`, { key: SALES });
  await send('DELETE', `/v1/webhooks/${IDS.acme.webhooks.support}`, { key: mailbox.keys.acme.tenant });
  expect((await list(service)).requests[0].reason).toMatch(/belongs to Support/);
});

everywhere('requests can be filtered', async (service) => {
  const { mailbox, send } = service;
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  await send('GET', '/v1/webhooks', { key: TENANT });
  await send('GET', '/v1/webhooks', { key: SALES });
  await mailbox.clock.advance('1m');
  await send('GET', '/v1/nothing', { key: 'tk_globex_tenant_key' });
  await send('GET', '/v1/webhooks');
  const idsOf = async (filter: Record<string, string | number>) =>
    (await list(service, filter)).requests.map(({ id }: { id: string }) => id);
  expect(await idsOf({ operation: 'listWebhooks' })).toEqual(['req_1', 'req_2', 'req_4']);
  expect(await idsOf({ status: 404 })).toEqual(['req_3']);
  expect(await idsOf({ status: 401, operation: 'listWebhooks' })).toEqual(['req_4']);
  expect(await idsOf({ key: TENANT })).toEqual(['req_1']);
  expect(await idsOf({ key: 'tk_acme_…' })).toEqual(['req_1']);
  expect(await idsOf({ since: '2026-03-01T09:01:00Z' })).toEqual(['req_3', 'req_4']);
  expect(mailbox.requests({ since: mailbox.clock.now() }).map(({ id }) => id)).toEqual(['req_3', 'req_4']);
  expect(await idsOf({ tenant: IDS.globex.tenant })).toEqual(['req_3']);
  expect(await idsOf({ tenant: IDS.acme.inboxes.helpdesk })).toEqual([]);
});

everywhere('a wrong filter is refused', async (service) => {
  for (const [filter, problem] of [
    [{ operation: 'createWebhok' }, 'operation must be the name of an operation; did you mean createWebhook'],
    [{ operation: 'x' }, 'operation must be the name of an operation, such as createWebhook'],
    [{ status: 99 }, 'status must be a status from 100 to 599'],
    [{ since: 'yesterday' }, 'since must be a time such as 2026-01-05T09:00:00.000Z'],
    [{ tenant: 'acme' }, 'tenant must be the UUID of a tenant'],
  ] as const) {
    const answer = await list(service, filter as never);
    expect(answer.code).toBe('VALIDATION_ERROR');
    expect(answer.error).toContain(problem);
  }
});

everywhere('one request can be shown, and all can be removed', async (service) => {
  const { mailbox, send } = service;
  await send('GET', '/v1/webhooks', { key: TENANT });
  const [entry] = mailbox.requests();
  expect((await control(service, 'GET /requests/req_1', undefined, () => mailbox.request('req_1'))).json).toEqual(
    entry,
  );
  await control(service, 'DELETE /requests', undefined, () => mailbox.clearRequests());
  expect(mailbox.requests()).toEqual([]);
  const missing = await control(service, 'GET /requests/req_1', undefined, () => mailbox.request('req_1'));
  expect(missing.json).toEqual({ error: 'There is no request with this id in the journal.', code: 'NOT_FOUND' });
  await send('GET', '/health');
  expect(mailbox.requests()).toMatchObject([{ id: 'req_2', operation: 'getHealth', principal: null }]);
});

everywhere('requests that were removed can be brought back, until a reset', async (service) => {
  const { mailbox, send } = service;
  const sandbox = mailbox.createSandbox();
  const ids = () => mailbox.requests().map(({ id }) => id);
  for (const key of [TENANT, sandbox.keys.tenant, TENANT]) await send('GET', '/v1/webhooks', { key });
  mailbox.clearRequests();
  await send('GET', '/v1/webhooks', { key: TENANT });
  expect(ids()).toEqual(['req_4']);
  sandbox.restoreRequests();
  expect(ids()).toEqual(['req_2', 'req_4']);
  await control(service, 'POST /requests/restore', undefined, () => mailbox.restoreRequests());
  expect(ids()).toEqual(['req_1', 'req_2', 'req_3', 'req_4']);
  mailbox.clearRequests();
  sandbox.reset();
  mailbox.restoreRequests();
  expect(ids()).toEqual(['req_1', 'req_3', 'req_4']);
  mailbox.clearRequests();
  mailbox.reset();
  mailbox.restoreRequests();
  expect(ids()).toEqual([]);
});

everywhere('a reset empties the journal and counts from 1 again', async ({ mailbox, send }) => {
  await send('GET', '/v1/webhooks', { key: TENANT });
  mailbox.reset();
  expect(mailbox.requests()).toEqual([]);
  await send('GET', '/v1/webhooks', { key: TENANT });
  expect(mailbox.requests()).toMatchObject([{ id: 'req_1' }]);
});

everywhere('the journal keeps the latest requests of each tenant', { journalSize: 2 }, async ({ mailbox, send }) => {
  await send('GET', '/v1/webhooks', { key: 'tk_globex_tenant_key' });
  for (const path of ['/v1/inboxes', '/v1/webhooks', '/v1/domains']) await send('GET', path, { key: TENANT });
  await send('GET', '/v1/webhooks');
  expect(mailbox.requests().map(({ id }) => id)).toEqual(['req_1', 'req_3', 'req_4', 'req_5']);
});

everywhere('a journal of size 0 records nothing', { journalSize: 0 }, async ({ mailbox, send }) => {
  await send('GET', '/v1/webhooks', { key: TENANT });
  expect(mailbox.requests()).toEqual([]);
  expect(mailbox.feed({ follow: false })).toBeDefined();
});

test.each([-1, 1.5, 100_001, '10' as never])('a journal cannot have the size %s', (journalSize) => {
  expect(() => createMailbox({ journalSize })).toThrow(
    new RangeError(
      `The option journalSize must be a whole number from 0 to 100000, not ${JSON.stringify(journalSize)}.`,
    ),
  );
});

function post(mailbox: Mailbox, body: BodyInit): Promise<Response> {
  const headers = { 'X-API-Key': TENANT, 'Content-Type': 'application/json' };
  return mailbox.fetch(new Request(`${mailbox.baseUrl}/v1/webhooks`, { method: 'POST', headers, body }));
}

test('of a long body the journal keeps the first 16 KiB, and of a binary one only the size', async () => {
  const mailbox = createMailbox();
  const long = JSON.stringify({ ...HOOK, url: `http://127.0.0.1:9/${'é'.repeat(10_000)}` });
  for (const body of [long, new Uint8Array([0xff, 0xfe, 0x00])]) await post(mailbox, body);
  const [first, second] = mailbox.requests();
  expect(long.startsWith(first?.request.body ?? '?')).toBe(true);
  expect(new TextEncoder().encode(first?.request.body ?? '').byteLength).toBeGreaterThan(16 * 1024 - 2);
  expect(first?.request.bodyBytes).toBe(new TextEncoder().encode(long).byteLength);
  expect(second?.request).toMatchObject({ body: null, bodyBytes: 3 });
});

test('a body that is too large is not kept', async () => {
  const mailbox = createMailbox();
  const body = 'x'.repeat(1024 * 1024 + 1);
  await post(mailbox, body);
  expect(mailbox.requests()).toMatchObject([{ status: 413, request: { body: null, bodyBytes: null } }]);
});

test('control calls are not in the journal', async () => {
  await using server = await startServer({ port: 0 });
  await sendControl(`${server.control}/requests`, 'GET');
  await sendControl(`${server.control}/reset`, 'POST');
  expect(server.mailbox.requests()).toEqual([]);
});

test('the journal of a deleted tenant is removed', async () => {
  const mailbox = createMailbox();
  const send = senderTo(mailbox);
  const tenant = await send('POST', '/v1/tenants', { key: mailbox.keys.operator, json: { name: 'Initech' } });
  await send('GET', '/v1/webhooks', { key: tenant.json.apiKey });
  await send('DELETE', `/v1/tenants/${tenant.json.id}`, { key: mailbox.keys.operator });
  expect(mailbox.requests().map(({ operation }) => operation)).toEqual(['createTenant', 'deleteTenant']);
});

test('format=summary lists requests without what they and their replies carried', async () => {
  await using server = await startServer({ port: 0 });
  const headers = { 'X-API-Key': server.mailbox.keys.acme.tenant };
  for (const path of ['me', 'inboxes/unknown']) await fetch(`${server.url}/v1/${path}?q=secret`, { headers });
  const { json } = await sendControl(`${server.control}/requests?format=summary&after=req_1`, 'GET');
  const expected = server.mailbox.requests().map(({ request: _, reply: __, ...summary }) => summary);
  expect(expected).toHaveLength(2);
  expect(json).toEqual({ requests: expected.slice(1) });
  expect(server.mailbox.requestSummaries()).toEqual(expected);
});

test('format=har gives a document in HAR 1.2', async () => {
  await using server = await startServer({ port: 0 });
  const json = { subject: 'Hello' };
  await sendControl(`${server.control}/health`, 'GET');
  await senderTo(server.mailbox)('POST', '/v1/nothing?q=a%20b', { key: TENANT, json });
  await senderTo(server.mailbox)('GET', '/v1/webhooks', { key: TENANT });
  const { json: har } = await sendControl(`${server.control}/requests?format=har&status=404`, 'GET');
  const [request] = server.mailbox.requests();
  expect(har.log).toMatchObject({ version: '1.2', creator: { name: 'agent-mailbox-mock' } });
  expect(har.log.entries).toEqual([
    {
      startedDateTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      time: request?.durationMs,
      request: {
        method: 'POST',
        url: 'https://mailbox.test/v1/nothing?q=a+b',
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: expect.arrayContaining([{ name: 'x-api-key', value: 'tk_acme_…' }]),
        queryString: [{ name: 'q', value: 'a b' }],
        headersSize: -1,
        bodySize: expect.any(Number),
      },
      response: {
        status: 404,
        statusText: '',
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: expect.arrayContaining([{ name: 'content-type', value: 'application/json' }]),
        content: { size: request?.reply.bodyBytes, mimeType: 'application/json', text: request?.reply.body },
        redirectURL: '',
        headersSize: -1,
        bodySize: request?.reply.bodyBytes,
      },
      cache: {},
      timings: { send: 0, wait: request?.durationMs, receive: 0 },
      comment: expect.stringMatching(/^req_1/),
    },
  ]);
});

everywhere('a header is kept up to 4,096 characters, and cut beyond', async ({ mailbox, send }) => {
  await send('GET', '/v1/health', { headers: { 'X-One': 'a'.repeat(4_096), 'X-Two': 'b'.repeat(4_097) } });
  const { headers } = mailbox.requests().at(-1)?.request ?? {};
  expect([headers?.['x-one']?.length, headers?.['x-two']?.length]).toEqual([4_096, 4_096]);
});
