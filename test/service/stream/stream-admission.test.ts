import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { getResponse, http, type WebSocketHandler, ws } from 'msw';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/contract/errors.ts';
import { createHandlers } from '../../../src/mailbox/msw.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { openSocket, provideWebSocket, refusalOf } from '../../support/stream-client.ts';
import { aliasOf, inboxesOf, KEYS, PLACES, refusal } from '../../support/streams.ts';

provideWebSocket();
interceptRequests();

const { acme, globex } = IDS;
const { helpdesk, billing, outreach } = acme.inboxes;

const UNFIT = ['', '?api_key=', '?api_key=x', '?api_key=tk_short', '?api_key=tk_unknown_tenant_key', '?key=tk_1'];

describe('a key', () => {
  everywhere('that is missing, malformed or unknown opens no stream', async (service) => {
    for (const query of UNFIT) expect([query, await refusal(service, query)]).toEqual([query, 401]);
    for (const query of UNFIT) expect(await refusal(service, query, aliasOf(helpdesk))).toBe(401);
  });

  everywhere('that is revoked opens no stream', async (service) => {
    await service.send('POST', `/v1/inboxes/${helpdesk}/keys`, { key: KEYS.acme.tenant });
    expect(await refusal(service, `?api_key=${KEYS.acme.inboxes.helpdesk}`)).toBe(401);
  });

  everywhere('of the operator opens no stream', async (service) => {
    expect(await refusal(service, `?api_key=${KEYS.operator}`)).toBe(403);
    expect(await refusal(service, `?api_key=${KEYS.operator}`, aliasOf(helpdesk))).toBe(403);
  });

  test.for<[title: string, headers: Record<string, string>, query: string, tenantInboxes: readonly string[] | number]>([
    ['X-API-Key', { 'X-API-Key': KEYS.acme.workspaces.sales }, '', [outreach]],
    ['Authorization', { Authorization: `Bearer ${KEYS.acme.workspaces.sales}` }, '', [outreach]],
    ['?api_key=', {}, `?api_key=${KEYS.acme.workspaces.sales}`, [outreach]],
    [
      'X-API-Key before ?api_key=',
      { 'X-API-Key': KEYS.acme.inboxes.billing },
      `?api_key=${KEYS.acme.tenant}`,
      [billing],
    ],
    [
      'Authorization before ?api_key=',
      { Authorization: `bearer ${KEYS.acme.inboxes.billing}` },
      `?api_key=${KEYS.globex.tenant}`,
      [billing],
    ],
    ['a bad header before a good ?api_key=', { 'X-API-Key': 'nonsense' }, `?api_key=${KEYS.acme.tenant}`, 401],
    ['an empty header and a good ?api_key=', { 'X-API-Key': '' }, `?api_key=${KEYS.acme.inboxes.billing}`, [billing]],
    [
      'both headers',
      { 'X-API-Key': KEYS.acme.inboxes.billing, Authorization: `Bearer ${KEYS.acme.tenant}` },
      '',
      [billing],
    ],
  ])('is taken from %s', async ([, headers, query, outcome], { expect }) => {
    await using server = await startServer({ port: 0 });
    const opening = openSocket(`${server.url}/v1/ws${query}`, headers);
    if (typeof outcome === 'number') return expect((await refusalOf(opening)).status).toBe(outcome);
    await using client = await opening;
    await client.subscribe();
    await client.next('subscribed');
    for (const inboxId of PLACES) server.mailbox.trigger('message.received', { inboxId });
    expect(inboxesOf(await client.news())).toEqual(outcome);
  });

  test.for([
    ['authorization', [helpdesk, billing, outreach]],
    ['refuse', 401],
  ] as const)('in both headers counts as auth.both-headers=%s has it', async ([current, outcome], { expect }) => {
    await using server = await startServer({ port: 0, behaviours: { 'auth.both-headers': current } });
    const headers = { 'X-API-Key': KEYS.acme.inboxes.billing, Authorization: `Bearer ${KEYS.acme.tenant}` };
    const opening = openSocket(`${server.url}/v1/ws`, headers);
    if (typeof outcome === 'number') return expect((await refusalOf(opening)).status).toBe(outcome);
    await using client = await opening;
    await client.next('connected');
    await client.subscribe();
    for (const inboxId of PLACES) server.mailbox.trigger('message.received', { inboxId });
    expect(inboxesOf(await client.news())).toEqual(outcome);
  });

  test.for([{}, { 'stream.key': 'header' }] as const)(
    'that is refused over WebSocket receives an error that fits WebSocket clients, under %j',
    async (behaviours, { expect }) => {
      await using server = await startServer({ port: 0, behaviours });
      const basic = { Authorization: 'Basic dGs6' };
      const { json } = await refusalOf(openSocket(`${server.url}/v1/ws?api_key=${KEYS.acme.tenant}x`, basic));
      expect(json.error).not.toContain('for WebSocket connections only');
    },
  );
});

describe('in process', () => {
  test('a stream can be opened below a base URL with a path', ({ expect }) => {
    const mailbox = createMailbox({ baseUrl: 'http://stream.test:8080/deep.er' });
    const path = `/v1/ws?api_key=${KEYS.acme.inboxes.billing}`;
    const sent: string[] = [];
    const accept = mailbox.stream({ url: `ws://stream.test:8080/deep.er${path}`, headers: new Headers() });
    accept({ send: (text) => void sent.push(text), close() {}, bufferedBytes: 0 });
    expect(sent.map((text) => JSON.parse(text).inboxId)).toEqual([billing]);

    const handler = mailbox.handlers.find((each) => 'kind' in each && each.kind === 'websocket') as WebSocketHandler;
    const isServed = (base: string) => handler.test(base + path);
    expect(['ws://stream.test:8080/deep.er', 'http://stream.test:8080/deep.er'].map(isServed)).toEqual([true, true]);
    const elsewhere = ['ws://stream.test:8080', 'ws://stream.test/deep.er', 'ws://stream.test:8080/deepxer', 'wss://x'];
    expect(elsewhere.map(isServed)).toEqual([false, false, false, false]);
  });

  test('the handlers answer ordinary requests to stream paths, which msw cannot tell apart', async ({ expect }) => {
    const { handlers, baseUrl, keys } = createMailbox();
    const headers = { 'X-API-Key': keys.acme.tenant };
    const statuses = ['/v1/webhooks', '/v1/ws', '/health'].map(async (path) => {
      const response = await getResponse(handlers as never, new Request(baseUrl + path, { headers }));
      return response?.status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 426, 200]);
  });
});

describe('a request without an upgrade', () => {
  everywhere('is refused with 426 if its key may open a stream', async (service) => {
    for (const path of ['/v1/ws', aliasOf(helpdesk)]) {
      const reply = await service.send('GET', path, { key: KEYS.acme.inboxes.helpdesk });
      expect([reply.status, reply.json, reply.headers.get('upgrade')]).toEqual([
        426,
        { error: expect.stringContaining('WebSocket'), code: 'UPGRADE_REQUIRED' },
        'websocket',
      ]);
    }
    const byQuery = await service.send('GET', '/v1/ws', { query: { api_key: KEYS.acme.tenant } });
    expect(byQuery.status).toBe(426);
  });

  everywhere('is refused as a stream is if its key may not open one', async (service) => {
    const get = async (path: string, key?: string) => {
      const { status, json } = await service.send('GET', path, key === undefined ? {} : { key });
      return [status, json.code];
    };
    expect(await get('/v1/ws')).toEqual([401, 'UNAUTHORIZED']);
    expect(await get('/v1/ws', KEYS.operator)).toEqual([403, 'FORBIDDEN']);
    expect(await get(aliasOf(globex.inboxes.info), KEYS.acme.tenant)).toEqual([404, 'NOT_FOUND']);
  });

  everywhere('names the assumptions in its refusal, as any reply does', async (service) => {
    const { headers } = await service.send('GET', aliasOf(globex.inboxes.info), { key: KEYS.acme.tenant });
    expect(headers.get('x-mock-assumed')).toContain('errors.foreign-resource');
  });

  everywhere('by another method is refused with Allow: GET', async (service) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await service.send(method, '/v1/ws', { key: KEYS.acme.tenant });
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET, HEAD, OPTIONS']);
    }
    expect((await service.send('HEAD', '/v1/ws', { key: KEYS.acme.tenant })).status).toBe(426);
    const { status, headers } = await service.send('OPTIONS', '/v1/ws');
    expect([status, headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });

  everywhere('to a path that is not a stream is refused with 404', async (service) => {
    for (const path of ['/v1/ws/x', '/v1/ws/', '/v1/wss', '/v1/inboxes/ws', `/v1/inboxes/${helpdesk}/ws/x`]) {
      expect((await service.send('GET', path, { key: KEYS.acme.tenant })).status).toBe(404);
    }
  });
});

describe('in process, a refused stream', () => {
  test('has the events of a refused upgrade, with the sentence of the HTTP reply', async ({ expect }) => {
    const mailbox = createMailbox({ baseUrl: 'https://refusing.test' });
    for (const key of ['tk_short', 'tk_unknown_tenant_key', KEYS.operator]) {
      const reply = await mailbox.fetch('https://refusing.test/v1/ws', { headers: { 'X-API-Key': key } });
      const { error } = await reply.json();
      const events = await connect(mailbox.handlers, `wss://refusing.test/v1/ws?api_key=${key}`);
      expect(events).toEqual([
        ['close', 4000 + reply.status, error],
        ['error', error],
      ]);
    }
  });

  test('has a reason of at most 123 bytes and of whole characters', async ({ expect }) => {
    for (const start of ['', 'x', 'xx', 'xxx']) {
      const message = `${start}${'📬'.repeat(40)}`;
      const refuseAll = () => {
        throw new ApiError('NOT_FOUND', message);
      };
      const parts = { fetch: async () => Response.error(), connect: refuseAll, report: refuseAll };
      const events = await connect(
        createHandlers({ http, ws }, 'https://refusing.test', parts),
        'wss://refusing.test/v1/ws',
      );
      const [[, code, reason] = [], error] = events;
      expect([code, error]).toEqual([4404, ['error', message]]);
      expect(Buffer.byteLength(String(reason))).toBeGreaterThanOrEqual(120);
      expect(Buffer.byteLength(String(reason))).toBeLessThanOrEqual(123);
      expect(reason).toMatch(/^x*📬+…$/u);
    }
  });
});

/** Opens a connection as msw does, and returns what the client gets. `close` is dispatched later, after `error`. */
async function connect(handlers: Mailbox['handlers'], url: string): Promise<unknown[][]> {
  const events: unknown[][] = [];
  const socket = new EventTarget();
  socket.addEventListener('error', (event) => events.push(['error', (event as ErrorEvent).message]));
  const client = {
    url: new URL(url),
    socket,
    close: (code: number, reason: string) => events.push(['close', code, reason]),
    addEventListener: () => undefined,
  };
  const streams = handlers.filter((handler) => !('resolver' in handler)) as WebSocketHandler[];
  for (const handler of streams)
    await handler.run({ client, server: new EventTarget(), info: { protocols: [] } } as never);
  return events;
}
