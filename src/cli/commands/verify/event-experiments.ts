import WebSocket from 'ws';
import { type Experiments, fieldNames, LAST_MAIL, resultOf } from './experiments.ts';
import { type HookReceiver, MeasuredValue, type OwnInbox, type Session, VerifyError } from './verify-session.ts';

/** An HMAC-SHA256 in hex. */
const HEX = /[0-9a-f]{64}/;

/** Sends a mail to a new inbox, and returns the delivery of its event. */
async function triggerDelivery(s: Session) {
  const receiver = await s.createReceiver();
  await s.createMail();
  const [call] = await receiver.waitForCalls(1);
  if (call) return call;
  throw new Error('The wait for a delivery returned none.');
}

const findHex = ({ headers }: HookReceiver['calls'][number]) =>
  Object.entries(headers).find(([, value]) => HEX.test(String(value)));

/** Triggers a delivery, and returns the name and the value of the header with its hex signature. */
async function findSignature(s: Session): Promise<readonly [header: string, value: string]> {
  const [header, value] = findHex(await triggerDelivery(s)) ?? [];
  if (header !== undefined) return [header, String(value)];
  throw new VerifyError('a delivery has no hex signature');
}

/**
 * Gives the first delivery the answer `answer`, lets `ms` pass, and returns how often the receiver was called. `change`
 * is a change of the webhook after the first call.
 */
async function countCalls(s: Session, answer: HookReceiver['answers'][number], ms = 6000, change?: object) {
  const receiver = await s.createReceiver();
  receiver.answers.push(answer);
  await s.createMail();
  await receiver.waitForCalls(1);
  if (change) await s.mustSucceed(s.patch(receiver.webhook.path, change));
  await s.target.advance?.(ms);
  return { receiver, count: receiver.calls.length };
}

/** A client of an event stream. */
interface Stream {
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

/** Opens an event stream. If the server refuses the stream, its close code is the status of the refusal. */
async function openStream(s: Session, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Stream> {
  s.checkNotMissing('handshake');
  const url = s.target.baseUrl.replace(/^http/, 'ws') + path;
  const socket = new WebSocket(url, { headers, maxPayload: 2 ** 20 });
  const frames: unknown[] = [];
  let closeCode: number | undefined;
  const end = (code: number) => {
    closeCode ??= code;
  };
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
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
async function withStream<T>(s: Session, path: string, key: string, use: (stream: Stream) => Promise<T>): Promise<T> {
  const stream = await openStream(s, path, { 'X-API-Key': key });
  try {
    return await use(stream);
  } finally {
    stream.close();
  }
}

const typesOf = ({ frames }: Stream) => frames.map((frame) => frame.type);

/** Creates two inboxes, opens a stream of the second inbox, and calls `use` with the stream and both inboxes. */
async function withInboxStream(s: Session, use: (stream: Stream, to: OwnInbox, from: OwnInbox) => Promise<unknown>) {
  const [from, to] = [await s.createInbox(), await s.createInbox()];
  return await withStream(s, '/v1/ws', to.key, (stream) => use(stream, to, from));
}

/** The subject of the mail after which no event about an earlier mail of the same inbox can arrive. */
const LAST = 'verify the last mail';

/**
 * Opens a stream with the key of each tier, in two workspaces and in both tenants, and creates a webhook for each
 * workspace. Sends a mail within each workspace. Returns the subjects that each stream and each webhook was told of.
 */
export async function observeEvents(s: Session): Promise<Readonly<Record<string, unknown>>> {
  const { key: tenantKey, secondKey } = s.target;
  const parts: { name: string; from: OwnInbox; to: OwnInbox; key: string; subject: string }[] = [];
  for (const [name, key] of [
    ['workspace 1', tenantKey],
    ['workspace 2', tenantKey],
    ['the other tenant', secondKey],
  ] as const) {
    if (key === undefined) continue;
    const workspace = await s.add('/v1/workspaces', { name: s.newName() }, { key });
    const workspaceKey = await s.add(`/v1/workspaces/${workspace.id}/keys`, {}, { key });
    const fields = { workspaceId: workspace.id };
    const [from, to] = [await s.createInbox(fields, key), await s.createInbox(fields, key)];
    parts.push({ name, from, to, key: workspaceKey.key, subject: `verify ${name}` });
  }
  const observed: Record<string, unknown> = {};
  const streams: (readonly [string, Stream])[] = [];
  const open = async (name: string, key: string) => {
    const stream = await openStream(s, '/v1/ws', { 'X-API-Key': key });
    const code = stream.closeCode();
    if (code === undefined) await stream.subscribe();
    else observed[name] = `closed with ${code}`;
    if (code === undefined) streams.push([name, stream]);
  };
  const subjectsOf = (stream: Stream) =>
    stream.frames
      .flatMap(({ message }) => (message?.subject?.startsWith('verify') ? [message.subject] : []))
      .toSorted();
  try {
    await open('the tenant key', tenantKey);
    for (const { name, key, to, from } of parts) {
      await open(`the key of ${name}`, key);
      await open(`the key of the recipient in ${name}`, to.key);
      await open(`the key of the sender in ${name}`, from.key);
    }
    for (const { from, to, subject } of parts) await s.send(from, to, { subject });
    // Each stream gets one more mail, after which no earlier event can arrive.
    for (const { from, to } of parts) {
      await s.send(from, to, { subject: LAST });
      await s.send(to, from, { subject: LAST });
    }
    for (const [name, stream] of streams) {
      await stream.waitForMessage(LAST);
      observed[name] = subjectsOf(stream).filter((subject) => subject !== LAST);
    }
  } finally {
    for (const [, stream] of streams) stream.close();
  }
  return observed;
}

/** Creates a webhook for each of two workspaces, and returns the subjects that each of these and a third was told of. */
export async function observeDeliveries(s: Session): Promise<Readonly<Record<string, unknown>>> {
  const receivers: Awaited<ReturnType<Session['createReceiver']>>[] = [];
  const parts: { name: string; inboxes: readonly [OwnInbox, OwnInbox]; receiver: { calls: HookReceiver['calls'] } }[] =
    [];
  for (const name of ['workspace 1', 'workspace 2']) {
    const { id } = await s.add('/v1/workspaces', { name: s.newName() });
    const inboxes = [await s.createInbox({ workspaceId: id }), await s.createInbox({ workspaceId: id })] as const;
    const receiver = await s.createReceiver(['message.received'], { workspaceId: id });
    receivers.push(receiver);
    parts.push({ name, inboxes, receiver });
  }
  for (const {
    inboxes: [from, to],
  } of parts)
    await s.send(from, to, { subject: LAST });
  for (const { waitForCalls } of receivers) await waitForCalls(1);
  return Object.fromEntries(
    parts.map(({ name, receiver }) => {
      const told = receiver.calls.map(({ body }) => (JSON.parse(body) as { inboxId?: string }).inboxId);
      const nameOf = (id: unknown) =>
        parts.find((part) => part.inboxes.some((inbox) => inbox.id === id))?.name ?? 'another';
      return [`the webhook of ${name}`, [...new Set(told.map(nameOf))].toSorted()];
    }),
  );
}

/** The experiments on deliveries and event streams. */
export const eventExperiments: Experiments = {
  'deliveries.payload': async (s) => fieldNames(JSON.parse((await triggerDelivery(s)).body)),
  'deliveries.signature': resultOf(triggerDelivery, (call) => [
    'webhook-signature' in call.headers,
    Boolean(findHex(call)),
  ]),
  'deliveries.signature.header': async (s) => new MeasuredValue((await findSignature(s))[0]),
  'deliveries.signature.form': async (s) => (await findSignature(s))[1].replace(HEX, '<hex>'),
  'deliveries.id': async (s) => {
    const otherReceiver = await s.createReceiver();
    const call = await triggerDelivery(s);
    const [otherCall] = await otherReceiver.waitForCalls(1);
    return call.headers['webhook-id'] === otherCall?.headers['webhook-id'];
  },
  'deliveries.trace': resultOf(triggerDelivery, ({ headers }) => 'traceparent' in headers),
  'deliveries.success': async (s) => (await countCalls(s, 202)).count,
  'deliveries.timeout': async (s) => {
    if (!s.target.mayWait) throw new VerifyError('the timeout passes only in real time; allow it with --slow');
    const receiver = await s.createReceiver();
    receiver.answers.push('hang');
    await s.createMail();
    const [call] = await receiver.waitForCalls(1);
    const endMs = await s.waitFor('the end of a call', () => call?.endMs, 35_000);
    const seconds = (endMs - (call?.startMs ?? 0)) / 1000;
    // The server begins to measure before the call arrives here, so the measured time is shorter than the limit.
    const limits = { '30s': 30, '15s': 15, '5s': 5, '1s': 1, '100ms': 0.1 };
    return new MeasuredValue(Object.entries(limits).find(([, limit]) => seconds > limit * 0.7 - 0.04)?.[0]);
  },
  'deliveries.retry': async (s) => (await countCalls(s, 500)).count,
  'deliveries.retry-after': async (s) => (await countCalls(s, { status: 503, headers: { 'Retry-After': '60' } })).count,
  'deliveries.gone': async (s) => {
    const { receiver } = await countCalls(s, 410, 10);
    const isActive = async () => (await s.read(receiver.webhook.path)).isActive;
    // The server reads the answer a moment after the receiver has sent it, so the change may need some time.
    await s.waitFor('the change', async () => !(await isActive()) || undefined, 500).catch(() => undefined);
    return await isActive();
  },
  'deliveries.inactive': async (s) => (await countCalls(s, 500, 6000, { isActive: false })).count,
  'deliveries.updated': async (s) => (await countCalls(s, 500, 6000, { events: ['message.sent'] })).count,
  'deliveries.order': async (s) => {
    const receiver = await s.createReceiver();
    receiver.answers.push('hang');
    const startMs = performance.now();
    const { from, to } = await s.createMail();
    await receiver.waitForCalls(1);
    // A second call would arrive after about the same time as the first call.
    const waitMs = Math.max(500, 10 * (performance.now() - startMs));
    await s.send(from, to);
    await s.waitForMessages(to, 2);
    await s.waitFor('a second call', () => receiver.calls[1], waitMs).catch(() => undefined);
    if (receiver.calls[0]?.endMs) throw new VerifyError('the first call ended too early');
    const count = receiver.calls.length;
    // The calls are answered, because a server waits for running calls before it moves its clock.
    for (const call of receiver.calls) call.release();
    return count;
  },

  'stream.tiers': async (s) => {
    const keys = [s.target.key, s.workspace.key, (await s.createInbox()).key];
    const codes = keys.map((key) => withStream(s, '/v1/ws', key, async (stream) => stream.closeCode() ?? 'open'));
    return await Promise.all(codes);
  },
  'stream.key': async (s) => {
    const stream = await openStream(s, `/v1/ws?api_key=${(await s.createInbox()).key}`);
    await Promise.race([stream.waitForFrames('connected'), s.waitFor('the end of a stream', stream.closeCode)]);
    stream.close();
    return typesOf(stream);
  },
  'stream.before-subscribe': (s) =>
    withInboxStream(s, async (stream, to, from) => {
      await s.send(from, to);
      await s.waitForMessages(to, 1);
      await stream.subscribe();
      await s.send(from, to, { subject: LAST_MAIL });
      await stream.waitForMessage(LAST_MAIL);
      return typesOf(stream).filter((type) => type !== 'ping');
    }),
  'stream.subscribe.again': (s) =>
    withInboxStream(s, async (stream) => {
      stream.send({ type: 'subscribe' });
      stream.send({ type: 'subscribe', event_types: ['message.sent'] });
      await stream.waitForFrames('subscribed', 2);
      return stream.frames.filter(({ type }) => type === 'subscribed').map((frame) => frame.event_types);
    }),
  'stream.subscribe.empty': (s) =>
    withInboxStream(s, async (stream, to, from) => {
      await stream.subscribe({ event_types: [], inbox_ids: [] });
      await s.send(from, to);
      await stream.waitForMessage();
      return typesOf(stream).filter((type) => type !== 'ping');
    }),
  'stream.subscribe.out-of-scope': (s) =>
    withInboxStream(s, async (stream, _, from) => {
      stream.send({ type: 'subscribe', inbox_ids: [from.id] });
      await s.waitFor('an answer', () => stream.frames[1]);
      return stream.frames[1].type;
    }),
  'stream.alias': async (s) => {
    const { from, to } = await s.createMail();
    return await withStream(s, `${to.path}/ws`, to.key, async (stream) => {
      await stream.waitForFrames('connected');
      await s.send(from, to);
      await stream.waitForMessage();
      return typesOf(stream).filter((type) => type !== 'ping');
    });
  },
  'stream.event.message': (s) =>
    withInboxStream(s, async (stream, to, from) => {
      await stream.subscribe();
      await s.send(from, to);
      return fieldNames((await stream.waitForMessage()).message);
    }),
  'stream.ping': (s) =>
    withInboxStream(s, async (stream) => {
      await stream.waitForFrames('connected');
      const ping = () => stream.frames.find(({ type }) => type === 'ping');
      if (stream.closeCode() !== undefined) throw new VerifyError('the stream did not open');
      for (const [value, wait] of Object.entries({ '30s': 31_000, '5m': 270_000 })) {
        await s.target.advance?.(wait);
        if (await s.waitFor('a ping', ping, 500).catch(() => undefined)) return new MeasuredValue(value);
      }
      return new MeasuredValue('never');
    }),
  'stream.close': async (s) => {
    const { path, key } = await s.createInbox();
    return await withStream(s, '/v1/ws', key, async (stream) => {
      await stream.waitForFrames('connected');
      await s.add(`${path}/keys`);
      return await s.waitFor('the end of a stream', stream.closeCode);
    });
  },
};
