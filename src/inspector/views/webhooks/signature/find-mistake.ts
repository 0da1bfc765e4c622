import { hmac } from '@stablelib/hmac';
import { SHA256 } from '@stablelib/sha256';
import { toHex } from '../../../hex.ts';

/** What a signature is made of. */
export interface SignedParts {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  readonly secret: string;
}

/** The two ways in which a delivery is signed: by Standard Webhooks, and with the hex HMAC of the body. */
export type Scheme = 'standard' | 'hex';

/** How a signature is computed: which bytes are the key, which text is signed, and how the result is written. */
interface Recipe {
  /** Returns the key, or `undefined` if the secret has no such key. */
  key(secret: string): Uint8Array | undefined;
  /** Returns the body that is signed, or `undefined` if the body cannot be changed in this way. */
  body(body: string): string | undefined;
  /** Returns the text that is signed. */
  content(parts: SignedParts): string;
  write(mac: Uint8Array): string;
}

const decodeSecret = (secret: string) => decodeBase64(secret.replace(/^whsec_/, ''));
const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text);
const joinAll = ({ id, timestamp, body }: SignedParts) => `${id}.${timestamp}.${body}`;
const bodyAlone = ({ body }: SignedParts) => body;
const writeBase64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

/** The correct recipe of each scheme. */
const CORRECT: Readonly<Record<Scheme, Recipe>> = {
  standard: { key: decodeSecret, body: (body) => body, content: joinAll, write: writeBase64 },
  hex: { key: encodeText, body: (body) => body, content: bodyAlone, write: toHex },
};

/** One known mistake: what it changes in the correct recipe. */
interface Mistake {
  readonly changes: Partial<Recipe>;
  /** The message if a received signature fits the recipe with this change. */
  readonly received: string;
  /** The message if the code of the receiver computed a signature with this change. */
  readonly computed: string;
}

/** Creates the mistake of a secret with something around it. `key` is the correct way to make the key. */
const untidySecret = (key: Recipe['key']): Mistake => ({
  changes: { key: (secret) => key(tidy(secret)) },
  received: 'The secret has spaces, line breaks or quotes around it.',
  computed: 'Your code removed spaces, line breaks or quotes from the secret.',
});

/** The mistakes that are possible in one scheme only, because the other scheme asks for exactly this. */
const MISTAKES_IN_SCHEME: Readonly<Record<Scheme, readonly Mistake[]>> = {
  standard: [
    {
      changes: { key: encodeText },
      received:
        'The key of this signature is the whole text of the secret, instead of its part after whsec_ in base64.',
      computed: 'Your code used the text of the secret as the key; decode the part after whsec_ from base64.',
    },
    untidySecret(decodeSecret),
    {
      changes: { content: bodyAlone },
      received: 'This signature is that of the body alone, instead of id.timestamp.body.',
      computed: 'Your code signed the body alone; sign id.timestamp.body, joined with full stops.',
    },
    {
      changes: { write: toHex },
      received: 'The signature is written in hex; it must be base64.',
      computed: 'Your code wrote the signature in hex; write it in base64.',
    },
    {
      changes: { content: ({ timestamp, body }) => `${timestamp}.${body}`, write: toHex },
      received: 'This signature is that of timestamp.body in hex, as Stripe signs; it must sign id.timestamp.body.',
      computed: 'Your code signed timestamp.body in hex, as for Stripe; sign id.timestamp.body, and write base64.',
    },
  ],
  hex: [
    {
      changes: { key: decodeSecret },
      received: 'The key of this signature is the secret decoded from base64, instead of its whole text.',
      computed: 'Your code used the secret decoded from base64 as the key; use its whole text, with whsec_.',
    },
    untidySecret(encodeText),
    {
      changes: { key: (secret) => encodeText(`whsec_${tidy(secret)}`) },
      received: 'The secret lacks its prefix whsec_, which is part of the key of this signature.',
      computed: 'Your code added whsec_ to the secret.',
    },
    {
      changes: { content: joinAll },
      received: 'This signature is that of id.timestamp.body, instead of the body alone.',
      computed: 'Your code signed id.timestamp.body; for this header, sign the body alone.',
    },
    {
      changes: { write: writeBase64 },
      received: 'The signature is written in base64; it must be hex.',
      computed: 'Your code wrote the signature in base64; write it in hex.',
    },
  ],
};

/** The mistakes that are possible in both schemes, besides those with the body. */
const MISTAKES_IN_BOTH: readonly Mistake[] = [
  {
    changes: { key: (secret) => encodeText(secret.replace(/^whsec_/, '')) },
    received: 'The key of this signature is the text of the secret without whsec_.',
    computed: 'Your code used the text of the secret without whsec_ as the key.',
  },
  {
    changes: { content: ({ timestamp, body }) => `${timestamp}.${body}` },
    received: 'This signature is that of timestamp.body, without the id.',
    computed: 'Your code signed timestamp.body, as for Stripe; sign id.timestamp.body.',
  },
  {
    changes: { content: ({ id, timestamp, body }) => `${id}${timestamp}${body}` },
    received: 'This signature is that of the id, timestamp and body without full stops between them.',
    computed: 'Your code joined the id, timestamp and body without full stops; join them with full stops.',
  },
];

/** Decodes a text from base64; `undefined` if it is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Removes spaces, line breaks and quotes around a secret. */
function tidy(secret: string): string {
  return secret.trim().replace(/^(['"`])(.*)\1$/, '$2');
}

/** Computes the correct signature; `undefined` if the secret cannot be decoded. */
export function signCorrectly(parts: SignedParts, scheme: Scheme): string | undefined {
  return sign(parts, CORRECT[scheme]);
}

/** Computes a signature by a recipe; `undefined` if the recipe cannot be followed with these parts. */
function sign(parts: SignedParts, { key, body, content, write }: Recipe): string | undefined {
  const keyBytes = key(parts.secret);
  const text = body(parts.body);
  if (!keyBytes || text === undefined) return undefined;
  return write(hmac(SHA256, keyBytes, encodeText(content({ ...parts, body: text }))));
}

/**
 * Describes the one mistake that leads from the parts to this signature. Returns an empty list if the signature is
 * correct, and `undefined` if no single known mistake leads to it: the mistake is another one, or there are several.
 */
export function findMistake(
  signature: string,
  parts: SignedParts,
  scheme: Scheme,
  side: 'received' | 'computed',
): [] | [mistake: string] | undefined {
  const correct = CORRECT[scheme];
  if (sign(parts, correct) === signature) return [];
  const known = [...MISTAKES_IN_SCHEME[scheme], ...MISTAKES_IN_BOTH, ...BODY_MISTAKES];
  const mistake = known.find(({ changes }) => sign(parts, { ...correct, ...changes }) === signature);
  return mistake && [mistake[side]];
}

/** What helps against a body that was parsed and written again. */
export const ROUND_TRIP = 'Verify the raw bytes of the request, before JSON.parse.';

/** Creates the mistake of verifying a body that a JSON parser has read and a JSON writer has written again. */
const jsonMistake = (name: string, write: (value: unknown) => string | undefined): Mistake => ({
  changes: { body: (body) => ifJson(body, write) },
  received: `The body was parsed and written again: the signature fits the same JSON ${name}. ${ROUND_TRIP}`,
  computed: `Your code signed a body that was parsed and written again: ${name}. ${ROUND_TRIP}`,
});

const bodyMistake = (body: (body: string) => string | undefined, received: string, computed: string): Mistake => ({
  changes: { body },
  received,
  computed,
});

const escapeNonAscii = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The mistakes with the body, which are possible in both schemes. */
const BODY_MISTAKES: readonly Mistake[] = [
  bodyMistake(
    (body) => body.trim().replace(/^\ufeff/, ''),
    'The body has a line break or a space at its start or end that was not sent.',
    'Your code removed spaces or line breaks from the start or end of the body.',
  ),
  bodyMistake(
    (body) => `${body}\n`,
    'A line break at the end of the body is missing.',
    'Your code added a line break at the end of the body.',
  ),
  jsonMistake('without spaces and line breaks', (value) => JSON.stringify(value)),
  jsonMistake('indented by 2 spaces', (value) => JSON.stringify(value, null, 2)),
  jsonMistake('indented by 4 spaces', (value) => JSON.stringify(value, null, 4)),
  jsonMistake('with spaces after colons and commas', writeSpaced),
  jsonMistake('with spaces, and with letters beyond ASCII escaped', (value) => escapeNonAscii(writeSpaced(value))),
  jsonMistake('with letters beyond ASCII escaped', (value) => escapeNonAscii(JSON.stringify(value))),
  jsonMistake('with slashes escaped', (value) => JSON.stringify(value).replaceAll('/', '\\/')),
  jsonMistake('with the fields in order of their names', (value) => JSON.stringify(sortFields(value))),
  {
    changes: { body: (body) => ifJson(body, (value) => (typeof value === 'string' ? value : undefined)) },
    received:
      'The body was written as JSON twice: it is a text in quotes, with the body that was sent inside. ' +
      `${ROUND_TRIP}`,
    computed: 'Your code read the body as a JSON text and signed what is in it.',
  },
  bodyMistake(
    (body) => body.replaceAll('\r\n', '\n'),
    'The line breaks of the body were changed to those of Windows (CRLF).',
    'Your code changed the line breaks of the body.',
  ),
  bodyMistake(toUtf8, 'The body was read as Latin-1, but it is UTF-8.', 'Your code changed the encoding of the body.'),
  bodyMistake(
    () => '',
    'The signature is that of an empty body.',
    'Your code signed an empty body: something else, such as a body parser, had already read it.',
  ),
];

/** Calls `use` with the value of a JSON text. Returns `undefined` if the text is not JSON. */
function ifJson<Result>(text: string, use: (value: unknown) => Result): Result | undefined {
  try {
    return use(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Writes JSON with a space after each colon and comma, as `json.dumps` of Python does. */
function writeSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSpaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${writeSpaced(each)}`)
    .join(', ')}}`;
}

/** Returns a JSON value with the fields of each object in the order of their names. */
export function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, sortFields(each)]),
  );
}

/** Decodes a text as UTF-8, if somebody has wrongly decoded it as Latin-1; `undefined` if that is not possible. */
function toUtf8(text: string): string | undefined {
  if (!/^[\0-\xff]*$/.test(text)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(text, (each) => each.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
