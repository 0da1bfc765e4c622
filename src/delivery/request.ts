import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { fromBase64, toBase64, toHex } from '../contract/base64.ts';
import type { Choices } from '../contract/behaviours.ts';
import type { MailEvent } from '../events/event-bus.ts';
import type { DeliveryFaultKind } from '../faults/fault.ts';
import { cut } from '../mail/cut.ts';
import { NAME } from '../version.ts';

/** The payload of a delivery: one flat object (reference, "Delivery"; what it leaves open is in the ledger). */
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
  /** The display form, such as `Dana Reyes <dana@customer.test>`. */
  readonly from: string;
  /** The recipients, with commas between them. */
  readonly to: string;
  /** The subject of the message. */
  readonly subject?: string;
  /** The body as text. */
  readonly plainBody?: string;
  /** The body as HTML; null if the message has none. */
  readonly htmlBody?: string | null;
  /** When the message arrived or was sent: ISO 8601 UTC. */
  readonly receivedAt?: string;
}

/** Makes the payload for an event. */
export function toPayload(event: MailEvent, choices: Choices): DeliveryPayload {
  return freeze({ ...PAYLOADS[choices['deliveries.payload']](event), ...event.overrides });
}

/** A payload must stay as it is for later attempts, even though callers get it too. */
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

const PAYLOADS: Record<Choices['deliveries.payload'], (event: MailEvent) => DeliveryPayload> = {
  reference: referenceFields,
  'reference-and-content': (event) => ({
    id: event.id,
    ...referenceFields(event),
    workspaceId: event.workspaceId,
    subject: event.message.subject,
    plainBody: event.message.plainBody,
    htmlBody: event.message.htmlBody,
    receivedAt: event.message.receivedAt,
  }),
};

function referenceFields({ kind, inboxId, message }: MailEvent): DeliveryPayload {
  const { id, threadId, from, to } = message;
  return { event: kind, messageId: id, inboxId, threadId, from, to: to.join(', ') };
}

/** The request that a receiver gets. */
export interface OutgoingRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a request is made of. */
export interface RequestParts {
  /** The value of `webhook-id`. */
  readonly id: string;
  readonly secret: string;
  /** The payload as JSON. */
  readonly content: string;
  readonly now: Date;
  /** The fault to put into it. */
  readonly fault: DeliveryFaultKind | undefined;
  /** Makes a secret that is not the webhook's. */
  newSecret(): string;
  readonly choices: Choices;
}

const STALE_BY_MS = 60 * 60 * 1000;
const PADDING_LENGTH = 1024 * 1024;

const encoder = new TextEncoder();

/** Makes the request of one attempt: with the id of the delivery, the present time and a signature for both. */
export function createRequest(parts: RequestParts): OutgoingRequest {
  const { id, fault, content, now, choices } = parts;
  const body = fault === 'oversize-body' ? padded(content) : content;
  const timestamp = Math.floor((now.getTime() - (fault === 'stale-timestamp' ? STALE_BY_MS : 0)) / 1000);
  const signed: Signed = { id, timestamp, secrets: secretsOf(parts), body: encoder.encode(body) };
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': NAME,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      ...SIGNATURES[choices['deliveries.signature']](signed, choices),
    },
    body: fault === 'truncated-body' ? cut(body, Math.floor(body.length / 2)) : body,
  };
}

function padded(content: string): string {
  return JSON.stringify({ ...JSON.parse(content), padding: 'x'.repeat(PADDING_LENGTH) });
}

interface Signed {
  readonly id: string;
  readonly timestamp: number;
  readonly secrets: readonly string[];
  readonly body: Uint8Array;
}

type Sign = (signed: Signed, choices: Choices) => Record<string, string>;

const signByStandard: Sign = ({ id, timestamp, secrets, body }) => ({
  'webhook-signature': secrets.map((secret) => signStandard(secret, id, timestamp, body)).join(' '),
});

const signByHex: Sign = ({ secrets, body }, choices) => {
  const write = HEX_FORMS[choices['deliveries.signature.form']];
  return { [choices['deliveries.signature.header']]: secrets.map((secret) => write(signHex(secret, body))).join(',') };
};

const SIGNATURES: Record<Choices['deliveries.signature'], Sign> = {
  'standard-and-hex': (signed, choices) => ({ ...signByStandard(signed, choices), ...signByHex(signed, choices) }),
  standard: signByStandard,
  hex: signByHex,
};

const HEX_FORMS: Record<Choices['deliveries.signature.form'], (hex: string) => string> = {
  v1: (hex) => `v1=${hex}`,
  sha256: (hex) => `sha256=${hex}`,
  bare: (hex) => hex,
};

/**
 * Signs a delivery as Standard Webhooks says: `v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`. The key
 * is the bytes that the secret has in base64 behind `whsec_`.
 */
function signStandard(secret: string, id: string, timestampSeconds: number, body: Uint8Array): string {
  const key = fromBase64(secret.replace(/^whsec_/, ''));
  const head = encoder.encode(`${id}.${timestampSeconds}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return `v1,${toBase64(hmacSha256(key, content))}`;
}

/** Signs a delivery in the simpler way: the HMAC-SHA256 of the raw body in hex; the key is the text of the secret. */
function signHex(secret: string, body: Uint8Array): string {
  return toHex(hmacSha256(encoder.encode(secret), body));
}

/** Makes the HMAC-SHA256 of some data. */
type Hmac = (key: Uint8Array, data: Uint8Array) => Uint8Array;

/**
 * Runs everywhere. The Web Crypto API is asynchronous, but a request is made synchronously. The library gets copies,
 * because it accepts only instances of the `Uint8Array` of its own realm.
 */
export const portableHmac: Hmac = (key, data) => hmac(sha256, new Uint8Array(key), new Uint8Array(data));

/** The one of Node if there is one: it is several times as fast. */
export const hmacSha256: Hmac = findNodeHmac() ?? portableHmac;

/** The part of `node:crypto` that is used. It is not imported, because this file runs in browsers too. */
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

/** Splits the login off the URL of a webhook: it is sent as a header, because `fetch` refuses a URL with a login. */
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

/** Decodes percent-encoding; a text that is not valid percent-encoding stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
