import { hmac } from '@stablelib/hmac';
import { SHA256, hash as sha256 } from '@stablelib/sha256';
import { fromBase64, toBase64, toHex } from '../../basics/base64.ts';
import { truncate } from '../../basics/text.ts';
import { NAME } from '../../basics/version.ts';
import { toBareAddress } from '../../contract/addresses/email-address.ts';
import type { BehaviourValues } from '../../contract/behaviours.ts';
import type { Clock } from '../../world/clock.ts';
import type { DeliveryFaultKind } from '../../world/fault.ts';
import type { MailEvent, ShownPart } from '../journal/entry-data.ts';

/**
 * The payload of a delivery: one flat object (reference, "Delivery"). Behaviours decide what the reference leaves open.
 */
export interface DeliveryPayload {
  /** The id of the event. */
  readonly id?: string;
  /** The kind of the event, such as `message.received`. */
  readonly event: string;
  /** The id of the message that the event is about. */
  readonly messageId: string;
  /** The id of the inbox that received or sent the message. */
  readonly inboxId: string;
  /** The id of the thread of the message. */
  readonly threadId: string;
  /** The id of the workspace of the inbox. */
  readonly workspaceId?: string;
  /** The sender, such as `Dana Reyes <dana@customer.test>`. */
  readonly from: string;
  /** The recipients, separated by commas. */
  readonly to: string;
  /** The subject of the message. */
  readonly subject?: string;
  /** The body as text. */
  readonly plainBody?: string;
  /** The body as HTML; null if the message has none. */
  readonly htmlBody?: string | null;
  /** When the message arrived or was sent: ISO 8601 UTC. */
  readonly receivedAt?: string;
  /** Only for a bounce with a report: the recipients that did not get the message, separated by commas. */
  readonly recipient?: string;
  /** Only for a bounce with a report: their status codes (RFC 3463) in the same order, separated by commas. */
  readonly statusCode?: string;
}

/** Creates the payload for an event. */
export function toPayload(event: MailEvent, behaviours: BehaviourValues): DeliveryPayload {
  const fields =
    behaviours['deliveries.payload'] === 'reference'
      ? referenceFields(event, behaviours)
      : allFields(event, behaviours);
  return freeze({ ...fields, ...event.overrides });
}

/** Freezes a payload. Callers get this object, and later attempts send it, so it must not change. */
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

/** Returns what a payload shows of its mail. */
export function shownPartsOf(payload: Partial<DeliveryPayload> = {}): ShownPart[] {
  const parts: ShownPart[] = [];
  if (payload.subject !== undefined) parts.push('headers');
  if (payload.plainBody !== undefined) parts.push('plainBody');
  if (payload.htmlBody !== undefined) parts.push('htmlBody');
  return parts;
}

const SHOW_ADDRESS = { display: (address: string) => address, bare: toBareAddress };

function referenceFields({ event, inboxId, message }: MailEvent, behaviours: BehaviourValues): DeliveryPayload {
  const { id, threadId, from, to } = message;
  const show = SHOW_ADDRESS[behaviours['deliveries.addresses']];
  return { event, messageId: id, inboxId, threadId, from: show(from), to: to.map(show).join(', ') };
}

function allFields(event: MailEvent, behaviours: BehaviourValues): DeliveryPayload {
  const { id, workspaceId, message, bounce } = event;
  const { subject, plainBody, htmlBody, receivedAt } = message;
  return {
    id,
    ...referenceFields(event, behaviours),
    workspaceId,
    subject,
    plainBody,
    htmlBody,
    receivedAt,
    ...bounce,
  };
}

/**
 * Returns the id of the trace of an event, for the header `traceparent` (W3C Trace Context): 32 hexadecimal digits. It is
 * a hash, because a test can give an event any id.
 */
export function traceIdOf(eventId: string): string {
  return toHex(sha256(encoder.encode(eventId))).slice(0, 32);
}

/** The input of `createRequest`. */
export interface RequestInput {
  /** The value of `webhook-id`. */
  readonly id: string;
  /** The id of the event, for the header `traceparent`. */
  readonly eventId: string;
  /** The secret of the webhook. */
  readonly secret: string;
  /** The payload as JSON. */
  readonly content: string;
  /** The time for `webhook-timestamp`. */
  readonly now: Date;
  /** The fault to apply to the request. */
  readonly fault: DeliveryFaultKind | undefined;
  /** Generates a secret that differs from the secret of the webhook. */
  newSecret(): string;
  /** The behaviours that decide the form of the signatures and of `traceparent`. */
  readonly behaviours: BehaviourValues;
}

/**
 * Returns the time that a tenant and the receivers of its webhooks are assumed to share. Real time is the `Date` of this
 * process, even if the environment of the mailbox has another `now`, because receivers do not know that environment.
 */
export function timeOfReceivers(clock: Clock, behaviours: BehaviourValues): Date {
  return TIMES[behaviours['deliveries.timestamp']](clock);
}

const TIMES: Record<BehaviourValues['deliveries.timestamp'], (clock: Clock) => Date> = {
  real: () => new Date(),
  clock: (clock) => clock.now(),
};

/** How old the timestamp is with the fault `stale-timestamp`. */
const STALE_BY_MS = 60 * 60 * 1000;

/** How many characters the fault `oversize-body` adds. */
const PADDING_LENGTH = 1024 * 1024;

const encoder = new TextEncoder();

/** Creates the headers and the body of one attempt, with an id, the current time and the signatures. */
export function createRequest(input: RequestInput) {
  const { id, eventId, fault, content, now, behaviours } = input;
  const body =
    fault === 'oversize-body'
      ? JSON.stringify({ ...JSON.parse(content), padding: 'x'.repeat(PADDING_LENGTH) })
      : content;
  const timestamp = Math.floor((now.getTime() - (fault === 'stale-timestamp' ? STALE_BY_MS : 0)) / 1000);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': NAME,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
  };
  if (behaviours['deliveries.trace'] === 'header') headers.traceparent = createTraceParent(eventId, id);
  Object.assign(headers, sign(`${id}.${timestamp}.`, encoder.encode(body), secretsFor(input), behaviours));
  return { headers, body: fault === 'truncated-body' ? truncate(body, Math.floor(body.length / 2)) : body };
}

/** Returns the secrets with which the request is signed. Some faults add a wrong one, or sign with nothing else. */
function secretsFor({ fault, secret, newSecret }: RequestInput): string[] {
  if (fault === 'wrong-secret') return [newSecret()];
  if (fault === 'two-signatures') return [newSecret(), secret];
  return [secret];
}

/** Creates the value of `traceparent`: the version, the trace of the event, the delivery as its parent, and a flag. */
function createTraceParent(eventId: string, id: string): string {
  return `00-${traceIdOf(eventId)}-${toHex(sha256(encoder.encode(id))).slice(0, 16)}-01`;
}

/** Returns the headers with a signature for each secret. Standard Webhooks signs `start`, followed by the body. */
function sign(start: string, body: Uint8Array, secrets: readonly string[], behaviours: BehaviourValues) {
  const kinds = behaviours['deliveries.signature'];
  const prefix = HEX_PREFIXES[behaviours['deliveries.signature.form']];
  const standard = () => secrets.map((secret) => signStandard(secret, start, body)).join(' ');
  // The HMAC-SHA256 of the raw body in hex. The key is the whole text of the secret.
  const hex = () => secrets.map((secret) => prefix + toHex(hmacSha256(encoder.encode(secret), body))).join(',');
  const headers: Record<string, string> = {};
  if (kinds !== 'hex') headers['webhook-signature'] = standard();
  if (kinds !== 'standard') headers[behaviours['deliveries.signature.header']] = hex();
  return headers;
}

const HEX_PREFIXES = { v1: 'v1=', sha256: 'sha256=', bare: '' };

/**
 * Signs a delivery by Standard Webhooks: `v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`. The key is the
 * part of the secret after `whsec_`, decoded from base64.
 */
function signStandard(secret: string, start: string, body: Uint8Array): string {
  const key = fromBase64(secret.replace(/^whsec_/, ''));
  const startBytes = encoder.encode(start);
  const content = new Uint8Array(startBytes.length + body.length);
  content.set(startBytes);
  content.set(body, startBytes.length);
  return `v1,${toBase64(hmacSha256(key, content))}`;
}

/** Computes the HMAC-SHA256 of some data. */
type Hmac = (key: Uint8Array, data: Uint8Array) => Uint8Array;

/** An implementation that works in every runtime. The Web Crypto API is not an option, because it is asynchronous. */
export const portableHmac: Hmac = (key, data) => hmac(SHA256, key, data);

/** Uses the implementation of Node if there is one, because it is several times faster. */
export const hmacSha256: Hmac = (key, data) => (findNodeHmac() ?? portableHmac)(key, data);

/** The part of `node:crypto` that this file uses. It is not imported, because this file also runs in browsers. */
interface NodeCrypto {
  createHmac(algorithm: 'sha256', key: Uint8Array): { update(data: Uint8Array): { digest(): Uint8Array } };
}

function findNodeHmac(): Hmac | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const crypto = process?.getBuiltinModule?.('node:crypto') as NodeCrypto | undefined;
  return crypto && ((key, data) => crypto.createHmac('sha256', key).update(data).digest());
}

/** Moves the user name and the password of a URL to a header, because `fetch` refuses them in a URL. */
export function splitLogin(url: string): { href: string; loginHeader?: { authorization: string } } {
  if (!url.includes('@')) return { href: url };
  const target = new URL(url);
  const { username, password } = target;
  if (username === '' && password === '') return { href: url };
  target.username = '';
  target.password = '';
  const credentials = encoder.encode(`${decode(username)}:${decode(password)}`);
  return { href: target.href, loginHeader: { authorization: `Basic ${toBase64(credentials)}` } };
}

/** Returns a URL without the parts that may be secret: user name, password, query and fragment. */
export function withoutSecrets(url: string): string {
  return splitLogin(url).href.replace(/[?#].*$/s, '');
}

/** Decodes percent-encoding; returns a text with invalid percent-encoding unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
