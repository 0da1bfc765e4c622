import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { fromBase64, toBase64, toHex } from '../../basics/base64.ts';
import { cut } from '../../basics/text.ts';
import { NAME } from '../../basics/version.ts';
import type { BehaviourValues } from '../../contract/behaviours.ts';
import type { DeliveryFaultKind } from '../../world/delivery-fault.ts';
import type { MailEvent } from '../../world/event-bus.ts';

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
  /** The sender in display form, such as `Dana Reyes <dana@customer.test>`. */
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
  /** Of a bounce that a report told of: the recipients that did not get the message, separated by commas. */
  readonly recipient?: string;
  /** Of a bounce that a report told of: their status codes (RFC 3463) in the same order, separated by commas. */
  readonly statusCode?: string;
}

/** Creates the payload for an event. */
export function toPayload(event: MailEvent, behaviours: BehaviourValues): DeliveryPayload {
  return freeze({ ...PAYLOADS[behaviours['deliveries.payload']](event), ...event.overrides });
}

/** Freezes a payload. Callers get this object, and later attempts send it, so it must not change. */
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

const PAYLOADS: Record<BehaviourValues['deliveries.payload'], (event: MailEvent) => DeliveryPayload> = {
  reference: referenceFields,
  'reference-and-content': (event) => ({
    id: event.id,
    ...referenceFields(event),
    workspaceId: event.workspaceId,
    subject: event.message.subject,
    plainBody: event.message.plainBody,
    htmlBody: event.message.htmlBody,
    receivedAt: event.message.receivedAt,
    ...event.bounce,
  }),
};

function referenceFields({ kind, inboxId, message }: MailEvent): DeliveryPayload {
  const { id, threadId, from, to } = message;
  return { event: kind, messageId: id, inboxId, threadId, from, to: to.join(', ') };
}

/** The headers and body of a request to a receiver. */
export interface OutgoingRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The input of `createRequest`. */
export interface RequestParts {
  /** The value of `webhook-id`. */
  readonly id: string;
  readonly secret: string;
  /** The payload as JSON. */
  readonly content: string;
  readonly now: Date;
  /** The fault to apply to the request. */
  readonly fault: DeliveryFaultKind | undefined;
  /** Generates a secret that differs from the secret of the webhook. */
  newSecret(): string;
  readonly behaviours: BehaviourValues;
}

/** How old the timestamp is with the fault `stale-timestamp`. */
const STALE_BY_MS = 60 * 60 * 1000;
const PADDING_LENGTH = 1024 * 1024;

const encoder = new TextEncoder();

/** Creates the request of one attempt, with an id, the current time and the signatures. */
export function createRequest(parts: RequestParts): OutgoingRequest {
  const { id, fault, content, now, behaviours } = parts;
  const body = fault === 'oversize-body' ? addPadding(content) : content;
  const timestamp = Math.floor((now.getTime() - (fault === 'stale-timestamp' ? STALE_BY_MS : 0)) / 1000);
  const signed: Signed = { id, timestamp, secrets: secretsOf(parts), body: encoder.encode(body) };
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': NAME,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      ...SIGNATURES[behaviours['deliveries.signature']](signed, behaviours),
    },
    body: fault === 'truncated-body' ? cut(body, Math.floor(body.length / 2)) : body,
  };
}

function addPadding(content: string): string {
  return JSON.stringify({ ...JSON.parse(content), padding: 'x'.repeat(PADDING_LENGTH) });
}

interface Signed {
  readonly id: string;
  readonly timestamp: number;
  readonly secrets: readonly string[];
  readonly body: Uint8Array;
}

type Sign = (signed: Signed, behaviours: BehaviourValues) => Record<string, string>;

const signByStandard: Sign = ({ id, timestamp, secrets, body }) => ({
  'webhook-signature': secrets.map((secret) => signStandard(secret, id, timestamp, body)).join(' '),
});

const signByHex: Sign = ({ secrets, body }, behaviours) => {
  const write = HEX_FORMS[behaviours['deliveries.signature.form']];
  return {
    [behaviours['deliveries.signature.header']]: secrets.map((secret) => write(signHex(secret, body))).join(','),
  };
};

const SIGNATURES: Record<BehaviourValues['deliveries.signature'], Sign> = {
  'standard-and-hex': (signed, behaviours) => ({
    ...signByStandard(signed, behaviours),
    ...signByHex(signed, behaviours),
  }),
  standard: signByStandard,
  hex: signByHex,
};

const HEX_FORMS: Record<BehaviourValues['deliveries.signature.form'], (hex: string) => string> = {
  v1: (hex) => `v1=${hex}`,
  sha256: (hex) => `sha256=${hex}`,
  bare: (hex) => hex,
};

/**
 * Signs a delivery by Standard Webhooks: `v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`. The key is the
 * part of the secret after `whsec_`, decoded from base64.
 */
function signStandard(secret: string, id: string, timestampSeconds: number, body: Uint8Array): string {
  const key = fromBase64(secret.replace(/^whsec_/, ''));
  const head = encoder.encode(`${id}.${timestampSeconds}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return `v1,${toBase64(hmacSha256(key, content))}`;
}

/** Signs a delivery with the HMAC-SHA256 of the raw body in hex. The key is the whole text of the secret. */
function signHex(secret: string, body: Uint8Array): string {
  return toHex(hmacSha256(encoder.encode(secret), body));
}

/** Computes the HMAC-SHA256 of some data. */
type Hmac = (key: Uint8Array, data: Uint8Array) => Uint8Array;

/**
 * The implementation for every runtime. The Web Crypto API is not an option, because it is asynchronous. The library
 * gets copies, because it accepts only instances of the `Uint8Array` of its own realm.
 */
export const portableHmac: Hmac = (key, data) => hmac(sha256, new Uint8Array(key), new Uint8Array(data));

/** The implementation of Node if available, because it is several times faster. It is loaded for the first delivery. */
export const hmacSha256: Hmac = (key, data) => (findNodeHmac() ?? portableHmac)(key, data);

/** The used part of `node:crypto`, which is not imported because this file also runs in browsers. */
interface NodeCrypto {
  createHmac(algorithm: 'sha256', key: Uint8Array): { update(data: Uint8Array): { digest(): Uint8Array } };
}

function findNodeHmac(): Hmac | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const crypto = process?.getBuiltinModule?.('node:crypto') as NodeCrypto | undefined;
  return crypto && ((key, data) => crypto.createHmac('sha256', key).update(data).digest());
}

function secretsOf({ fault, secret, newSecret }: RequestParts): string[] {
  if (fault === 'wrong-secret') return [newSecret()];
  return fault === 'two-signatures' ? [newSecret(), secret] : [secret];
}

/** Splits a URL from its user name and password. They are sent as a header, because `fetch` refuses them in a URL. */
export function splitLogin(url: string): {
  readonly href: string;
  readonly login?: { readonly authorization: string };
} {
  if (!url.includes('@')) return { href: url };
  const { username, password } = new URL(url);
  if (username === '' && password === '') return { href: url };
  const login = encoder.encode(`${decode(username)}:${decode(password)}`);
  const { href } = Object.assign(new URL(url), { username: '', password: '' });
  return { href, login: { authorization: `Basic ${toBase64(login)}` } };
}

/** Returns a URL without what may be secret: its login, its query and its fragment. */
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
