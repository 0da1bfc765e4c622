import type { Choices } from '../contract/behaviours.ts';
import type { DeliveryFaultKind } from '../faults/fault.ts';
import { NAME } from '../version.ts';
import { signHex, signStandard } from './sign.ts';

/** A request as it goes to a receiver. */
export interface OutgoingRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a request is made of. */
export interface RequestParts {
  /** What it carries as `webhook-id`. */
  readonly id: string;
  readonly secret: string;
  /** The payload as JSON. */
  readonly content: string;
  readonly now: Date;
  /** What is to be wrong with it. */
  readonly fault: DeliveryFaultKind | undefined;
  /** Makes a secret that is not the webhook's. */
  newSecret(): string;
  readonly choices: Choices;
}

const STALE_BY_MS = 60 * 60 * 1000;
const PADDING_LENGTH = 1024 * 1024;

const encoder = new TextEncoder();

/** Writes the request of one attempt, signed afresh: the same id each time, and the time of now. */
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
    body: fault === 'truncated-body' ? firstHalf(body) : body,
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

function secretsOf({ fault, secret, newSecret }: RequestParts): string[] {
  if (fault === 'wrong-secret') return [newSecret()];
  return fault === 'two-signatures' ? [newSecret(), secret] : [secret];
}

/** Half of a text, without half of a character at its end. */
function firstHalf(text: string): string {
  return text.slice(0, Math.floor(text.length / 2)).replace(/\p{Surrogate}$/u, '');
}
