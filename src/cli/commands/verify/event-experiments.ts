import WebSocket from 'ws';
import { type Experiments, keysOf } from './experiments.ts';
import { CannotTellError, type HookReceiver, type OwnInbox, type Session, ToldValue } from './verify-session.ts';

/** A hex HMAC-SHA256. */
const HEX = /[0-9a-f]{64}/;

/** A mail to a new inbox, and the delivery that tells of it. */
async function delivered(s: Session, fields: Readonly<Record<string, unknown>> = {}) {
  const receiver = await s.receiver(['message.received'], fields);
  await s.mail();
  const [call] = await receiver.arrived(1);
  if (!call) throw new Error('A wait ended without a delivery.');
  const hex = Object.entries(call.headers).find(([, value]) => HEX.test(String(value)));
  const signature = () => {
    if (hex) return { header: hex[0], value: String(hex[1]) };
    throw new CannotTellError('a delivery has no hex signature');
  };
  return {
    receiver,
    call,
    hasHex: hex !== undefined,
    signature,
    payload: JSON.parse(call.body) as { messageId: string },
  };
}

/** Fails the first delivery, lets some seconds pass, and returns how often the receiver was called. */
async function callsAfter(s: Session, answer: HookReceiver['answers'][number], ms: number) {
  const receiver = await s.receiver();
  receiver.answers.push(answer);
  await s.mail();
  await receiver.arrived(1);
  await s.target.advance?.(ms);
  return { receiver, count: receiver.calls.length };
}

/** The frames of a stream, with the code with which it was closed or refused. */
interface Frames {
  // biome-ignore lint/suspicious/noExplicitAny: an experiment reads what another server sends.
  readonly frames: any[];
  readonly closed: () => number | undefined;
  send(frame: object): void;
  has(type: string, count?: number): Promise<unknown>;
  close(): void;
}

/** Opens an event stream; a refusal is a closed stream with its status. */
async function open(s: Session, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Frames> {
  const socket = new WebSocket(s.target.baseUrl.replace(/^http/, 'ws') + path, {
    headers,
    handshakeTimeout: 10_000,
    maxPayload: 2 ** 20,
  });
  const frames: unknown[] = [];
  let closed: number | undefined;
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  socket.on('unexpected-response', (_, response) => {
    closed = response.statusCode;
    socket.terminate();
  });
  socket.on('close', (code) => {
    closed ??= code;
  });
  socket.on('error', () => {
    closed ??= 0;
  });
  await s.until('a stream', () => closed !== undefined || socket.readyState === WebSocket.OPEN || undefined);
  const has = (type: string, count = 1) =>
    s.until(`a frame of type ${type}`, () => {
      const found = frames.filter((frame) => (frame as { type?: string }).type === type);
      return found.length >= count ? found : closed;
    });
  const close = () => socket.terminate();
  return { frames, closed: () => closed, send: (frame) => socket.send(JSON.stringify(frame)), has, close };
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
  'deliveries.payload': async (s) => keysOf((await delivered(s)).payload),
  'deliveries.signature': async (s) => {
    const { call, hasHex } = await delivered(s);
    return ['webhook-signature' in call.headers, hasHex];
  },
  'deliveries.signature.header': async (s) => new ToldValue((await delivered(s)).signature().header),
  'deliveries.signature.form': async (s) => (await delivered(s)).signature().value.replace(HEX, '<hex>'),
  'deliveries.id': async (s) => {
    const other = await s.receiver();
    const { call } = await delivered(s);
    const [same] = await other.arrived(1);
    return call.headers['webhook-id'] === same?.headers['webhook-id'];
  },
  'deliveries.success': async (s) => (await callsAfter(s, 202, 6000)).count,
  'deliveries.timeout': async (s) => {
    if (!s.target.isSlow) throw new CannotTellError('the limit runs in real time: --slow waits for it');
    const receiver = await s.receiver();
    receiver.answers.push('hang');
    await s.mail();
    await receiver.arrived(1);
    const start = performance.now();
    await s.until('the end of a call', () => receiver.calls[0]?.ended, 35_000);
    const seconds = (performance.now() - start) / 1000;
    const [value] = [30, 15, 5, 1, 0.1].filter((limit) => seconds > limit * 0.7);
    return new ToldValue(value === 0.1 ? '100ms' : `${value}s`);
  },
  'deliveries.retry': async (s) => (await callsAfter(s, 500, 6000)).count,
  'deliveries.retry-after': async (s) =>
    (await callsAfter(s, { status: 503, headers: { 'Retry-After': '60' } }, 6000)).count,
  'deliveries.gone': async (s) => {
    const { receiver } = await callsAfter(s, 410, 10);
    const { isActive } = await s.must(s.get(`/v1/webhooks/${receiver.webhook.id}`));
    return isActive;
  },
  'deliveries.inactive': async (s) => {
    const receiver = await s.receiver();
    receiver.answers.push(500);
    await s.mail();
    await receiver.arrived(1);
    await s.must(s.patch(`/v1/webhooks/${receiver.webhook.id}`, { isActive: false }));
    await s.target.advance?.(6000);
    return receiver.calls.length;
  },
  'deliveries.order': async (s) => {
    const receiver = await s.receiver();
    receiver.answers.push('hang');
    const { from, to } = await s.mail();
    await receiver.arrived(1);
    await s.send(from, to);
    await s.messages(to, 2);
    await s.until('a second call', () => receiver.calls[1], 2000).catch(() => undefined);
    if (receiver.calls[0]?.ended) throw new CannotTellError('the first call ended too early');
    return receiver.calls.length;
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
      stream.send({ type: 'subscribe' });
      await stream.has('subscribed');
      await s.send(from, to, { subject: 'fence' });
      await s.until('the last event', () => stream.frames.find((frame) => frame.message?.subject === 'fence'));
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
      stream.send({ type: 'subscribe', event_types: [], inbox_ids: [] });
      await stream.has('subscribed');
      await s.send(from, to);
      await s.until('an event', () => stream.frames.find((frame) => frame.message));
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
      await s.until('an event', () => stream.frames.find((frame) => frame.message));
      return typesOf(stream).filter((type) => type !== 'ping');
    });
  },
  'stream.event.message': (s) =>
    streamOf(s, async (stream, to, from) => {
      stream.send({ type: 'subscribe' });
      await stream.has('subscribed');
      await s.send(from, to);
      return keysOf((await s.until('an event', () => stream.frames.find((frame) => frame.message))).message);
    }),
  'stream.ping': (s) =>
    streamOf(s, async (stream) => {
      await stream.has('connected');
      const pings = () => stream.frames.filter(({ type }) => type === 'ping').length;
      for (const [wait, value] of [
        [31_000, '30s'],
        [270_000, '5m'],
      ] as const) {
        await s.target.advance?.(wait);
        const found = await s.until('a ping', () => pings() > 0 || undefined, 500).catch(() => false);
        if (found) return new ToldValue(value);
      }
      return new ToldValue('never');
    }),
  'stream.close': async (s) => {
    const { path, key } = await s.inbox();
    return await withStream(s, '/v1/ws', key, async (stream) => {
      await stream.has('connected');
      await s.must(s.post(`${path}/keys`));
      return await s.until('the end of a stream', stream.closed);
    });
  },
};
