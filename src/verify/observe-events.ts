import { createHmac } from 'node:crypto';
import { isLoopbackHost } from '../server/loopback.ts';
import { openStream, type Stream } from './event-stream.ts';
import {
  type HookReceiver,
  type OwnInbox,
  type ReceivedCall,
  VerifyError,
  type VerifySession,
} from './verify-session.ts';

/**
 * The subject of the mail after which no event about an earlier mail of the same inbox can arrive. It has the id of the
 * run, because another run in the same tenant may send such mails too.
 */
const lastOf = ({ runId }: VerifySession) => `verify ${runId} the last mail`;

/**
 * Opens a stream with the key of each tier, in two workspaces and in both tenants, and creates a webhook for each
 * workspace. Sends a mail within each workspace. Returns the events that each stream was told of.
 */
export async function observeEvents(s: VerifySession): Promise<Readonly<Record<string, unknown>>> {
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
    parts.push({ name, from, to, key: workspaceKey.key, subject: `verify ${s.runId} ${name}` });
  }
  const names = nameAddresses(parts.map(({ name, from, to }) => ({ name, inboxes: [from, to] })));
  const observed: Record<string, unknown> = {};
  const streams: { readonly name: string; readonly stream: Stream; readonly told: readonly string[] }[] = [];
  /** `told` are the parts of whose mail the stream must be told. */
  const open = async (name: string, key: string, told: readonly string[]) => {
    const stream = await openStream(s, '/v1/ws', { 'X-API-Key': key });
    const code = stream.closeCode();
    if (code === undefined) await stream.subscribe();
    else observed[name] = `closed with ${code}`;
    if (code === undefined) streams.push({ name, stream, told });
  };
  try {
    const ofTenant = parts.filter(({ name }) => name !== 'the other tenant').map(({ name }) => name);
    await open('the tenant key', tenantKey, ofTenant);
    for (const { name, key, to, from } of parts) {
      await open(`the key of ${name}`, key, [name]);
      await open(`the key of the recipient in ${name}`, to.key, [name]);
      await open(`the key of the sender in ${name}`, from.key, [name]);
    }
    for (const { from, to, subject } of parts) await s.send(from, to, { subject });
    // Each stream gets one more mail, after which no earlier event can arrive.
    for (const { name, from, to } of parts) {
      await s.send(from, to, { subject: `${lastOf(s)} of ${name}` });
      await s.send(to, from, { subject: `${lastOf(s)} of ${name}` });
    }
    for (const { name, stream, told } of streams) {
      for (const part of told) await waitUntilTold(stream, `${lastOf(s)} of ${part}`);
      const events = stream.frames.filter(({ message }) => String(message?.subject).startsWith(`verify ${s.runId}`));
      observed[name] = events.length > 0 ? describeEvents(events, names, s) : 'no event in time';
    }
    Object.assign(observed, await observeRefusals(s, parts));
  } finally {
    for (const { stream } of streams) stream.close();
  }
  return observed;
}

/** Tries to open streams with keys that must not open them, and returns how each ends. */
async function observeRefusals(
  s: VerifySession,
  parts: readonly { readonly name: string; readonly from: OwnInbox; readonly to: OwnInbox; readonly key: string }[],
): Promise<Readonly<Record<string, unknown>>> {
  const [own, ...others] = parts;
  if (!own) return {};
  await s.add(`${own.from.path}/keys`, {}, { key: s.target.key });
  const old = own.from.key;
  const attempts: (readonly [name: string, path: string, key: string])[] = [
    ['an old key in the header', '/v1/ws', old],
    ['an old key in the query', `/v1/ws?api_key=${encodeURIComponent(old)}`, ''],
    ['no key', '/v1/ws', ''],
    ['a shortened key', '/v1/ws', own.to.key.slice(0, -1)],
    ['a longer key', '/v1/ws', `${own.to.key}x`],
    ...others.flatMap(({ name, to }) => [
      [`the inbox of ${name} with the key of workspace 1`, `${to.path}/ws`, own.key] as const,
      [`the inbox of ${name} with the key of another inbox`, `${to.path}/ws`, own.to.key] as const,
    ]),
  ];
  const observed: Record<string, unknown> = {};
  for (const [name, path, key] of attempts) {
    const stream = await openStream(s, path, key === '' ? {} : { 'X-API-Key': key });
    // A server may also accept the handshake, and close the stream at once.
    const end = await s
      .waitFor('the end or the first frame', () => stream.closeCode() ?? stream.frames[0]?.type, 2000)
      .catch(() => 'silence');
    observed[`a stream of ${name}`] = end === 'connected' ? 'it opens' : `it is refused with ${end}`;
    stream.close();
  }
  return observed;
}

/**
 * Waits for an event about a mail that was sent. If none comes, that is what was observed: a stream that has opened and
 * is not told of it is broken.
 */
async function waitUntilTold(stream: Stream, subject: string): Promise<void> {
  await stream.waitForMessage(subject).catch((error: unknown) => {
    if (!(error instanceof VerifyError) || error.endsRun) throw error;
  });
}

/** The events about the mails before the last one, by what they are about. */
function describeEvents(
  frames: Stream['frames'],
  names: AddressNames,
  s: VerifySession,
): Readonly<Record<string, unknown>> {
  const described: Record<string, unknown[]> = {};
  for (const frame of frames.filter(({ message }) => !String(message.subject).startsWith(lastOf(s)))) {
    const name = `${frame.event_type} ${frame.message.subject}`.replace(` ${s.runId}`, '');
    described[name] = [...(described[name] ?? []), withoutOwnValues(frame, names)];
  }
  return Object.fromEntries(Object.entries(described).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The addresses of inboxes, each with a name for it. The names in the addresses depend on what was created before. */
type AddressNames = ReadonlyMap<string, string>;

function nameAddresses(
  parts: readonly { readonly name: string; readonly inboxes: readonly OwnInbox[] }[],
): AddressNames {
  return new Map(
    parts.flatMap(({ name, inboxes: [from, to] }) => [
      [from?.email ?? '', `the sender of ${name}`],
      [to?.email ?? '', `the recipient of ${name}`],
    ]),
  );
}

/**
 * Replaces the id and the times of an event, which each service chooses for itself, by whether they have the form, and
 * addresses by their names.
 */
function withoutOwnValues(value: unknown, names: AddressNames, field = ''): unknown {
  if (typeof value === 'string' && names.has(value)) return names.get(value);
  if (typeof value === 'string' && /^evt_[\w-]+$/.test(value)) return 'an event id';
  if (typeof value === 'string' && /^(?:timestamp|receivedAt)$/.test(field)) return TIME.test(value) ? 'a time' : value;
  if (Array.isArray(value)) return value.map((each) => withoutOwnValues(each, names, field));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutOwnValues(each, names, name)]));
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/;

/** A webhook with the inboxes whose mail it must be told of. */
interface Told {
  readonly name: string;
  readonly key: string;
  readonly inboxes: readonly OwnInbox[];
  readonly receiver: Awaited<ReturnType<VerifySession['createReceiver']>>;
}

/**
 * Creates a webhook for each of two workspaces, for a whole tenant, and for the other tenant. Returns of whose mail each
 * of these was told, what it was told of the first mail, and whether the signatures are made with its secret.
 */
export async function observeDeliveries(s: VerifySession): Promise<Readonly<Record<string, unknown>>> {
  const { key: tenantKey, secondKey } = s.target;
  const parts: Told[] = [];
  for (const [name, key] of [
    ['workspace 1', tenantKey],
    ['workspace 2', tenantKey],
    ['the other tenant', secondKey],
  ] as const) {
    if (key === undefined) continue;
    const { id: workspaceId } = await s.add('/v1/workspaces', { name: s.newName() }, { key });
    const inboxes = [await s.createInbox({ workspaceId }, key), await s.createInbox({ workspaceId }, key)];
    parts.push({ name, key, inboxes, receiver: await s.createReceiver(['message.received'], { workspaceId }, key) });
  }
  const ofTenant = parts.filter(({ name }) => name !== 'the other tenant').flatMap(({ inboxes }) => inboxes);
  const wide = await s.createReceiver(['message.received'], { workspaceId: undefined });
  const webhooks: Told[] = [...parts, { name: 'the tenant', key: tenantKey, inboxes: ofTenant, receiver: wide }];
  // When the second mail was delivered, wrong deliveries of the first one have had time to arrive too.
  for (let count = 1; count <= 2; count += 1) {
    // A change of a webhook must not change its secret.
    if (count === 2) {
      for (const { receiver, key } of webhooks) await s.patch(receiver.webhook.path, { isActive: true }, { key });
    }
    for (const { inboxes } of parts) {
      const [from, to] = inboxes as [OwnInbox, OwnInbox];
      await s.send(from, to, { subject: lastOf(s) });
    }
    for (const { inboxes, receiver } of webhooks) await waitForOwnCalls(s, receiver, inboxes, count);
  }
  return Object.fromEntries(
    webhooks.map(({ name, inboxes, receiver }) => {
      const ofFirst = inboxes[1]?.id;
      const nameOf = (id: string | undefined) => parts.find((part) => isAbout(part.inboxes, id))?.name ?? 'others';
      const names = new Set(receiver.calls.map((call) => nameOf(inboxIdOf(call))));
      // The tenant may have other mail, but a workspace of this run has none.
      if (name === 'the tenant') names.delete('others');
      const told = names.size === 0 ? ['no delivery in time'] : [...names].toSorted();
      const first = receiver.calls.find((call) => inboxIdOf(call) === ofFirst);
      const payload = first && withoutOwnValues(JSON.parse(first.body), nameAddresses(parts));
      const own = receiver.calls.filter((call) => isAbout(inboxes, inboxIdOf(call)));
      const signatures = signaturesOf(receiver);
      return [
        `the webhook of ${name}`,
        { told, payload, signatures, ...describeCalls(own, receiver.webhook.createdAt) },
      ];
    }),
  );
}

/** Describes the calls of a webhook about its own mails: their number, ids, times and media types. */
function describeCalls(calls: readonly ReceivedCall[], createdAt: unknown) {
  const ids = new Set(calls.map(({ headers }) => headers['webhook-id']));
  const times = calls.map(({ headers }) => headers['webhook-timestamp']).filter((time) => time !== undefined);
  const startS = Date.parse(String(createdAt)) / 1000;
  // The webhook was created by this run, so its events follow soon. Seconds of today have ten digits.
  const isNear = (time: unknown) => /^\d{10}$/.test(String(time)) && Math.abs(Number(time) - startS) < 900;
  const types = new Set(calls.map(({ headers }) => String(headers['content-type']).split(';')[0]));
  return {
    deliveries: `sent ${calls.length} times for all its mails`,
    ids: ids.size === calls.length ? 'another id for each event' : 'one id for several events',
    timestamps: times.every(isNear) ? 'seconds, at the time of the event' : 'not the time of the event in seconds',
    'content types': [...types].toSorted(),
  };
}

const inboxIdOf = ({ body }: ReceivedCall) => (JSON.parse(body) as { inboxId?: string }).inboxId;

const isAbout = (inboxes: readonly OwnInbox[], id: string | undefined) => inboxes.some((inbox) => inbox.id === id);

/**
 * Waits until a webhook was told of `count` mails of its inboxes. Deliveries to a receiver on loopback must arrive; a
 * public URL may not lead to the receiver, so nothing is known about a webhook whose deliveries do not arrive there.
 */
async function waitForOwnCalls(s: VerifySession, receiver: HookReceiver, inboxes: readonly OwnInbox[], count: number) {
  const own = () => receiver.calls.filter((call) => isAbout(inboxes, inboxIdOf(call))).length;
  await s
    .waitOnce('delivery', `${count} deliveries`, () => own() >= count || undefined)
    .catch((error: unknown) => {
      const mayBeUnreachable = !isLoopbackHost(new URL(receiver.url).hostname);
      if (mayBeUnreachable || !(error instanceof VerifyError) || error.endsRun) throw error;
    });
}

/** Which signatures of the calls of a webhook are made with its secret. */
function signaturesOf({ calls, webhook }: Told['receiver']): Readonly<Record<string, string>> {
  const secret = String(webhook.secret);
  const secretBytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const judge = (find: (call: ReceivedCall) => string | undefined, sign: (call: ReceivedCall) => string) => {
    const signed = calls.filter((call) => find(call) !== undefined);
    if (signed.length === 0) return 'none';
    return signed.every((call) => find(call)?.includes(sign(call))) ? 'right' : 'made with another secret or text';
  };
  const header = ({ headers }: ReceivedCall, name: string) => headers[name]?.toString();
  const standard = (call: ReceivedCall) => {
    const signedText = [header(call, 'webhook-id'), header(call, 'webhook-timestamp'), call.body].join('.');
    return createHmac('sha256', secretBytes).update(signedText).digest('base64');
  };
  return {
    standard: judge((call) => header(call, 'webhook-signature'), standard),
    hex: judge(findHexSignature, ({ body }) => createHmac('sha256', secret).update(body).digest('hex')),
  };
}

/** Returns the value of the header that has an HMAC-SHA256 in hex. */
function findHexSignature({ headers }: ReceivedCall): string | undefined {
  const value = Object.values(headers).find((each) => /[0-9a-f]{64}/.test(String(each)));
  return value === undefined ? undefined : String(value);
}
