import { EventEmitter, once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { PATIENCE_MS } from './patience.ts';

/** A reply as it stood on the wire. */
export interface RawReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; `undefined` if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into replies of every shape.
  readonly json: any;
}

/** A connection that can send invalid HTTP. */
export interface RawConnection extends AsyncDisposable {
  readonly socket: Socket;
  /** Sends bytes as they are; resolves when they have left, which they do only if the server reads. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** The next reply, `100 Continue` too. Rejects when the connection ends before it is whole. */
  reply(options?: { readonly toHead?: boolean }): Promise<RawReply>;
  /** Resolves when either side has closed the connection. */
  over(limitMs?: number): Promise<void>;
}

/** Opens a connection to a server on this machine; a half-open one goes on when the server has ended its side. */
export async function openConnection(
  { port }: { readonly port: number },
  { halfOpen = false }: { readonly halfOpen?: boolean } = {},
): Promise<RawConnection> {
  const socket = connectSocket({ port, host: '127.0.0.1', allowHalfOpen: halfOpen });
  const changes = new EventEmitter();
  let received = Buffer.alloc(0);
  let isOver = false;
  const end = () => {
    isOver = true;
    changes.emit('change');
  };
  socket.on('error', () => {}).on('close', end);
  await once(socket, 'connect');
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    changes.emit('change');
  });

  return {
    socket,
    send: (bytes) =>
      within(new Promise((resolve, reject) => socket.write(bytes, (error) => (error ? reject(error) : resolve())))),
    reply: ({ toHead = false } = {}) =>
      within(
        (async () => {
          for (;;) {
            const parsed = parseReply(received, toHead);
            if (parsed) received = received.subarray(parsed.length);
            if (parsed) return parsed.reply;
            if (isOver) throw new Error(`The connection ended after ${JSON.stringify(received.toString('latin1'))}.`);
            await once(changes, 'change');
          }
        })(),
      ),
    over: (limitMs) =>
      within(
        (async () => {
          while (!isOver) await once(changes, 'change');
        })(),
        limitMs,
      ),
    async [Symbol.asyncDispose]() {
      socket.destroy();
    },
  };
}

/** Sends one request as raw text and returns its reply. */
export async function exchange(
  server: { readonly port: number },
  text: string | Uint8Array,
  options?: { readonly toHead?: boolean },
): Promise<RawReply> {
  await using connection = await openConnection(server);
  await connection.send(text);
  return await connection.reply(options);
}

/** Writes a request with its head's lines as given; `Host` is this machine unless there is one. */
export function request(line: string, headers: readonly string[] = [], body = ''): string {
  const host = headers.some((header) => /^host:/i.test(header)) ? [] : ['Host: localhost'];
  const version = / HTTP\/\d/.test(line) ? '' : ' HTTP/1.1';
  return [`${line}${version}`, ...host, ...headers, '', body].join('\r\n');
}

/** Rejects if the promise hangs: long before the test times out, and long after a healthy call has finished. */
export async function within<Value>(promise: Promise<Value>, limitMs = PATIENCE_MS): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`Nothing happened within ${limitMs} ms.`);
    timer = setTimeout(() => reject(error), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function parseReply(bytes: Buffer, toHead: boolean): { reply: RawReply; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]));
  if (headers.has('transfer-encoding')) throw new Error(`A reply is chunked: ${statusLine}.`);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  const bodyLength = toHead || status < 200 ? 0 : Number(headers.get('content-length') ?? 0);
  const length = headEnd + 4 + bodyLength;
  if (bytes.length < length) return undefined;
  const text = bytes.toString('utf8', headEnd + 4, length);
  return { reply: { status, headers, text, json: text === '' ? undefined : JSON.parse(text) }, length };
}

/** Call once at the top of a test file: fails it on an unhandled error, which no request would show. */
export function watchForCrashes(): void {
  const crashes: unknown[] = [];
  const record = (reason: unknown) => void crashes.push(reason);
  beforeAll(() => {
    process.on('unhandledRejection', record).on('uncaughtException', record);
  });
  afterAll(() => {
    process.off('unhandledRejection', record).off('uncaughtException', record);
    expect(crashes).toEqual([]);
  });
}
