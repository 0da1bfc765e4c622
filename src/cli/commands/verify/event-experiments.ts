import WebSocket from 'ws';
import { type Experiments, keysOf, seenIn } from './experiments.ts';
import { CannotTellError, type HookReceiver, type OwnInbox, type Session, ToldValue } from './verify-session.ts';

/** A hex HMAC-SHA256. */
const HEX = /[0-9a-f]{64}/;

/** Sends a mail to a new inbox; returns the delivery that tells of it. */
async function delivered(s: Session) {
  const receiver = await s.receiver();
  await s.mail();
  const [call] = await receiver.arrived(1);
  if (call) return call;
  throw new Error('A wait ended without a delivery.');
}

const findHex = ({ headers }: HookReceiver['calls'][number]) =>
  Object.entries(headers).find(([, value]) => HEX.test(String(value)));

/** The header of a delivery that has a hex signature, and its value. */
async function signature(s: Session): Promise<readonly [header: string, value: string]> {
  const [header, value] = findHex(await delivered(s)) ?? [];
  if (header !== undefined) return [header, String(value)];
  throw new CannotTellError('a delivery has no hex signature');
}

/** Fails the first delivery, lets some seconds pass, and returns how often the receiver was called. */
async function callsAfter(s: Session, answer: HookReceiver['answers'][number], ms = 6000, change?: object) {
  const receiver = await s.receiver();
  receiver.answers.push(answer);
  await s.mail();
  await receiver.arrived(1);
  if (change) await s.must(s.patch(receiver.webhook.path, change));
  await s.target.advance?.(ms);
  return { receiver, count: receiver.calls.length };
}

/** The frames of a stream, with the code with which it was closed or refused. */
interface Frames {
  // biome-ignore lint/suspicious/noExplicitAny: an experiment reads what another server sends.
  readonly frames: any[];
  readonly closed: () => number | undefined;
  send(frame: object): void;
  /** Waits for a number of frames of a type, by default one, or for the end of the stream. */
  has(type: string, count?: number): Promise<unknown>;
  /** Waits for an event with a mail, by default with any subject, and returns its frame. */
  hasMessage(subject?: string): Promise<Frames['frames'][number]>;
  subscribe(fields?: object): Promise<void>;
  close(): void;
}

/** Opens an event stream; a refusal is a closed stream with its status. */
async function open(s: Session, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Frames> {
  const url = s.target.baseUrl.replace(/^http/, 'ws') + path;
  const socket = new WebSocket(url, { headers, handshakeTimeout: 10_000, maxPayload: 2 ** 20 });
  const frames: unknown[] = [];
  let closed: number | undefined;
  const end = (code: number) => {
    closed ??= code;
  };
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  socket.on('unexpected-response', (_, { statusCode = 0 }) => {
    end(statusCode);
    socket.terminate();
  });
  socket.on('close', end).on('error', () => end(0));
  await s.until('a stream', () => closed !== undefined || socket.readyState === WebSocket.OPEN || undefined);
  const has = (type: string, count = 1) =>
    s.until(`a frame of type ${type}`, () => {
      const found = frames.filter((frame) => (frame as { type?: string }).type === type);
      return found.length >= count ? found : closed;
    });
  const subscribe = async (fields: object = {}) => {
    socket.send(JSON.stringify({ type: 'subscribe', ...fields }));
    await has('subscribed');
  };
  const hasMessage = (subject?: string) =>
    s.until('an event', () =>
      (frames as Frames['frames']).find(({ message }) => message && (subject ?? message.subject) === message.subject),
    );
  const send = (frame: object) => socket.send(JSON.stringify(frame));
  return { frames, closed: () => closed, send, has, hasMessage, subscribe, close: () => socket.terminate() };
}

const withKey = (key: string) => ({ 'X-API-Key': key });

/** Opens a stream and closes it again. */
async function withStream<T>(s: Session, path: string, key: string, use: (stream: Frames) => Promise<T>): Promise<T> {
  const stream = await open(s, path, withKey(key));
  try {
    return await use(stream);
  } finally {
    stream.close();
  }
}

const typesOf = ({ frames }: Frames) => frames.map((frame) => frame.type);

/** Two inboxes, a stream of the second one, and functions to send it a mail. */
async function streamOf(s: Session, use: (stream: Frames, to: OwnInbox, from: OwnInbox) => Promise<unknown>) {
  const [from, to] = [await s.inbox(), await s.inbox()];
  return await withStream(s, '/v1/ws', to.key, (stream) => use(stream, to, from));
}

/** The experiments on deliveries and event streams. */
export const eventExperiments: Experiments = {
  'deliveries.payload': async (s) => keysOf(JSON.parse((await delivered(s)).body)),
  'deliveries.signature': seenIn(delivered, (call) => ['webhook-signature' in call.headers, Boolean(findHex(call))]),
  'deliveries.signature.header': async (s) => new ToldValue((await signature(s))[0]),
  'deliveries.signature.form': async (s) => (await signature(s))[1].replace(HEX, '<hex>'),
  'deliveries.id': async (s) => {
    const other = await s.receiver();
    const call = await delivered(s);
    const [same] = await other.arrived(1);
    return call.headers['webhook-id'] === same?.headers['webhook-id'];
  },
  'deliveries.success': async (s) => (await callsAfter(s, 202)).count,
  'deliveries.timeout': async (s) => {
    if (!s.target.isSlow) throw new CannotTellError('the limit runs in real time: --slow waits for it');
    const receiver = await s.receiver();
    receiver.answers.push('hang');
    await s.mail();
    const [call] = await receiver.arrived(1);
    const endMs = await s.until('the end of a call', () => call?.endMs, 35_000);
    const seconds = (endMs - (call?.startMs ?? 0)) / 1000;
    // The call arrives after its time has begun, on a busy machine later.
    const limit = [30, 15, 5, 1, 0.1].find((each) => seconds > each * 0.7 - 0.04);
    const value = limit === 0.1 ? '100ms' : `${limit}s`;
    return new ToldValue(limit === undefined ? undefined : value);
  },
  'deliveries.retry': async (s) => (await callsAfter(s, 500)).count,
  'deliveries.retry-after': async (s) => (await callsAfter(s, { status: 503, headers: { 'Retry-After': '60' } })).count,
  'deliveries.gone': async (s) => {
    const { receiver } = await callsAfter(s, 410, 10);
    const isActive = async () => (await s.read(receiver.webhook.path)).isActive;
    // The server reads the answer a moment after it was sent.
    await s.until('its end', async () => !(await isActive()) || undefined, 500).catch(() => undefined);
    return await isActive();
  },
  'deliveries.inactive': async (s) => (await callsAfter(s, 500, 6000, { isActive: false })).count,
  'deliveries.order': async (s) => {
    const receiver = await s.receiver();
    receiver.answers.push('hang');
    const { from, to } = await s.mail();
    await receiver.arrived(1);
    await s.send(from, to);
    await s.messages(to, 2);
    await s.until('a second call', () => receiver.calls[1], 2000).catch(() => undefined);
    if (receiver.calls[0]?.endMs) throw new CannotTellError('the first call ended too early');
    const count = receiver.calls.length;
    // A server that moves its clock waits for calls that run.
    for (const call of receiver.calls) call.release();
    return count;
  },

  'stream.tiers': async (s) => {
    const keys = [s.target.key, s.workspace.key, (await s.inbox()).key];
    const closed = keys.map((key) => withStream(s, '/v1/ws', key, async (stream) => stream.closed() ?? 'open'));
    return await Promise.all(closed);
  },
  'stream.key': async (s) => {
    const stream = await open(s, `/v1/ws?api_key=${(await s.inbox()).key}`);
    await Promise.race([stream.has('connected'), s.until('an end', stream.closed)]);
    stream.close();
    return typesOf(stream);
  },
  'stream.before-subscribe': (s) =>
    streamOf(s, async (stream, to, from) => {
      await s.send(from, to);
      await s.messages(to, 1);
      await stream.subscribe();
      await s.send(from, to, { subject: 'fence' });
      await stream.hasMessage('fence');
      return typesOf(stream).filter((type) => type !== 'ping');
    }),
  'stream.subscribe.again': (s) =>
    streamOf(s, async (stream) => {
      stream.send({ type: 'subscribe' });
      stream.send({ type: 'subscribe', event_types: ['message.sent'] });
      await stream.has('subscribed', 2);
      return stream.frames.filter(({ type }) => type === 'subscribed').map((frame) => frame.event_types);
    }),
  'stream.subscribe.empty': (s) =>
    streamOf(s, async (stream, to, from) => {
      await stream.subscribe({ event_types: [], inbox_ids: [] });
      await s.send(from, to);
      await stream.hasMessage();
      return typesOf(stream).filter((type) => type !== 'ping');
    }),
  'stream.subscribe.out-of-scope': (s) =>
    streamOf(s, async (stream, _, from) => {
      stream.send({ type: 'subscribe', inbox_ids: [from.id] });
      await s.until('an answer', () => stream.frames[1]);
      return stream.frames[1].type;
    }),
  'stream.alias': async (s) => {
    const { from, to } = await s.mail();
    return await withStream(s, `${to.path}/ws`, to.key, async (stream) => {
      await stream.has('connected');
      await s.send(from, to);
      await stream.hasMessage();
      return typesOf(stream).filter((type) => type !== 'ping');
    });
  },
  'stream.event.message': (s) =>
    streamOf(s, async (stream, to, from) => {
      await stream.subscribe();
      await s.send(from, to);
      return keysOf((await stream.hasMessage()).message);
    }),
  'stream.ping': (s) =>
    streamOf(s, async (stream) => {
      await stream.has('connected');
      const ping = () => stream.frames.find(({ type }) => type === 'ping');
      for (const [value, wait] of Object.entries({ '30s': 31_000, '5m': 270_000 })) {
        await s.target.advance?.(wait);
        if (await s.until('a ping', ping, 500).catch(() => undefined)) return new ToldValue(value);
      }
      return new ToldValue('never');
    }),
  'stream.close': async (s) => {
    const { path, key } = await s.inbox();
    return await withStream(s, '/v1/ws', key, async (stream) => {
      await stream.has('connected');
      await s.add(`${path}/keys`);
      return await s.until('the end of a stream', stream.closed);
    });
  },
};
