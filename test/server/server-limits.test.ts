import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, Server, Socket } from 'node:net';
import { type ServerOptions, startServer } from 'agent-mailbox-mock/server';
import { afterAll, beforeAll, expect, type TestContext, test, vi } from 'vitest';
import { buildMailbox } from '../../src/mailbox/mailbox.ts';
import { Intake } from '../../src/server/intake.ts';
import { findClientToEnd } from '../../src/server/mail/client-limits.ts';
import { createOutgoingFetch, createReceiverRules } from '../../src/server/outgoing-fetch.ts';
import { LIMITS, memoryForClients } from '../../src/server/server-limits.ts';
import { WorkQueue } from '../../src/server/work-queue.ts';
import { callReceiver } from '../../src/service/delivery/call-receiver.ts';
import { MAX_RECORDS_BYTES, memoryForRecords } from '../../src/world/environment.ts';
import { startCalling } from '../support/deliveries.ts';
import { eventually } from '../support/eventually.ts';
import { loginOf } from '../support/imap-server.ts';
import { exchange, request } from '../support/raw-http.ts';
import { serve } from '../support/serve.ts';
import { frameOf, KEY, openRawStream } from '../support/served-streams.ts';
import { createOutput, fill, openConnections } from '../support/slow-clients.ts';

const LITTLE_MEMORY = { memory: () => ({ heapBytes: 0, allBytes: 0 }) };
const ALL_MEMORY = { memory: () => ({ heapBytes: Number.POSITIVE_INFINITY, allBytes: Number.POSITIVE_INFINITY }) };

/** Resolves with the result of a function as soon as the result is no longer false or undefined. */
function until<Result>(look: () => Result | false | undefined): Promise<Result> {
  return eventually(() => {
    const result = look();
    if (result === false || result === undefined) throw new Error(`This has not happened: ${look}`);
    return result;
  });
}

/** The servers that listen, by their port, each with the sockets of its clients. */
const servers = new Map<number, { readonly server: Server; readonly sockets: Socket[] }>();
const { listen } = Server.prototype;

beforeAll(() => {
  Server.prototype.listen = function (this: Server, ...args: unknown[]) {
    const sockets: Socket[] = [];
    this.on('connection', (socket: Socket) => sockets.push(socket));
    this.on('listening', () => servers.set((this.address() as AddressInfo).port, { server: this, sockets }));
    return Reflect.apply(listen, this, args);
  };
});
afterAll(() => {
  Server.prototype.listen = listen;
});

/** Resolves with the socket of the server at a port that belongs to the socket of a client. */
function socketOf(port: number, client: Socket): Promise<Socket> {
  return until(() => servers.get(port)?.sockets.find(({ remotePort }) => remotePort === client.localPort));
}

/** Starts a server with every protocol, whose timers run when the probe says so. */
async function start(context: TestContext, options: ServerOptions = {}) {
  const timers = new Set<{ readonly delayMs: number; readonly callback: () => void }>();
  const setTimer = (delayMs: number, callback: () => void) => {
    const timer = { delayMs, callback };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const server = await startServer({ port: 0, smtpPort: 0, imapPort: 0, environment: { setTimer }, ...options });
  context.onTestFinished(() => server.close());
  const ports = { http: server.port, smtp: server.smtp?.port ?? 0, imap: server.imap?.port ?? 0 };
  const { user, password } = loginOf(server);
  const open = async (protocol: keyof typeof ports) => {
    const socket = connect(ports[protocol], '127.0.0.1');
    context.onTestFinished(() => void socket.destroy());
    let received = '';
    let isOver = false;
    socket
      .on('error', () => {})
      .on('close', () => {
        isOver = true;
      });
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    await once(socket, protocol === 'http' ? 'connect' : 'data');
    const client = {
      socket,
      received: () => received,
      isOver: () => isOver,
      /** Sends bytes, and resolves with what came last when the reply matches. */
      async say(bytes: string, reply: RegExp) {
        received = '';
        socket.write(bytes, 'latin1');
        await until(() => reply.test(received));
        return received;
      },
      /** Resolves with the last line when the server has ended the connection. */
      async end() {
        await until(() => isOver || socket.readableEnded);
        return received.trimEnd().split('\r\n').at(-1) ?? '';
      },
      /** The socket of the server. */
      serverSide: () => socketOf(ports[protocol], socket),
      /** Resolves when the server has read everything that was sent. */
      async isRead() {
        const side = await client.serverSide();
        await until(() => side.bytesRead === socket.bytesWritten);
        for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      },
    };
    return client;
  };
  return {
    server,
    open,
    httpServer: () => servers.get(ports.http)?.server as HttpServer,
    async logIn() {
      const client = await open('imap');
      await client.say(`l LOGIN ${user} "${password}"\r\n`, /^l OK/m);
      return client;
    },
    async startMail() {
      const client = await open('smtp');
      for (const line of ['EHLO x', 'MAIL FROM:<a@b.test>', 'RCPT TO:<helpdesk@acme.test>']) {
        await client.say(`${line}\r\n`, /^250 .*\r\n$/m);
      }
      return client;
    },
    /** Runs the timers that wait for this time. */
    pass(delayMs: number) {
      for (const timer of [...timers].filter((each) => each.delayMs === delayMs && timers.delete(each)))
        timer.callback();
    },
  };
}

type Probe = (context: TestContext) => Promise<void> | void;

/** For each limit: what goes up to it and is let through, and then beyond it and is stopped. */
const PROBES: { readonly [Name in keyof typeof LIMITS]: Probe } = {
  share() {
    const intake = new Intake(LITTLE_MEMORY);
    const room = memoryForClients(LITTLE_MEMORY);
    const dropped: string[] = [];
    const counter = (client: string) =>
      intake.createCounter({ client: [client], onDropped: () => dropped.push(client) });
    const [greedy, fair, other] = [counter('greedy'), counter('fair'), counter('other')];
    expect(greedy.add(room - room * LIMITS.share.value)).toBeUndefined();
    expect(fair.add(room * LIMITS.share.value)).toBeUndefined();
    expect(fair.add(1)?.code).toBe('STORAGE_FULL');
    expect([other.add(1), dropped]).toEqual([undefined, ['greedy']]);
  },
  undisturbed() {
    let nowMs = 0;
    const intake = new Intake(LITTLE_MEMORY, () => nowMs);
    const counter = () => intake.createCounter({ client: ['one'], onDropped: () => {} });
    counter().add(memoryForClients(LITTLE_MEMORY));
    nowMs = LIMITS.undisturbed.value;
    const next = counter();
    expect(next.add(1)?.code).toBe('STORAGE_FULL');
    nowMs += 1;
    expect(next.add(1)).toBeUndefined();
  },
  uncountedBody() {
    const intake = new Intake(LITTLE_MEMORY);
    const body = (async function* () {})();
    const count = (bytes: number) => intake.countBody(body, bytes, {} as never, () => []);
    expect([count(LIMITS.uncountedBody.value) === body, count(LIMITS.uncountedBody.value + 1) === body]).toEqual([
      true,
      false,
    ]);
  },
  async stalled() {
    await using opened = await openConnections(1);
    const socket = opened.connections[0]?.socket as Socket;
    const { output, check } = createOutput({ checkMs: LIMITS.stalled.value / 3 });
    await fill(socket, 1024 * 1024);
    output.written(socket, 'test');
    for (let count = 0; count < 3; count += 1) check();
    expect(socket.destroyed).toBe(false);
    check();
    expect(socket.destroyed).toBe(true);
  },
  async socket(context) {
    const { open } = await start(context);
    for (const protocol of ['http', 'smtp', 'imap'] as const) {
      const side = await (await open(protocol)).serverSide();
      expect(side.writableHighWaterMark, protocol).toBe(LIMITS.socket.value);
    }
  },
  async turn() {
    let nowMs = 0;
    let isOver = false;
    let steps = 0;
    setImmediate(() => {
      isOver = true;
    });
    const work = (function* (): Generator<undefined, void, undefined> {
      while (!isOver) {
        nowMs += 1;
        steps += 1;
        yield undefined;
      }
    })();
    await new WorkQueue(() => nowMs).run(work as never, () => false);
    expect(steps).toBe(LIMITS.turn.value);
  },
  async httpRequest(context) {
    const { requestTimeout, headersTimeout } = (await start(context)).httpServer();
    expect([requestTimeout, headersTimeout]).toEqual([LIMITS.httpRequest.value, LIMITS.httpRequest.value]);
  },
  async httpIdle(context) {
    expect((await start(context)).httpServer().keepAliveTimeout).toBe(LIMITS.httpIdle.value);
  },
  async httpEnd(context) {
    const { server } = await start(context);
    const client = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    context.onTestFinished(() => void client.destroy());
    await once(client, 'connect');
    const side = await socketOf(server.port, client);
    const startedAt = performance.now();
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    client.resume();
    await once(client, 'end');
    // The client has got the end of the server, and sends none of its own. A busy machine can only be later.
    await until(() => side.destroyed);
    expect(Math.ceil(performance.now() - startedAt)).toBeGreaterThanOrEqual(LIMITS.httpEnd.value);
  },
  async httpBody(context) {
    const { server } = await start(context);
    const post = async (bytes: number) => {
      const text = request('POST /v1/webhooks', [KEY, `Content-Length: ${bytes}`], 'x'.repeat(bytes));
      return (await exchange(server, text)).status;
    };
    expect([await post(LIMITS.httpBody.value), await post(LIMITS.httpBody.value + 1)]).toEqual([400, 413]);
  },
  mailConnections() {
    const places = (count: number, inboxId?: string) =>
      Array.from({ length: count }, () => ({ inboxId, isSendingMail: false }));
    const full = places(LIMITS.mailConnections.value);
    expect(findClientToEnd(full)).toBeUndefined();
    expect(findClientToEnd([...full, ...places(1)])).toBe(full[0]);
    const fairly = Array.from({ length: LIMITS.mailConnections.value }, (_, index) => places(1, `${index % 4}`)).flat();
    const [latest] = places(1);
    expect(findClientToEnd([...fairly, latest as never])).toBe(latest);
    const greedily = [...fairly.slice(1), ...places(1, '2')];
    expect(findClientToEnd([...greedily, latest as never])).toBe(greedily.find(({ inboxId }) => inboxId === '2'));
    const sending = full.map((client) => ({ ...client, isSendingMail: true }));
    expect(findClientToEnd([...sending, latest as never])).toBe(latest);
  },
  async mailLogin(context) {
    const { open, logIn, startMail, pass } = await start(context);
    const clients = [await open('smtp'), await open('imap')];
    const others = [await startMail(), await logIn()];
    pass(LIMITS.mailLogin.value);
    expect([await clients[0]?.end(), await clients[1]?.end()]).toEqual([
      '421 4.7.0 You neither logged in nor named a recipient within a minute.',
      '* BYE You did not log in within a minute.',
    ]);
    expect(others.map((other) => other.isOver())).toEqual([false, false]);
  },
  async wrongLogins(context) {
    const { open } = await start(context);
    const smtp = await open('smtp');
    await smtp.say('EHLO x\r\n', /^250 /m);
    const plain = Buffer.from('\0helpdesk@acme.test\0wrong').toString('base64');
    smtp.socket.write(`AUTH PLAIN ${plain}\r\n`.repeat(2 * LIMITS.wrongLogins.value));
    expect(await smtp.end()).toMatch(/^421 /);
    expect(smtp.received().match(/^535 /gm)).toHaveLength(LIMITS.wrongLogins.value);
    const imap = await open('imap');
    imap.socket.write('a LOGIN helpdesk@acme.test wrong\r\n'.repeat(2 * LIMITS.wrongLogins.value));
    expect(await imap.end()).toMatch(/^\* BYE /);
    expect(imap.received().match(/^a NO /gm)).toHaveLength(LIMITS.wrongLogins.value);
  },
  async arrival(context) {
    const { startMail, logIn, pass } = await start(context);
    const [smtp, imap] = [await startMail(), await logIn()];
    await imap.say('a APPEND INBOX {10}\r\n', /^\+ /m);
    for (let ms = LIMITS.paceInterval.value; ms < LIMITS.arrival.value; ms += LIMITS.paceInterval.value) {
      pass(LIMITS.paceInterval.value);
    }
    expect([smtp.isOver(), imap.isOver()]).toEqual([false, false]);
    pass(LIMITS.paceInterval.value);
    pass(LIMITS.arrival.value);
    expect([await smtp.end(), await imap.end()]).toEqual([
      '421 4.7.0 A mail must arrive within 5 minutes.',
      '* BYE The command took too long to arrive.',
    ]);
  },
  pace: probePace,
  paceInterval: probePace,
  async mailBytes(context) {
    const { open, logIn } = await start(context);
    const smtp = await open('smtp');
    await smtp.say('EHLO x\r\n', /^250 /m);
    const tooMuch = await smtp.say(`MAIL FROM:<a@b.test> SIZE=${LIMITS.mailBytes.value + 1}\r\n`, /\r\n/);
    expect(tooMuch).toMatch(/^552 /);
    await smtp.say(`MAIL FROM:<a@b.test> SIZE=${LIMITS.mailBytes.value}\r\n`, /^250 /m);
    await smtp.say('RCPT TO:<helpdesk@acme.test>\r\nDATA\r\n', /^354 /m);
    // The line break before the dot belongs to the mail.
    await smtp.say(`${`${'x'.repeat(998)}\r\n`.repeat(LIMITS.mailBytes.value / 1000 + 1)}.\r\n`, /^552 /m);
    const imap = await logIn();
    await imap.say(`a APPEND INBOX {${LIMITS.mailBytes.value + 1}}\r\n`, /^a NO \[TOOBIG\]/m);
    await imap.say(`b APPEND INBOX {${LIMITS.mailBytes.value}}\r\n`, /^\+ /m);
  },
  async smtpIdle(context) {
    const client = await (await start(context)).startMail();
    const side = await client.serverSide();
    expect(side.timeout).toBe(LIMITS.smtpIdle.value);
    side.emit('timeout');
    expect(await client.end()).toMatch(/^421 /);
  },
  async smtpUnhurried(context) {
    const { startMail, pass } = await start(context);
    const [slow, other] = [await startMail(), await startMail()];
    for (const client of [slow, other]) await client.say('DATA\r\n', /^354 /m);
    // Until then, nobody looks at the pace.
    pass(LIMITS.paceInterval.value);
    pass(LIMITS.smtpUnhurried.value);
    expect(await other.say('Subject: Hi\r\n\r\nx\r\n.\r\n', /^250 /m)).toBeTruthy();
    expect(slow.isOver()).toBe(false);
    pass(LIMITS.paceInterval.value);
    expect(await slow.end()).toBe('421 4.7.0 The mail arrives too slowly.');
  },
  async smtpRecipients(context) {
    const { open } = await start(context);
    const client = await open('smtp');
    await client.say('EHLO x\r\n', /^250 /m);
    await client.say('MAIL FROM:<a@b.test>\r\n', /^250 /m);
    for (let count = 0; count < LIMITS.smtpRecipients.value; count += 1) {
      await client.say(`RCPT TO:<helpdesk+${count}@acme.test>\r\n`, /^250 /m);
    }
    await client.say('RCPT TO:<billing@acme.test>\r\n', /^452 /m);
  },
  async imapIdle(context) {
    const client = await (await start(context)).logIn();
    const side = await client.serverSide();
    await until(() => side.timeout === LIMITS.imapIdle.value);
    side.emit('timeout');
    expect(await client.end()).toBe('* BYE You were silent for too long.');
  },
  async imapGrace(context) {
    const { logIn, pass } = await start(context);
    const client = await logIn();
    const side = await client.serverSide();
    client.socket.allowHalfOpen = true;
    await client.say('a LOGOUT\r\n', /^a OK/m);
    expect(side.destroyed).toBe(false);
    pass(LIMITS.imapGrace.value);
    expect(side.destroyed).toBe(true);
  },
  async imapCommand(context) {
    const client = await (await start(context)).logIn();
    await client.say('s SELECT INBOX\r\n', /^s OK/m);
    const search = (bytes: number) => `${`a SEARCH SUBJECT "${'x'.repeat(bytes)}`.slice(0, bytes - 3)}"\r\n`;
    await client.say(search(LIMITS.imapCommand.value), /^a OK/m);
    await client.say(search(LIMITS.imapCommand.value + 1), /^a BAD The command is too long/m);
  },
  async imapSmallCommand(context) {
    const client = await (await start(context)).open('imap');
    const logIn = (bytes: number) => `${`a LOGIN x "${'x'.repeat(bytes)}`.slice(0, bytes - 3)}"\r\n`;
    await client.say(logIn(LIMITS.imapSmallCommand.value), /^a NO /m);
    await client.say(logIn(LIMITS.imapSmallCommand.value + 1), /^a BAD The command is too long/m);
  },
  async imapWrongCommands(context) {
    const client = await (await start(context)).open('imap');
    client.socket.write('a WRONG\r\n'.repeat(2 * LIMITS.imapWrongCommands.value));
    expect(await client.end()).toBe('* BYE Too many wrong commands.');
    expect(client.received().match(/^a BAD /gm)).toHaveLength(LIMITS.imapWrongCommands.value);
  },
  async imapSearch(context) {
    const { server, logIn } = await start(context);
    const plainBody = 'x'.repeat(256 * 1024);
    await server.mailbox.receiveMessage({ to: loginOf(server).user, from: 'a@customer.test', plainBody });
    const client = await logIn();
    await client.say('s SELECT INBOX\r\n', /^s OK/m);
    // Each of these keys reads the whole text.
    const search = (keys: number) =>
      `a SEARCH ${Array.from({ length: keys }, (_, index) => `NOT BODY ${index}z`).join(' ')}\r\n`;
    const most = LIMITS.imapSearch.value / plainBody.length;
    await client.say(search(most / 2), /^a OK/m);
    await client.say(search(most + 1), /^a NO \[LIMIT\]/m);
  },
  async streamFrame(context) {
    const { server } = await start(context);
    await using connection = await openRawStream(server);
    const frame = (length: number) => frameOf64('{"type":"pong"}'.padEnd(length));
    await connection.send(Buffer.concat([frame(LIMITS.streamFrame.value), frameOf('{"type":"subscribe"}')]));
    await expectReceived(connection.socket, '"type":"subscribed"');
    await connection.send(frame(LIMITS.streamFrame.value + 1));
    await expectReceived(connection.socket, String.fromCharCode(1009 >> 8, 1009 & 0xff));
  },
  async streamFragments(context) {
    const { server } = await start(context);
    await using connection = await openRawStream(server);
    const fragments = (count: number) =>
      Buffer.concat(
        Array.from({ length: count }, (_, index) =>
          frameOf(index === 0 ? '{"type":"subscribe"}' : ' ', {
            opcode: index === 0 ? 1 : 0,
            final: index === count - 1,
          }),
        ),
      );
    await connection.send(fragments(LIMITS.streamFragments.value));
    await expectReceived(connection.socket, '"type":"subscribed"');
    await connection.send(fragments(LIMITS.streamFragments.value + 1));
    await expectReceived(connection.socket, String.fromCharCode(1008 >> 8, 1008 & 0xff));
  },
  streamBuffer() {
    const { admit, mailbox } = buildMailbox({});
    const [name = '', key = ''] = KEY.split(': ');
    const query = new URLSearchParams();
    const accept = admit({ path: '/v1/ws', headers: new Headers({ [name]: key }), query } as never);
    const codes: number[] = [];
    let [bufferedBytes, frames] = [0, 0];
    accept({
      send: () => {
        frames += 1;
      },
      close: (code) => codes.push(code),
      get bufferedBytes() {
        return bufferedBytes;
      },
    }).receive('{"type":"subscribe"}');
    const before = frames;
    bufferedBytes = LIMITS.streamBuffer.value;
    mailbox.trigger('message.received');
    expect([frames > before, codes]).toEqual([true, []]);
    bufferedBytes += 1;
    mailbox.trigger('message.received');
    expect(codes).toEqual([4429]);
  },
  async receiverConnect() {
    // A receiver that accepts a connection, and never begins TLS.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const timeouts = vi.spyOn(Socket.prototype, 'setTimeout');
    const outgoing = createOutgoingFetch(createReceiverRules([]));
    const call = outgoing.fetch(`https://127.0.0.1:${port}/`, {}).catch(({ message }: Error) => message);
    const find = () =>
      timeouts.mock.contexts.find((socket, index) => {
        const [ms] = timeouts.mock.calls[index] ?? [];
        return (socket as Socket).remotePort === port && ms === LIMITS.receiverConnect.value;
      }) as Socket | undefined;
    (await until(find))?.emit('timeout');
    expect(await call).toBe('The receiver did not accept a connection within 10 s.');
    timeouts.mockRestore();
    await outgoing.close();
    silent.close();
  },
  async receiverResponse() {
    let length = LIMITS.receiverResponse.value - 1024;
    await using receiver = await serve((_, response) => void response.end('x'.repeat(length)));
    const outgoing = createOutgoingFetch(createReceiverRules([]));
    const read = () => outgoing.fetch(receiver.url, {}).then((response) => response.text());
    expect((await read()).length).toBe(length);
    length = LIMITS.receiverResponse.value;
    await expect(read()).rejects.toThrow();
    await outgoing.close();
  },
  async receiverBody() {
    const fetch = async () => new Response('x'.repeat(LIMITS.receiverBody.value + 1));
    const request = { url: 'http://127.0.0.1/', headers: {}, body: '' };
    const { responseBody } = await callReceiver({ fetch }, request, new AbortController().signal);
    expect(responseBody.length).toBe(LIMITS.receiverBody.value);
  },
  async deliveryLog() {
    const { mailbox } = await startCalling(async () => new Response(), 200);
    for (let count = 0; count <= LIMITS.deliveryLog.value / 200; count += 1) {
      expect(mailbox.losses().forgotten).toBe(0);
      mailbox.trigger('message.sent');
      await mailbox.settled({ timeout: '25s' });
    }
    expect([mailbox.deliveries().length, mailbox.losses().forgotten]).toEqual([LIMITS.deliveryLog.value, 200]);
  },
  async records() {
    expect([memoryForRecords(ALL_MEMORY), MAX_RECORDS_BYTES]).toEqual([LIMITS.records.value, LIMITS.records.value]);
    // A sixteenth of this heap, 64 KiB, is for each kind of records.
    const memory = () => ({ heapBytes: 1024 * 1024, allBytes: Number.POSITIVE_INFINITY });
    const { mailbox } = await startCalling(async () => new Response('x'.repeat(4_000)), 1, {}, { memory });
    for (let count = 0; count < 40; count += 1) mailbox.trigger('message.sent');
    await mailbox.settled();
    expect(mailbox.losses().forgotten).toBeGreaterThan(0);
    expect(mailbox.journalLosses()).toMatchObject({ attempt: { count: expect.any(Number) } });
  },
};

/** A mail, and a command that takes room, may arrive with just so much in each interval, and not with less. */
async function probePace(context: TestContext): Promise<void> {
  const { startMail, logIn, pass } = await start(context);
  const [smtp, imap] = [await startMail(), await logIn()];
  await smtp.say('DATA\r\n', /^354 /m);
  await imap.say('a APPEND INBOX {1000000}\r\n', /^\+ /m);
  const send = async (bytes: number) => {
    for (const client of [smtp, imap]) {
      client.socket.write('x'.repeat(bytes));
      await client.isRead();
    }
  };
  // The server keeps the last bytes of a mail back until it knows whether they end it, so some come before.
  await send(10);
  pass(LIMITS.smtpUnhurried.value);
  for (let interval = 0; interval < 3; interval += 1) {
    await send(LIMITS.pace.value);
    pass(LIMITS.paceInterval.value);
  }
  expect([smtp.isOver(), imap.isOver()]).toEqual([false, false]);
  await send(LIMITS.pace.value - 1);
  pass(LIMITS.paceInterval.value);
  expect([await smtp.end(), await imap.end()]).toEqual([
    '421 4.7.0 The mail arrives too slowly.',
    '* BYE The command took too long to arrive.',
  ]);
}

/** Writes a text frame of more than 64 KiB. */
function frameOf64(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(payload.length, 6);
  return Buffer.concat([head, payload]);
}

async function expectReceived(socket: Socket, text: string): Promise<void> {
  let received = '';
  const read = (data: Buffer) => {
    received += data.toString('latin1');
  };
  socket.on('data', read);
  await until(() => received.includes(text));
  socket.off('data', read);
}

const ROWS = Object.entries(PROBES);

test.for(ROWS)('the limit %s of the table is enforced, at its value', async ([, probe], context) => {
  await probe(context as TestContext);
});
