import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { HttpResponse, http } from 'msw';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests, type Service, send } from '../support/everywhere.ts';
import { askForFault, listFaults, setFault } from '../support/faults.ts';
import { IDS } from '../support/ids.ts';

interceptRequests();

const { helpdesk } = IDS.acme.inboxes;

/** Sends a request whose reply may be outside of the contract. */
function call({ url, mailbox }: Service, method = 'GET', path = '/v1/webhooks', options = {}) {
  return send(url + path, method, { key: mailbox.keys.acme.tenant, ...options });
}

const MAIL = { to: 'dana@customer.test', subject: 'Order', plainBody: 'Thanks', verified: true };

const sendMail = (service: Service) => call(service, 'POST', `/v1/inboxes/${helpdesk}/send`, { json: MAIL });

/** How many messages helpdesk has sent. */
const countSent = ({ mailbox }: Service) =>
  mailbox
    .snapshot()
    .tenants[0]?.messages.filter(({ inboxId, direction }) => inboxId === helpdesk && direction === 'outbound').length ??
  0;

everywhere('a request fault happens after some requests, as many times as it is set to', async (service) => {
  const fault = await setFault(service, { on: 'request', status: 503, after: 1, times: 2 });
  expect(fault).toMatchObject({ on: 'request', kind: 'reply', effect: 'none', after: 1, times: 2, tenantId: null });
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await call(service)).status);
  expect(statuses).toEqual([200, 503, 503, 200]);
  expect(await listFaults(service)).toEqual([]);
});

test('the journal says which fault refused a request or cut its connection', async () => {
  const mailbox = createMailbox({ faults: [{ on: 'request', status: 503, times: 1 }] });
  const ask = () => mailbox.fetch(new Request(`${mailbox.baseUrl}/v1/me`, { headers }));
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
  await ask();
  mailbox.addFault({ on: 'request', cut: true });
  await expect(ask()).rejects.toThrow();
  expect(mailbox.requests().map(({ reason, faults: [id] }) => reason?.replace(String(id), 'ID'))).toEqual([
    'The fault ID replied with 503.',
    'The fault ID cut the connection.',
  ]);
});

everywhere('a fault with a status replies with an error of the service, and is named in a header', async (service) => {
  const { id } = await setFault(service, { on: 'request', status: 504, times: 1 });
  const { status, json, headers } = await call(service);
  expect([status, json]).toEqual([504, { error: 'A fault of the emulator replied with 504.', code: 'HTTP_504' }]);
  expect(headers.get('x-mock-fault')).toBe(`reply ${id}`);
  expect((await call(service)).headers.has('x-mock-fault')).toBe(false);
});

everywhere('a fault with a known status has the code of that status', async (service) => {
  await setFault(service, { on: 'request', status: 409 });
  expect((await call(service)).json.code).toBe('CONFLICT');
});

everywhere(
  'a fault replies with an error without a code, if errors have none',
  { behaviours: { 'errors.shape': 'error-only' } },
  async (service) => {
    await setFault(service, { on: 'request', status: 500 });
    expect((await call(service)).json).toEqual({ error: 'A fault of the emulator replied with 500.' });
  },
);

everywhere('a fault replaces the body by JSON or by text, and adds headers', async (service) => {
  await setFault(service, {
    on: 'request',
    status: 502,
    body: '<h1>Bad</h1>',
    headers: { 'Content-Type': 'text/html' },
  });
  const page = await call(service);
  expect([page.status, page.text, page.headers.get('content-type')]).toEqual([502, '<h1>Bad</h1>', 'text/html']);
  await setFault(service, { on: 'request', body: { webhooks: 'none' } });
  const json = await call(service);
  expect([json.status, json.json]).toEqual([200, { webhooks: 'none' }]);
  await setFault(service, { on: 'request', headers: { 'X-Request-Id': 'r1' } });
  const own = await call(service);
  expect([own.status, own.headers.get('x-request-id'), Object.keys(own.json)]).toEqual([200, 'r1', ['webhooks']]);
  await setFault(service, { on: 'request', status: 204 });
  const empty = await call(service);
  expect([empty.status, empty.text]).toEqual([204, '']);
});

everywhere('a status alone keeps the operation from running, and with effect applied it runs', async (service) => {
  const before = countSent(service);
  await setFault(service, { on: 'request', status: 500 });
  expect([(await sendMail(service)).status, countSent(service)]).toEqual([500, before]);
  await setFault(service, { on: 'request', status: 500, effect: 'applied' });
  expect([(await sendMail(service)).status, countSent(service)]).toEqual([500, before + 1]);
});

everywhere('a cut is a network error, and with effect applied only the reply is lost', async (service) => {
  const before = countSent(service);
  await setFault(service, { on: 'request', cut: true });
  await expect(sendMail(service)).rejects.toThrow(TypeError);
  expect(countSent(service)).toBe(before);
  expect(await setFault(service, { on: 'request', cut: true, effect: 'applied' })).toMatchObject({ kind: 'cut' });
  await expect(sendMail(service)).rejects.toThrow(TypeError);
  expect(countSent(service)).toBe(before + 1);
  expect((await sendMail(service)).status).toBe(200);
});

test('mailbox.fetch rejects with a TypeError if the connection is cut', async () => {
  const mailbox = createMailbox({ faults: [{ on: 'request', cut: true }] });
  const request = () => new Request('https://mailbox.test/health');
  await expect(mailbox.fetch(request())).rejects.toThrow(new TypeError('A fault cut the connection before the reply.'));
  expect((await mailbox.fetch(request())).status).toBe(200);
});

everywhere('a fault applies only to the operation, the key, the tier and the tenant that it names', async (service) => {
  const { keys } = service.mailbox;
  const { support } = keys.acme.workspaces;
  await setFault(service, { on: 'request', operation: 'listWebhooks', status: 501 });
  await setFault(service, { on: 'request', tier: 'inbox', status: 502 });
  const byKey = await setFault(service, { on: 'request', key: support, status: 503 });
  await setFault(service, { on: 'request', tenant: IDS.globex.tenant, status: 504 });
  expect(byKey).toMatchObject({ tenantId: IDS.acme.tenant, key: support });
  const statusOf = async (key: string, path = '/v1/me') => (await call(service, 'GET', path, { key })).status;
  expect(await statusOf(keys.acme.tenant)).toBe(200);
  expect(await statusOf(keys.globex.tenant)).toBe(504);
  expect(await statusOf(support)).toBe(503);
  expect(await statusOf(keys.acme.inboxes.billing)).toBe(502);
  expect(await statusOf(keys.acme.tenant, '/v1/webhooks')).toBe(501);
  expect(await listFaults(service)).toEqual([]);
});

everywhere(
  'of several faults, the one with more conditions decides, and the older before the newer',
  async (service) => {
    const [any, tenant, newer] = [
      await setFault(service, { on: 'request', status: 500 }),
      await setFault(service, { on: 'request', tenant: IDS.acme.tenant, status: 501 }),
      await setFault(service, { on: 'request', operation: 'listWebhooks', status: 502 }),
    ];
    const both = await setFault(service, {
      on: 'request',
      tenant: IDS.acme.tenant,
      operation: 'listWebhooks',
      status: 503,
    });
    const named: (string | null)[] = [];
    for (let count = 0; count < 4; count += 1) named.push((await call(service)).headers.get('x-mock-fault'));
    expect(named).toEqual([both, tenant, newer, any].map(({ id }) => `reply ${id}`));
  },
);

everywhere('a request without a valid key meets no fault, and a public operation does', async (service) => {
  await setFault(service, { on: 'request', status: 503 });
  expect((await call(service, 'GET', '/v1/webhooks', { key: 'tk_unknown_key' })).status).toBe(401);
  expect((await call(service, 'GET', '/v1/nothing')).status).toBe(404);
  expect((await call(service, 'GET', '/health', { key: undefined })).status).toBe(503);
});

everywhere('a reply to HEAD has the status of the fault and no body', async (service) => {
  await setFault(service, { on: 'request', status: 503 });
  const { status, text, headers } = await call(service, 'HEAD');
  expect([status, text, headers.has('x-mock-fault')]).toEqual([503, '', true]);
});

/** An environment whose timers fire at once, and whose random numbers are the largest; it notes the delays. */
function createFastEnvironment() {
  const delays: number[] = [];
  return {
    delays,
    randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)).fill(255, 0, 4),
    setTimer(delayMs: number, callback: () => void) {
      delays.push(delayMs);
      queueMicrotask(callback);
      return () => {};
    },
  };
}

const fast = createFastEnvironment();

everywhere(
  'a latency waits in real time, jitter included, also with another fault',
  { environment: fast },
  async (service) => {
    service.mailbox.clock.freeze();
    const slow = await setFault(service, { on: 'request', latency: { ms: 700, jitterMs: 20 }, times: 2 });
    const { status, headers } = await call(service);
    expect([status, headers.get('x-mock-fault')]).toEqual([200, `latency ${slow.id}`]);
    expect(fast.delays).toContain(720);
    const broken = await setFault(service, { on: 'request', status: 503, latency: { ms: 10 } });
    const both = await call(service);
    expect([both.status, both.headers.get('x-mock-fault')]).toEqual([503, `reply ${broken.id}, latency ${slow.id}`]);
    expect(fast.delays).toContain(730);
  },
);

everywhere('a reset ends the wait of a reply, which then says so', async (service) => {
  const before = countSent(service);
  await setFault(service, { on: 'request', latency: { ms: 600_000 } });
  const reply = sendMail(service);
  // The operation runs at once; only its reply waits.
  await expect.poll(() => countSent(service)).toBe(before + 1);
  service.mailbox.reset();
  expect((await reply).json).toMatchObject({ code: 'SERVER_UNAVAILABLE' });
});

test('a server that closes ends the wait of a reply', async () => {
  const server = await startServer({ port: 0, faults: [{ on: 'request', latency: { ms: 600_000 } }] });
  const reply = send(`${server.url}/health`, 'GET', {});
  await expect.poll(() => server.mailbox.faults()).toEqual([]);
  await server.close();
  expect((await reply).status).toBe(200);
});

test('the faults of the start are set again by a reset', async () => {
  const mailbox = createMailbox({
    faults: [
      { on: 'request', status: 503 },
      { on: 'delivery', kind: 'drop', times: 2 },
    ],
  });
  const start = mailbox.faults();
  expect(start.map(({ on, times }) => [on, times])).toEqual([
    ['request', 1],
    ['delivery', 2],
  ]);
  expect((await mailbox.fetch(new Request('https://mailbox.test/health'))).status).toBe(503);
  mailbox.addFault({ on: 'smtp' });
  mailbox.reset();
  expect(mailbox.faults()).toEqual(start);
});

test.for([
  [[{ on: 'request', status: 503 }, { on: 'request' }], 'An option is not valid: faults[1] must have one of status,'],
  [[{ on: 'request', statuss: 503 }], 'faults[0] has unknown fields: "statuss" (did you mean status?)'],
  [[{ on: 'delivery', kind: 'drop', tenant: IDS.nobody }], 'The option faults[0]: There is no tenant with this id.'],
  ['all', 'An option is not valid: faults must be a list of faults.'],
] as const)('a mailbox does not start with the faults %j', ([faults, said]) => {
  expect(() => createMailbox({ faults: faults as never })).toThrow(said);
});

const DID_YOU_MEAN = 'operation must be the id of an operation; did you mean sendMessage?';
const STATUS = 'status must be a whole number from 200 to 599.';

everywhere('an invalid request fault is refused with what would be right', async (service) => {
  for (const [options, said, status = 400] of [
    [{}, 'The fault is not valid: must have one of status, body, headers, latency, cut, rateLimit.'],
    [{ status: 503, operation: 'sendMesage' }, DID_YOU_MEAN],
    [{ status: 503, operation: 7 }, 'operation must be the id of an operation, such as listWebhooks.'],
    [{ status: 503, tier: 'root' }, 'tier must be one of operator, tenant, workspace, inbox.'],
    [{ status: 503, key: 'secret' }, 'key must be an API key, such as tk_acme_tenant_key.'],
    [{ status: 503, key: 'tk_unknown_key' }, 'There is no such key.', 404],
    [{ status: 503, key: 'tk_globex_tenant_key', tenant: IDS.acme.tenant }, 'There is no such key.', 404],
    [{ status: 101 }, STATUS],
    [{ status: '503' }, STATUS],
    [{ cut: false }, 'cut must be true.'],
    [{ cut: true, status: 503 }, 'status must not be combined with cut.'],
    [{ status: 204, body: 'x' }, 'body must not be combined with the status 204, which has no body.'],
    [{ body: 'x', effect: 'none' }, 'effect must be applied if the fault has neither status nor cut.'],
    [{ status: 503, effect: 'half' }, 'effect must be one of applied, none.'],
    [{ headers: { 'Content-Length': '1' } }, 'must have header names that a reply may set, such as x-request-id.'],
    [{ headers: { 'x y': '1' } }, 'must have header names that a reply may set, such as x-request-id.'],
    [{ headers: { 'x-a': '1\r\nx-b: 2' } }, 'headers.x-a must be one line of printable ASCII characters.'],
    [{ headers: 'x-a: 1' }, 'headers must be an object of headers.'],
    [{ latency: 5 }, 'latency must be an object with ms.'],
    [{ latency: { ms: -1 } }, 'latency.ms must be a whole number of milliseconds from 0 to 600000.'],
    [{ latency: { ms: 1, unit: 's' } }, 'latency has unknown fields: "unit".'],
    [{ rateLimit: { limit: 1, per: '0s' } }, 'rateLimit.per must be longer than 0.'],
    [{ rateLimit: { limit: 1, per: 'soon' } }, 'rateLimit.per must be milliseconds or a text such as 5m'],
    [{ rateLimit: { limit: -1, per: '1m' } }, 'rateLimit.limit must be a whole number from 0 to 1000000.'],
    [{ rateLimit: { limit: 1, per: '1m' }, times: 2 }, 'times must not be combined with rateLimit.'],
  ] as const) {
    const refused = await askForFault(service, { on: 'request', ...options });
    const title = JSON.stringify(options);
    expect([refused.status, refused.json.error], title).toEqual([status, expect.stringContaining(said)]);
    expect(refused.json.error, title).toMatch(/^[^\n]+[.?]$/);
  }
  expect(await listFaults(service)).toEqual([]);
});

test('a body that is not JSON is refused', () => {
  const circular: unknown[] = [];
  circular.push(circular);
  const nest = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  for (const body of [circular, () => {}, 1n, nest(101), nest(100_000)]) {
    expect(() => createMailbox().addFault({ on: 'request', body })).toThrow(
      'body must be text or a value that JSON can express, nested at most 100 levels deep',
    );
  }
  expect(createMailbox().addFault({ on: 'request', body: nest(100) })).toMatchObject({ body: nest(100) });
});

test('a fault also happens behind handlers of the user', async () => {
  const handlers = [http.get('/v1/weather', () => HttpResponse.json({ sky: 'clear' }))];
  const faults = [
    { on: 'request', cut: true },
    { on: 'request', status: 503 },
  ] as const;
  await using server = await startServer({ port: 0, handlers, faults });
  const health = () => send(`${server.url}/health`, 'GET', {});
  await expect(health()).rejects.toThrow(TypeError);
  expect((await health()).status).toBe(503);
  expect((await send(`${server.url}/v1/weather`, 'GET', {})).json).toEqual({ sky: 'clear' });
});

test('pages may read the headers of a fault', async () => {
  await using server = await startServer({ port: 0, faults: [{ on: 'request', status: 503 }] });
  const headers = { Origin: 'http://localhost:5173' };
  const reply = await send(`${server.url}/v1/me`, 'GET', { key: server.mailbox.keys.acme.tenant, headers });
  expect(reply.status).toBe(503);
  expect(reply.headers.get('access-control-expose-headers')).toMatch(/\bx-mock-fault\b.*\bRetry-After\b/);
});
