import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createMailbox } from 'agent-mailbox-mock';
import { expect, type TestContext, test } from 'vitest';
import { loginOf } from '../support/imap-server.ts';
import { talkTo } from '../support/imap-talk.ts';
import { startCommand } from '../support/processes.ts';
import { request } from '../support/raw-http.ts';
import { send } from '../support/send.ts';
import { frameOf, upgrade } from '../support/served-streams.ts';
import { KEYS } from '../support/streams.ts';

const MIB = 1024 * 1024;

const READ_LIMIT = "require('node:v8').getHeapStatistics().heap_size_limit";

/** Gives a process a heap of 256 MB. */
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };

/** The room for what is arriving in such a process: half of the memory for mail, which is a quarter of the heap. */
const ROOM = Number(execFileSync(process.execPath, ['-p', READ_LIMIT], { env: { ...process.env, ...SMALL_HEAP } })) / 8;

/** The size of what others send meanwhile. */
const USUAL = 400_000;

const mailbox = createMailbox();
const { acme, globex } = KEYS;

/** Starts a server with a heap of 256 MB. Its ports are those of the protocols. */
async function startSmall(context: TestContext) {
  const { running, ready } = await startCommand(
    context,
    ['--imap-port', '0', '--smtp-port', '0', '--quiet'],
    SMALL_HEAP,
  );
  const imap = Number(running.stdout.match(/"imap":\{"port":(\d+)\}/)?.[1]);
  return { ...ready, ports: { http: ready.port, smtp: ready.smtp?.port ?? 0, imap, stream: ready.port } };
}

type Small = Awaited<ReturnType<typeof startSmall>>;

/** The login of a client: an inbox with its key. */
const INBOXES = [
  { ...loginOf({ mailbox }, 'helpdesk'), key: acme.inboxes.helpdesk },
  { ...loginOf({ mailbox }, 'billing'), key: acme.inboxes.billing },
  { ...loginOf({ mailbox }, 'outreach'), key: acme.inboxes.outreach },
  { ...loginOf({ mailbox }, 'info'), key: globex.inboxes.info },
];
type Inbox = (typeof INBOXES)[number];

/** How a client begins to send something large that it never ends. */
interface Attack {
  readonly protocol: keyof Small['ports'];
  /** How much a connection sends at most. */
  readonly maxBytes: number;
  /** What is sent before, with the reply that is awaited after each text. */
  readonly begin: (inbox: Inbox | undefined) => readonly (readonly [text: string, reply?: RegExp])[];
  /** Writes a piece of what is sent. */
  readonly write?: (piece: Buffer) => Buffer;
}

const post = (path: string, inbox: Inbox | undefined, header: string) => {
  const key = inbox ? [`X-API-Key: ${inbox.key}`] : [];
  return [[request(`POST ${path}`, [...key, 'Content-Type: application/json', header])]] as const;
};
const toChunk = (piece: Buffer) =>
  Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
const plain = ({ user, password }: Inbox) => Buffer.from(`\0${user}\0${password}`).toString('base64');

const ATTACKS: Readonly<Record<string, Attack>> = {
  'IMAP APPEND': {
    protocol: 'imap',
    maxBytes: 10 * MIB - 64 * 1024,
    begin: (inbox = INBOXES[0] as Inbox) => [
      [`l LOGIN ${inbox.user} "${inbox.password}"\r\n`, /^l OK/m],
      [`a APPEND INBOX {${10 * MIB}}\r\n`, /^\+ /m],
    ],
  },
  'SMTP DATA': {
    protocol: 'smtp',
    maxBytes: 10 * MIB - 64 * 1024,
    begin: (inbox) => [
      ['', /^220 /m],
      ['EHLO x\r\n', /^250 /m],
      ...(inbox ? ([[`AUTH PLAIN ${plain(inbox)}\r\n`, /^235 /m]] as const) : []),
      [`MAIL FROM:<${inbox?.user ?? 'a@b.test'}>\r\nRCPT TO:<helpdesk@acme.test>\r\nDATA\r\n`, /^354 /m],
    ],
  },
  'an API call with its length': {
    protocol: 'http',
    maxBytes: MIB - 64 * 1024,
    begin: (inbox) => post('/v1/webhooks', inbox, `Content-Length: ${MIB}`),
  },
  'an API call in chunks': {
    protocol: 'http',
    maxBytes: MIB - 64 * 1024,
    begin: (inbox) => post('/v1/webhooks', inbox, 'Transfer-Encoding: chunked'),
    write: toChunk,
  },
  'an MCP message': {
    protocol: 'http',
    maxBytes: MIB - 64 * 1024,
    begin: (inbox) => post('/mcp', inbox, `Content-Length: ${MIB}`),
  },
  'a control call': {
    protocol: 'http',
    maxBytes: 20 * MIB - 64 * 1024,
    begin: () => post('/__mock/messages', undefined, `Content-Length: ${20 * MIB}`),
  },
  'a WebSocket frame': {
    protocol: 'stream',
    maxBytes: 60 * 1024,
    begin: (inbox = INBOXES[0] as Inbox) => [
      [request('GET /v1/ws', [`X-API-Key: ${inbox.key}`, ...upgrade()]), /^HTTP\/1.1 101 /],
      [
        frameOf('x'.repeat(62 * 1024))
          .toString('latin1')
          .slice(0, 100),
      ],
    ],
  },
};

/** Each attack by clients without a login, by one login, and by several; some protocols cannot send without. */
const ROWS = Object.keys(ATTACKS).flatMap((name) => {
  const needsLogin = ['IMAP APPEND', 'a WebSocket frame'].includes(name);
  const logins = name === 'a control call' ? [0] : [0, 1, INBOXES.length];
  return logins.filter((count) => count > 0 || !needsLogin).map((count) => [name, count] as const);
});

/** A connection that waits for what it has received. */
async function openConnection(context: TestContext, port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  context.onTestFinished(() => void socket.destroy());
  let received = '';
  let wake = () => {};
  socket.on('data', (data) => {
    received += data;
    wake();
  });
  socket.on('close', () => wake()).on('drain', () => wake());
  const untilEvent = () => new Promise<void>((resolve) => (wake = resolve));
  await once(socket, 'connect');
  return {
    socket,
    /** Sends a text, and resolves with the reply when it matches. */
    async send(text: string, reply: RegExp): Promise<string> {
      received = '';
      if (text !== '') socket.write(text, 'latin1');
      while (!reply.test(received)) {
        if (socket.destroyed) throw new Error(`The connection has ended after ${JSON.stringify(received)}.`);
        await untilEvent();
      }
      return received.trimEnd();
    },
    /** Writes bytes as fast as the server reads them. */
    async write(bytes: Buffer): Promise<void> {
      socket.write(bytes);
      while (socket.writableNeedDrain && !socket.destroyed) await untilEvent();
    },
  };
}

/** Opens a connection that keeps what it has sent, and goes on to send a little now and then. */
async function open(
  context: TestContext,
  { ports }: Small,
  attack: Attack,
  { bytes, inbox }: { bytes: number; inbox: Inbox | undefined },
): Promise<void> {
  const connection = await openConnection(context, ports[attack.protocol]);
  for (const [text, reply = /^/] of attack.begin(inbox)) await connection.send(text, reply);
  const { write = (piece: Buffer) => piece } = attack;
  const piece = write(Buffer.from(`${'x'.repeat(1_022)}\r\n`.repeat(16)));
  for (let sent = 0; sent < bytes; sent += 16 * 1024) await connection.write(piece);
  const drip = setInterval(() => connection.socket.write(write(Buffer.from('x'))), 500);
  connection.socket.once('close', () => clearInterval(drip));
}

/** Keeps this much room by as few connections as possible, and then what is left by small pieces. */
async function hold(context: TestContext, small: Small, name: string, logins: number, room = ROOM): Promise<void> {
  const attack = ATTACKS[name] as Attack;
  const count = Math.ceil(room / attack.maxBytes);
  const sizes = Array.from({ length: count + 16 }, (_, at) => {
    return at < count ? Math.floor((room - MIB) / count) : Math.min(attack.maxBytes, 96 * 1024);
  });
  const openNext = async (at: number): Promise<void> => {
    const bytes = sizes[at];
    if (bytes === undefined) return;
    await open(context, small, attack, { bytes, inbox: logins === 0 ? undefined : INBOXES[at % logins] });
    await openNext(at + 8);
  };
  await Promise.all(Array.from({ length: 8 }, (_, at) => openNext(at)));
}

/** What others send meanwhile, by the client that they are: each resolves with whether it was accepted. */
const OTHERS: Readonly<Record<string, (small: Small, context: TestContext) => Promise<boolean>>> = {
  'smtp without a login': async ({ ports }, context) => {
    const text = `Subject: x\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(USUAL / 1_000)}`;
    const replies = await talk(context, ports.smtp, [
      'EHLO x',
      'MAIL FROM:<a@b.test>',
      'RCPT TO:<helpdesk@acme.test>',
      'DATA',
      `${text}.`,
    ]);
    return replies.startsWith('250 ');
  },
  control: async ({ control }) => {
    const mail = { to: 'helpdesk@acme.test', from: 'a@b.test', plainBody: 'x'.repeat(USUAL) };
    return (await send(`${control}/messages`, 'POST', { json: mail })).status === 200;
  },
  'the API': async ({ url }) => {
    const webhook = { url: 'http://127.0.0.1:9/', events: ['message.received'], pad: 'x'.repeat(USUAL) };
    return (await send(`${url}/v1/webhooks`, 'POST', { key: acme.tenant, json: webhook })).status === 201;
  },
  MCP: async ({ url }) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'ping', params: { pad: 'x'.repeat(USUAL) } };
    return (await send(`${url}/mcp`, 'POST', { key: globex.tenant, json: message })).status === 200;
  },
  IMAP: async ({ ports }) => {
    using session = await talkTo(ports.imap);
    const { user, password } = INBOXES[3] as Inbox;
    await session.ok(`LOGIN ${user} "${password}"`);
    const { result } = await session.command('APPEND INBOX', Buffer.from(`Subject: x\r\n\r\n${'x'.repeat(USUAL)}`));
    return result.startsWith('OK');
  },
};

/** Sends lines over SMTP, each after the reply to the one before; returns the last reply. */
async function talk(context: TestContext, port: number, lines: readonly string[]): Promise<string> {
  const connection = await openConnection(context, port);
  let reply = await connection.send('', SMTP_REPLY);
  for (const line of lines) reply = await connection.send(`${line}\r\n`, SMTP_REPLY);
  connection.socket.destroy();
  return reply;
}

/** The last line of a reply of SMTP. */
const SMTP_REPLY = /^\d{3} .*\r\n$/m;

/** Sends again until it is accepted, as a client does that was told to try again later. */
async function untilAccepted(send: () => Promise<boolean>): Promise<void> {
  // A refusal of HTTP may come before the whole body was sent, and then the client may see only that the connection ends.
  while (!(await send().catch(() => false))) await new Promise((resolve) => setImmediate(resolve));
}

test.for(ROWS)('%s of %i logins that never ends does not keep others out', async ([name, logins], context) => {
  const small = await startSmall(context);
  await hold(context, small, name, logins);
  for (const [client, sendOther] of Object.entries(OTHERS)) {
    const isSame =
      logins === 0 ? { 'SMTP DATA': 'smtp without a login', 'a control call': 'control' }[name] === client : logins > 1;
    // Only one that is the same client, as far as can be known, waits until what began ten seconds ago gives up its room.
    if (isSame) await untilAccepted(() => sendOther(small, context));
    else expect(await sendOther(small, context), client).toBe(true);
  }
});

test('all attacks together do not keep others out', async (context) => {
  const small = await startSmall(context);
  for (const [name, logins] of ROWS) await hold(context, small, name, logins, ROOM / 4);
  for (const sendOther of Object.values(OTHERS)) await untilAccepted(() => sendOther(small, context));
});

test('one client may send as many large mails at once as there is room for', async (context) => {
  const small = await startSmall(context);
  const text = `Subject: x\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(9_500)}`;
  const lines = ['EHLO x', 'MAIL FROM:<a@b.test>', 'RCPT TO:<helpdesk@acme.test>', 'DATA', `${text}.`];
  const replies = await Promise.all(Array.from({ length: 3 }, () => talk(context, small.ports.smtp, lines)));
  expect(replies.map((reply) => reply.slice(0, 4))).toEqual(['250 ', '250 ', '250 ']);
});
