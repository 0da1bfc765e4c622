import { EventEmitter, once } from 'node:events';
import { startServer } from 'agent-mailbox-mock/server';
import { HttpResponse, http, passthrough, ws } from 'msw';
import { expect, test } from 'vitest';
import { buildMailbox } from '../../../src/mailbox/mailbox.ts';
import { createHttpServer } from '../../../src/server/http/http-server.ts';
import { createUserHandlers } from '../../../src/server/http/user-handlers.ts';
import { WaitingOutput } from '../../../src/server/waiting-output.ts';
import { createBareApp } from '../../support/bare-app.ts';
import { exchange, openConnection, request, watchForCrashes, within } from '../../support/raw-http.ts';

watchForCrashes();

const KEY = 'X-API-Key: tk_acme_tenant_key';
const JSON_TYPE = 'Content-Type: application/json';

/** Starts a server with handlers and collects failures instead of printing them. */
async function startWith(
  handlers: NonNullable<Parameters<typeof startServer>[0]>['handlers'],
  corsOrigins: string[] = [],
) {
  const reported: unknown[] = [];
  const environment = { report: (error: unknown) => void reported.push(error) };
  const server = await startServer({ port: 0, environment, corsOrigins, ...(handlers && { handlers }) });
  return Object.assign(server, { reported });
}

test("a user's handler adds a route", async () => {
  await using server = await startWith([http.get('/weather/:city', ({ params }) => HttpResponse.json(params))]);
  const reply = await exchange(server, request('GET /weather/Oslo'));
  expect([reply.status, reply.json]).toEqual([200, { city: 'Oslo' }]);
});

test('the mailbox of a server has no msw handlers, and says so', async () => {
  await using server = await startWith(undefined);
  expect(() => server.mailbox.handlers).toThrow('This mailbox has no msw handlers');
});

test("a user's handler replaces an operation, and the others stay", async () => {
  await using server = await startWith([http.get('/v1/webhooks', () => HttpResponse.json({ replaced: true }))]);
  const replaced = await exchange(server, request('GET /v1/webhooks', [KEY]));
  const inboxes = await exchange(server, request('GET /v1/inboxes', [KEY]));
  expect([replaced.json, inboxes.json.inboxes.length > 0]).toEqual([{ replaced: true }, true]);
});

test('a function of handlers gets the mailbox of the server', async () => {
  await using server = await startWith(({ keys }) => [http.get('/key', () => HttpResponse.json(keys.acme.tenant))]);
  expect((await exchange(server, request('GET /key'))).json).toBe(server.mailbox.keys.acme.tenant);
});

test.for([
  ['without handlers', []],
  ['after a handler that passes it through', [http.all('/v1/*', () => passthrough())]],
  [
    'a handler that reads the body and answers nothing',
    [http.all('/v1/*', async ({ request: sent }) => void (await sent.text()))],
  ],
  ['a handler that cancels the body', [http.all('/v1/*', ({ request: sent }) => void sent.body?.cancel())]],
] as const)('a body reaches the emulator completely %s', async ([, handlers]) => {
  await using server = await startWith(handlers);
  const json = JSON.stringify({ url: 'https://agent.example/é', events: ['message.received'] });
  const headers = [KEY, JSON_TYPE, `Content-Length: ${Buffer.byteLength(json)}`];
  const reply = await exchange(server, request('POST /v1/webhooks', headers, json));
  expect([reply.status, reply.json.url ?? reply.json.webhook.url]).toEqual([201, 'https://agent.example/é']);
});

test('a chunked body reaches a handler', async () => {
  await using server = await startWith([
    http.post('/echo', async ({ request: sent }) => HttpResponse.json(await sent.text())),
  ]);
  const reply = await exchange(
    server,
    request('POST /echo', ['Transfer-Encoding: chunked'], '2\r\nab\r\n1\r\nc\r\n0\r\n\r\n'),
  );
  expect(reply.json).toBe('abc');
});

test('a body of more than 16 MiB is refused before a handler gets it', async () => {
  await using server = await startWith([http.post('/echo', () => HttpResponse.json({}))]);
  const reply = await exchange(server, request('POST /echo', [`Content-Length: ${16 * 1024 * 1024 + 1}`]));
  expect([reply.status, reply.json.error]).toEqual([413, 'The body is larger than 16 MiB.']);
});

test('a handler that throws results in a 500 with an explanation, and is reported', async () => {
  const cause = new Error('Mine.');
  await using server = await startWith([
    http.get('/v1/webhooks', () => {
      throw cause;
    }),
  ]);
  const reply = await exchange(server, request('GET /v1/webhooks', [KEY]));
  expect([reply.status, reply.json.error]).toEqual([
    500,
    'A handler of this server threw an error, which is printed to its stderr.',
  ]);
  expect(server.reported).toEqual([cause]);
});

test('a handler that returns a network error closes the connection', async () => {
  await using server = await startWith([http.get('/cut', () => HttpResponse.error())]);
  await using connection = await openConnection(server);
  await connection.send(request('GET /cut'));
  await connection.over();
  await expect(connection.reply()).rejects.toThrow('The connection ended after "".');
  expect(server.reported).toEqual([]);
});

test('a handler whose stream fails closes the connection, and is reported', async () => {
  const cause = new Error('Dry.');
  const body = () => new ReadableStream({ pull: (controller) => controller.error(cause) });
  await using server = await startWith([http.get('/stream', () => new HttpResponse(body()))]);
  await using connection = await openConnection(server);
  await connection.send(request('GET /stream'));
  await connection.over();
  expect(server.reported).toEqual([cause]);
  expect((await exchange(server, request('GET /health'))).status).toBe(200);
});

test.for(['GET', 'POST'])(
  'a %s that a reset overtakes in a handler is refused, and changes nothing',
  async (method) => {
    const events = new EventEmitter();
    await using server = await startWith([
      http.all('/v1/webhooks', async () => {
        events.emit('arrived');
        await once(events, 'released');
      }),
    ]);
    const arrived = once(events, 'arrived');
    const json = JSON.stringify({ url: 'https://agent.example/in', events: ['message.received'] });
    const body = method === 'GET' ? [] : [JSON_TYPE, `Content-Length: ${json.length}`];
    const reply = exchange(server, request(`${method} /v1/webhooks`, [KEY, ...body], method === 'GET' ? '' : json));
    await arrived;
    server.mailbox.reset();
    const before = server.mailbox.snapshot();
    events.emit('released');
    expect((await reply).json.error).toMatch(/reset/);
    expect(server.mailbox.snapshot()).toEqual(before);
  },
);

test('a client that does not read the reply of a handler is disconnected', async () => {
  const internals = buildMailbox({});
  const { environment } = internals;
  const piece = new Uint8Array(64 * 1024);
  const events = new EventEmitter();
  const cancelled = once(events, 'cancelled');
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => controller.enqueue(piece);
  const endless = () => new ReadableStream({ pull, cancel: () => void events.emit('cancelled') });
  const handlers = [http.get('/endless', () => new HttpResponse(endless()))];
  const { app } = createBareApp(internals, {
    userHandlers: createUserHandlers(handlers, environment.report),
    output: new WaitingOutput(environment, undefined, { stalledMs: 100, checkMs: 20 }),
  });
  const listener = createHttpServer(app);
  const port = await listener.listen(0, '127.0.0.1');
  await using connection = await openConnection({ port });
  connection.socket.pause();
  await connection.send(request('GET /endless'));
  await within(cancelled);
  await listener.close();
});

test('timers of a user that fire at once do not repeat the checks of a connection for ever', async () => {
  let calls = 0;
  const setTimer = (_: number, callback: () => void) => {
    calls += 1;
    // So that a failure is a failure, and not a process that never ends.
    if (calls < 1_000) queueMicrotask(callback);
    return () => {};
  };
  await using server = await startServer({
    port: 0,
    environment: { setTimer },
    handlers: [http.get('/own', () => HttpResponse.json({}))],
  });
  await using connection = await openConnection(server);
  await connection.send(request('GET /own', ['Connection: keep-alive']));
  expect((await connection.reply()).json).toEqual({});
  expect(calls).toBeLessThan(10);
});

test('guards run before handlers, and no handler runs before the control plane', async () => {
  let calls = 0;
  await using server = await startWith([
    http.all(/^/, () => {
      calls += 1;
      return HttpResponse.json({});
    }),
  ]);
  const foreign = await exchange(server, request('GET /v1/webhooks', ['Host: elsewhere.example']));
  const control = await exchange(server, request('GET /__mock/health'));
  expect([foreign.json.code, control.json.status, calls]).toEqual(['HOST_NOT_ALLOWED', 'ok', 0]);
});

test('pages of allowed origins may call the routes that a handler adds', async () => {
  await using server = await startWith([http.get('/weather', () => HttpResponse.json({}))], ['https://app.example']);
  const reply = await exchange(server, request('GET /weather', ['Origin: https://app.example']));
  expect(reply.headers.get('access-control-allow-origin')).toBe('https://app.example');
});

test('a path that begins with two slashes is a path, not another host', async () => {
  const seen: string[] = [];
  await using server = await startWith([http.all(/^/, ({ request: sent }) => void seen.push(sent.url))]);
  await exchange(server, request('GET //other.example/v1/webhooks?a=%20+b', [KEY]));
  expect(seen).toEqual(['http://localhost//other.example/v1/webhooks?a=%20+b']);
});

test.for([
  ['no list', 'handlers', 'The option handlers must be a list, or a function that returns a list, not a string.'],
  ['something else', [{}], 'The option handlers takes http and graphql handlers of msw, and handlers[0] is neither.'],
  [
    'a WebSocket handler',
    [ws.link('ws://localhost/chat').addEventListener('connection', () => {})],
    'The option handlers takes http and graphql handlers of msw, and handlers[0] is neither.',
  ],
] as const)('%s instead of handlers is refused', async ([, handlers, message]) => {
  await expect(startServer({ port: 0, handlers: handlers as never })).rejects.toThrow(new TypeError(message));
});
