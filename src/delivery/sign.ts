import { fromBase64, toBase64, toHex } from '../contract/base64.ts';
import { hmacSha256 } from './hmac.ts';

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
