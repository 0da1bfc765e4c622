import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { fromBase64, toBase64, toHex } from '../contract/base64.ts';

const encoder = new TextEncoder();

/**
 * Signs a delivery as Standard Webhooks says: `v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`. The key
 * is the bytes that the secret has in base64 behind `whsec_`.
 */
export function signStandard(secret: string, id: string, timestampSeconds: number, body: Uint8Array): string {
  const key = fromBase64(secret.replace(/^whsec_/, ''));
  const head = encoder.encode(`${id}.${timestampSeconds}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return `v1,${toBase64(hmacSha256(key, content))}`;
}

/** Signs a delivery in the simpler way: the hex HMAC-SHA256 of the raw body; the key is the secret as it is written. */
export function signHex(secret: string, body: Uint8Array): string {
  return toHex(hmacSha256(encoder.encode(secret), body));
}

/** Makes the HMAC-SHA256 of some data. */
export type Hmac = (key: Uint8Array, data: Uint8Array) => Uint8Array;

/**
 * Runs everywhere: the platform's own in browsers answers only later, and a delivery is written at once. The library
 * takes only bytes of the `Uint8Array` that it sees itself, so it gets copies.
 */
export const portableHmac: Hmac = (key, data) => hmac(sha256, new Uint8Array(key), new Uint8Array(data));

/** Node's own where there is one, which is several times as quick. */
export const hmacSha256: Hmac = findNodeHmac() ?? portableHmac;

/** The part of `node:crypto` that is used, which no import may name here. */
interface NodeCrypto {
  createHmac(algorithm: 'sha256', key: Uint8Array): { update(data: Uint8Array): { digest(): Uint8Array } };
}

function findNodeHmac(): Hmac | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const crypto = process?.getBuiltinModule?.('node:crypto') as NodeCrypto | undefined;
  return crypto && ((key, data) => crypto.createHmac('sha256', key).update(data).digest());
}
