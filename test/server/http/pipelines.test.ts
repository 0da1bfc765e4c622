import { createReceiver } from 'agent-mailbox-mock/receiver';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { exchange, openConnection, request, watchForCrashes, within } from '../../support/raw-http.ts';

watchForCrashes();

const KEY = 'X-API-Key: tk_acme_tenant_key';
const FOREIGN = 'Host: x';
const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
const HANDSHAKE = [...WEBSOCKET, `Sec-WebSocket-Key: ${'A'.repeat(22)}==`];
/** Requests that would take seconds if all of them ran at once. */
const MANY = request('GET /__mock/openapi.json').repeat(200);
const PREFLIGHT = ['Origin: http://localhost', 'Access-Control-Request-Method: GET'];

describe('requests that are sent at once', () => {
  test.for<[string, string, string, number[]]>([
    ['a foreign Host', request('GET /', [FOREIGN]), request('CONNECT a:1'), [403, 405]],
    ['a wrong method', request('TRACE /'), request('CONNECT a:1'), [405, 405]],
    ['a preflight', request('OPTIONS /v1/webhooks', PREFLIGHT), request('CONNECT a:1'), [204, 405]],
    ['a good request', request('GET /health'), request('CONNECT a:1'), [200, 405]],
    ['a foreign Host', request('GET /', [FOREIGN]), request('GET /v1/ws', HANDSHAKE), [403, 401]],
    ['a foreign Host', request('GET /', [FOREIGN]), request('GET /health', WEBSOCKET), [403, 200]],
    [
      'a foreign Host',
      request('GET /', [FOREIGN]),
      request('GET /health', ['Connection: Upgrade', 'Upgrade: h2c']),
      [403, 200],
    ],
    ['a tunnel', request('CONNECT a:1'), request('CONNECT b:2'), [405]],
    [
      'many refused requests',
      request('GET /', [FOREIGN]).repeat(50),
      request('CONNECT a:1'),
      [...Array(50).fill(403), 405],
    ],
    [
      'a body that is not awaited',
      request('POST /unknown', ['Content-Length: 2'], '{}'),
      request('CONNECT a:1'),
      [404, 405],
    ],
  ])('get their replies in order: one with %s, then others', async ([, first, second, statuses], { expect }) => {
    await using server = await startServer({ port: 0 });
    await using connection = await openConnection(server);
    await connection.send(first + second);
    for (const status of statuses) expect((await connection.reply()).status).toBe(status);
    expect((await exchange(server, request('GET /health'))).status).toBe(200);
  });

  test('get no body in the refusal of a HEAD whose method came in an earlier packet', async () => {
    await using server = await startServer({ port: 0 });
    await using connection = await openConnection(server);
    await connection.send(`${request('GET /health')}HEAD /health HTTP/1.1\r\nX-Large: a`);
    expect((await connection.reply()).status).toBe(200);
    await connection.send(`${'a'.repeat(20_000)}\r\n\r\n`);
    expect((await connection.reply({ toHead: true })).status).toBe(431);
    await connection.over();
    await expect(connection.reply()).rejects.toThrow('The connection ended after "".');
  });

  test('open a stream after one that is refused in the same packet', async () => {
    await using server = await startServer({ port: 0 });
    await using connection = await openConnection(server);
    await connection.send(request('GET /', [FOREIGN]) + request('GET /v1/ws', [...HANDSHAKE, KEY]));
    expect((await connection.reply()).status).toBe(403);
    expect((await connection.reply()).status).toBe(101);
  });

  test('open a stream after several queued ones, which then receives the frames of its client', async () => {
    await using server = await startServer({ port: 0 });
    await using connection = await openConnection(server);
    await connection.send(request('GET /health').repeat(3) + request('GET /v1/ws', [...HANDSHAKE, KEY]));
    for (const status of [200, 200, 200, 101]) expect((await connection.reply()).status).toBe(status);
    connection.socket.end();
    await connection.over();
  });

  test('get complete replies for a client that reads late, even a large one before a tunnel', async () => {
    await using server = await startServer({ port: 0 });
    const text = JSON.stringify('x'.repeat(5 * 1024 * 1024));
    const mail = { to: 'helpdesk@acme.test', from: 'a@b.test', attachments: [{ filename: 'large.json', text }] };
    const [received] = await server.mailbox.receiveMessage(mail);
    const { attachments = [] } = server.mailbox.snapshot().tenants[0] ?? {};
    const id = attachments.find(({ messageId }) => messageId === received?.id)?.id;
    const path = `/v1/inboxes/${received?.inboxId}/messages/${received?.id}/attachments/${id}`;
    await using connection = await openConnection(server);
    connection.socket.pause();
    await connection.send(request(`GET ${path}`, [KEY]) + request('CONNECT a:1'));
    await exchange(server, request('GET /health'));
    connection.socket.resume();
    expect((await connection.reply()).text.length).toBe(text.length);
    expect((await connection.reply()).status).toBe(405);
    await connection.over();
  });

  test('run one after the other, and no longer once their client has disconnected', async () => {
    const lines: string[] = [];
    await using server = await startServer({ port: 0, log: (line) => lines.push(line) });
    await using receiver = createReceiver({ answers: ['timeout'] });
    const webhook = JSON.stringify({ url: await receiver.listen(), events: ['message.received'] });
    await exchange(server, request('POST /v1/webhooks', [KEY, `Content-Length: ${webhook.length}`], webhook));
    server.mailbox.trigger('message.received');
    const before = server.mailbox.snapshot();
    await using connection = await openConnection(server);
    const wait = '{"timeout":"2s"}';
    await connection.send(
      request('POST /__mock/settle', [`Content-Length: ${wait.length}`], wait) +
        request('DELETE /v1/webhooks/ac3e0000-0005-4000-8000-000000000001', [KEY]).repeat(2),
    );
    await exchange(server, request('GET /health'));
    connection.socket.resetAndDestroy();
    await eventually(() => expect(lines.some((line) => line.includes('/__mock/settle'))).toBe(true));
    await exchange(server, request('GET /health'));
    expect(server.mailbox.snapshot()).toEqual(before);
  });

  test('do not block other connections', async () => {
    await using server = await startServer({ port: 0 });
    const inbox = '/v1/inboxes/ac3e0000-0003-4000-8000-000000000001';
    const draft = request(`POST ${inbox}/drafts`, [KEY, 'Content-Length: 2'], '{}');
    const drafts = () => server.mailbox.snapshot().tenants[0]?.drafts.length ?? 0;
    const before = drafts();
    await using many = await openConnection(server);
    await using one = await openConnection(server);
    await many.send(draft.repeat(200));
    await one.send(request('GET /health'));
    expect((await one.reply()).status).toBe(200);
    expect(drafts() - before).toBeLessThan(100);
    for (let count = 0; count < 200; count += 1) expect((await many.reply()).status).toBe(201);
    expect(drafts() - before).toBe(200);
  });

  test('do not keep close() from ending', async () => {
    await using server = await startServer({ port: 0 });
    await using connection = await openConnection(server);
    await connection.send(MANY);
    await connection.reply();
    await within(server.close());
    await connection.over();
  });
});
