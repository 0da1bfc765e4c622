import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { tokenHeaders } from './inspector-client.ts';

/**
 * Returns the address of a control page with a proof that this page has the token, because a frame cannot send it. Web
 * Crypto is missing at addresses other than loopback, so the proof is computed without it.
 */
export function addressWithProof(path: string): string {
  const encode = (text: string) => new TextEncoder().encode(text);
  const { 'x-mock-token': token } = tokenHeaders();
  return `${path}?proof=${bytesToHex(hmac(sha256, encode(token), encode(path)))}`;
}
