import { EventEmitter, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import Ajv from 'ajv/dist/2020.js';
import { WebSocket as UndiciWebSocket } from 'undici';
import { WebSocket as WsSocket } from 'ws';
import { parseBehaviours } from '../../src/contract/behaviours.ts';
import { createAsyncApi } from '../../src/contract/openapi/create-asyncapi.ts';
import { within } from './raw-http.ts';

/** A frame of the service, with all its fields. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into frames of every shape.
export type Frame = Readonly<Record<string, any>>;

/** How a connection ended. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** The response to a stream request that was not upgraded. */
export interface Refused {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: as it is in `Reply`.
  readonly json: any;
}

/** A client of an event stream that records every frame. */
export interface StreamClient extends AsyncDisposable {
  /** Every frame so far. */
  readonly frames: readonly Frame[];
  /** The next frame, or the next one of a type; those before it are passed over. */
  next(type?: string): Promise<Frame>;
  /** What has come since the last look. Asks something and waits for the answer, behind which nothing older can come. */
  news(): Promise<Frame[]>;
  /** Sends a text or bytes as they are, and anything else as JSON. */
  send(data: unknown): void;
  /** Subscribes to the wanted events, and returns the reply. */
  subscribe(wanted?: Frame): Promise<Frame>;
  readonly closed: Promise<Closed>;
  close(code?: number): void;
}

const ajv = new Ajv.default({ validateFormats: false });

/** What checks the frames of each type, for each value of the behaviour that they depend on. */
const CHECKS = (['with-id', 'reference'] as const).map((value) => {
  const { components } = createAsyncApi(parseBehaviours({ 'stream.event.message': value }));
  const messages = components.messages as Record<string, { payload: object }>;
  return new Map(Object.entries(messages).map(([type, { payload }]) => [type, ajv.compile(payload)]));
});

/** Returns a frame that is valid under the AsyncAPI document. */
function checkFrame(frame: Frame): Frame {
  if (CHECKS.some((checks) => checks.get(frame.type)?.(frame))) return frame;
  throw new Error(`A frame breaks the AsyncAPI document: ${JSON.stringify(frame)}`);
}

/** The common part of both kinds of socket. */
interface Wire {
  send(data: string | Uint8Array): void;
  close(code?: number): void;
}

/** No key reaches this inbox: after the error reply to it, a client knows that every earlier frame has arrived. */
const QUESTION = { type: 'subscribe', inbox_ids: ['question'] };

const isAnswer = ({ type, message }: Frame) => type === 'error' && message.includes('inbox question');

function collect(wire: Wire, dispose: () => void) {
  const frames: Frame[] = [];
  const changes = new EventEmitter().setMaxListeners(0);
  let read = 0;
  let end: Closed | undefined;

  async function wait<Found>(what: string, find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (end && what !== 'the end') {
        throw new Error(`The stream ended with ${end.code} before ${what}, after ${JSON.stringify(frames)}.`);
      }
      await within(once(changes, 'change')).catch(() => {
        throw new Error(`Waited in vain for ${what}, after ${JSON.stringify(frames).slice(0, 2000)}.`);
      });
    }
  }

  const find = (what: string, isWanted: (frame: Frame) => boolean) =>
    wait(what, () => {
      while (read < frames.length) {
        const frame = frames[read] as Frame;
        read += 1;
        if (isWanted(frame)) return frame;
      }
      return undefined;
    });

  const next = (type?: string) => find(`a frame ${type ?? ''}`.trim(), (frame) => (type ?? frame.type) === frame.type);

  const client: StreamClient = {
    frames,
    next,
    async news() {
      const asked = read;
      client.send(QUESTION);
      await find('the answer to a question', isAnswer);
      return frames.slice(asked, read - 1);
    },
    send: (data) => wire.send(typeof data === 'string' || data instanceof Uint8Array ? data : JSON.stringify(data)),
    async subscribe(wanted = {}) {
      client.send({ type: 'subscribe', ...wanted });
      return next();
    },
    get closed() {
      return wait('the end', () => end);
    },
    close: (code) => wire.close(code),
    async [Symbol.asyncDispose]() {
      dispose();
    },
  };
  return {
    client,
    note(text: string) {
      frames.push(checkFrame(JSON.parse(text)));
      changes.emit('change');
    },
    end(closed: Closed) {
      end = closed;
      changes.emit('change');
    },
  };
}

/** A client by `ws`, with its socket, as agents have it in Node. */
export interface SocketClient extends StreamClient {
  readonly socket: WsSocket;
}

/** Opens a stream by `ws`; rejects with a `Refusal` when there is an answer instead of an upgrade. */
export async function openSocket(url: string, headers: Record<string, string> = {}): Promise<SocketClient> {
  const socket = new WsSocket(url.replace(/^http/, 'ws'), { headers });
  const { client, note, end } = collect(socket, () => socket.terminate());
  socket.on('message', (data) => note(String(data)));
  socket.on('close', (code, reason) => end({ code, reason: String(reason) }));
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('open', resolve).on('error', reject);
    socket.once('unexpected-response', (_request, response) =>
      readRefusal(response).then((answer) => reject(new Refusal(answer)), reject),
    );
  });
  await within(opened);
  return Object.assign(client, { socket });
}

/** Thrown where a stream was not opened. */
export class Refusal extends Error {
  readonly answer: Refused;
  constructor(answer: Refused) {
    super(`The stream was refused with ${answer.status} ${JSON.stringify(answer.json)}.`);
    this.answer = answer;
  }
}

/** The response to a request for a stream that is not opened. */
export async function refusalOf(opening: Promise<StreamClient>): Promise<Refused> {
  const outcome = await opening.catch((error: unknown) => error);
  if (outcome instanceof Refusal) return outcome.answer;
  if (outcome instanceof Error) throw outcome;
  await (outcome as StreamClient)[Symbol.asyncDispose]();
  throw new Error('The stream was opened.');
}

async function readRefusal(response: IncomingMessage): Promise<Refused> {
  const text = await readText(response);
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return { status: response.statusCode ?? 0, headers, json: text === '' ? undefined : JSON.parse(text) };
}

/** Call once at the top of a file, before requests are intercepted: Node has a global `WebSocket` from version 22 on. */
export function provideWebSocket(): void {
  globalThis.WebSocket ??= UndiciWebSocket as unknown as typeof globalThis.WebSocket;
}

/** Begins a stream by the global `WebSocket`, as pages do; it may be closed before it opens. */
export function beginPageStream(url: string): StreamClient {
  const socket = new WebSocket(url.replace(/^http/, 'ws'));
  const { client, note, end } = collect(socket as unknown as Wire, () => socket.close());
  socket.addEventListener('message', ({ data }) => note(String(data)));
  socket.addEventListener('close', ({ code, reason }) => end({ code, reason }));
  return client;
}
