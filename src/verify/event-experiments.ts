import { openStream, type Stream, withStream } from './event-stream.ts';
import { type Experiments, fieldNames, LAST_MAIL, resultOf } from './experiments.ts';
import { NEEDS } from './needs.ts';
import { type HookReceiver, MeasuredValue, type OwnInbox, VerifyError, type VerifySession } from './verify-session.ts';

/** An HMAC-SHA256 in hex. */
const HEX = /[0-9a-f]{64}/;

/** Sends a mail to a new inbox, and returns the delivery of its event. */
async function triggerDelivery(s: VerifySession) {
  const receiver = await s.createReceiver();
  await s.createMail();
  const [call] = await receiver.waitForCalls(1);
  if (call) return call;
  throw new Error('The wait for a delivery returned none.');
}

/** Returns the name and the value of the header with a hex signature. */
const findHexHeader = ({ headers }: HookReceiver['calls'][number]) =>
  Object.entries(headers).find(([, value]) => HEX.test(String(value)));

/** Triggers a delivery, and returns the name and the value of the header with its hex signature. */
async function findSignature(s: VerifySession): Promise<readonly [header: string, value: string]> {
  const [header, value] = findHexHeader(await triggerDelivery(s)) ?? [];
  if (header !== undefined) return [header, String(value)];
  throw new VerifyError('a delivery has no hex signature');
}

/** A time in which the first retry comes, if there is one: it is due after 5 s. */
const FIRST_RETRY_MS = 6000;

/** What happens in `countCalls` after the first call. */
interface AfterFirstCall {
  /** A change of the webhook. */
  readonly change?: object;
  /** The time that then passes, in milliseconds. Default: the time in which the first retry comes. */
  readonly waitMs?: number;
}

/** Gives the first delivery the answer `answer`, and returns how often the receiver was called after some time. */
async function countCalls(
  s: VerifySession,
  answer: HookReceiver['answers'][number],
  { change, waitMs = FIRST_RETRY_MS }: AfterFirstCall = {},
) {
  const receiver = await s.createReceiver();
  receiver.answers.push(answer);
  await s.createMail();
  await receiver.waitForCalls(1);
  if (change) await s.mustSucceed(s.patch(receiver.webhook.path, change));
  await s.target.advance?.(waitMs);
  return { receiver, count: receiver.calls.length };
}

const typesOf = ({ frames }: Stream) => frames.map((frame) => frame.type);

/** Creates two inboxes, opens a stream of the second inbox, and calls `use` with the stream and both inboxes. */
async function withInboxStream(
  s: VerifySession,
  use: (stream: Stream, to: OwnInbox, from: OwnInbox) => Promise<unknown>,
) {
  const [from, to] = [await s.createInbox(), await s.createInbox()];
  return await withStream(s, '/v1/ws', to.key, (stream) => use(stream, to, from));
}

/**
 * The experiments on deliveries and event streams. No reply to a request shows these: a delivery comes to a receiver, an
 * event to a stream, and a retry or a ping after some time.
 */
export const eventExperiments: Experiments = {
  'deliveries.payload': async (s) => fieldNames(JSON.parse((await triggerDelivery(s)).body)),
  'deliveries.addresses': async (s) => {
    const [from, to] = [await s.createInbox({ displayName: 'Verify' }), await s.createInbox()];
    const receiver = await s.createReceiver();
    await s.send(from, to);
    const [call] = await receiver.waitForCalls(1);
    return JSON.parse(call?.body ?? '').from.includes('<');
  },
  'deliveries.signature': resultOf(triggerDelivery, (call) => [
    'webhook-signature' in call.headers,
    Boolean(findHexHeader(call)),
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
    if (!s.target.mayWait)
      throw new VerifyError('the check waits up to half a minute for the end of a call', NEEDS.time);
    const receiver = await s.createReceiver();
    receiver.answers.push('hang');
    await s.createMail();
    const [call] = await receiver.waitForCalls(1);
    const endMs = await s.waitFor('the end of a call', () => call?.endMs, 35_000);
    const seconds = (endMs - (call?.startMs ?? 0)) / 1000;
    // The server begins to measure before the call arrives here, so the measured time may be shorter than the limit: by
    // up to 30 % and 40 ms.
    const limits = { '30s': 30, '15s': 15, '5s': 5, '1s': 1, '100ms': 0.1 };
    return new MeasuredValue(Object.entries(limits).find(([, limit]) => seconds > limit * 0.7 - 0.04)?.[0]);
  },
  'deliveries.retry': async (s) => (await countCalls(s, 500)).count,
  'deliveries.retry-after': async (s) => (await countCalls(s, { status: 503, headers: { 'Retry-After': '60' } })).count,
  'deliveries.gone': async (s) => {
    const { receiver } = await countCalls(s, 410, { waitMs: 10 });
    const isActive = async () => (await s.read(receiver.webhook.path)).isActive;
    // The server reads the answer a moment after the receiver has sent it, so the change may need some time.
    await s.waitFor('the change', async () => !(await isActive()) || undefined, 500).catch(() => undefined);
    return await isActive();
  },
  'deliveries.inactive': async (s) => (await countCalls(s, 500, { change: { isActive: false } })).count,
  'deliveries.updated': async (s) => (await countCalls(s, 500, { change: { events: ['message.sent'] } })).count,
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
  'stream.bad-frame': (s) =>
    withInboxStream(s, async (stream) => {
      await stream.waitForFrames('connected');
      stream.send({ type: 'verify' });
      await s.waitFor('an answer', () => stream.frames[1]);
      return [stream.frames[1].type, stream.closeCode()];
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
