import WebSocket from 'ws';
import { parseForeignJson } from '../basics/foreign-json.ts';
import { isNestedDeeper } from '../basics/json-depth.ts';
import type { VerifySession } from './verify-session.ts';

/** A client of an event stream. */
export interface Stream {
  // biome-ignore lint/suspicious/noExplicitAny: an experiment reads what another server sends.
  readonly frames: any[];
  /** Returns the code with which the stream was closed, or the status with which the server refused it. */
  closeCode(): number | undefined;
  send(frame: object): void;
  /** Waits until `count` frames of a type have arrived, by default one, or until the stream has ended. */
  waitForFrames(type: string, count?: number): Promise<unknown>;
  /** Waits for an event about a mail with this subject, by default with any subject, and returns its frame. */
  waitForMessage(subject?: string): Promise<Stream['frames'][number]>;
  subscribe(fields?: object): Promise<void>;
  close(): void;
}

/** A stream that sends more frames than these is closed. */
const MAX_FRAMES = 10_000;

/** Parses a frame. One that is not a JSON object gets a type that no frame of the service has. */
function parseFrame(text: string): unknown {
  try {
    const frame = parseForeignJson(text);
    return typeof frame === 'object' && frame !== null && !isNestedDeeper(frame) ? frame : { type: 'no object' };
  } catch {
    return { type: 'no JSON' };
  }
}

/** Opens an event stream. If the server refuses the stream, its close code is the status of the refusal. */
export async function openStream(
  s: VerifySession,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Stream> {
  s.checkNotMissing('handshake');
  const url = s.target.baseUrl.replace(/^http/, 'ws') + path;
  const socket = new WebSocket(url, { headers, maxPayload: 2 ** 20 });
  const frames: unknown[] = [];
  let closeCode: number | undefined;
  const end = (code: number) => {
    closeCode ??= code;
  };
  socket.on('message', (data) => {
    if (frames.length < MAX_FRAMES) frames.push(parseFrame(String(data)));
    else socket.terminate();
  });
  socket.on('unexpected-response', (_, { statusCode = 0 }) => {
    end(statusCode);
    socket.terminate();
  });
  socket.on('close', end).on('error', () => end(0));
  // A connection that fails is no answer, so that nothing is known about the stream.
  const isDone = () => (closeCode !== undefined && closeCode > 0) || socket.readyState === WebSocket.OPEN || undefined;
  const hasFailed = () => closeCode === 0;
  await s.waitOnce('handshake', 'the handshake of a stream', isDone, hasFailed).catch((error: unknown) => {
    socket.terminate();
    throw error;
  });
  const waitForFrames = (type: string, count = 1) =>
    s.waitFor(`a frame of type ${type}`, () => {
      const found = frames.filter((frame) => (frame as { type?: string }).type === type);
      return found.length >= count ? found : closeCode;
    });
  const subscribe = async (fields: object = {}) => {
    socket.send(JSON.stringify({ type: 'subscribe', ...fields }));
    await waitForFrames('subscribed');
  };
  const waitForMessage = (subject?: string) =>
    s.waitOnce('event', 'an event of a stream', () =>
      (frames as Stream['frames']).find(({ message }) => message && (subject ?? message.subject) === message.subject),
    );
  const send = (frame: object) => socket.send(JSON.stringify(frame));
  const close = () => socket.terminate();
  return { frames, closeCode: () => closeCode, send, waitForFrames, waitForMessage, subscribe, close };
}

/** Opens a stream, calls `use` with it, and closes it. */
export async function withStream<T>(
  s: VerifySession,
  path: string,
  key: string,
  use: (stream: Stream) => Promise<T>,
): Promise<T> {
  const stream = await openStream(s, path, { 'X-API-Key': key });
  try {
    return await use(stream);
  } finally {
    stream.close();
  }
}
