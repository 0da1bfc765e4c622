import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** What a signature is made of. */
export interface SignedParts {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  readonly secret: string;
}

/** The two ways in which a delivery is signed: by Standard Webhooks, and with the hex HMAC of the body. */
export type Scheme = 'standard' | 'hex';

/** One variant of the key, the content or the body: the correct variant, or the result of a mistake. */
interface Variant<Value> {
  /** Writes this variant; returns `undefined` if that is not possible. */
  write(parts: SignedParts): Value | undefined;
  /** The message if a received signature fits this variant instead of the correct variant. */
  readonly received: string;
  /** The message if the code of the receiver computed a signature with this variant. */
  readonly computed: string;
}

/** Two variants of the key. The scheme decides which of them is correct. */
const KEYS: Readonly<Record<'decoded' | 'whole', Variant<Uint8Array>>> = {
  decoded: {
    write: ({ secret }) => decodeBase64(secret.replace(/^whsec_/, '')),
    received: 'The key of this signature is the secret decoded from base64, instead of its whole text.',
    computed: 'Your code used the secret decoded from base64 as the key; use its whole text, with whsec_.',
  },
  whole: {
    write: ({ secret }) => encodeText(secret),
    received: 'The key of this signature is the whole text of the secret, instead of its part after whsec_ in base64.',
    computed: 'Your code used the text of the secret as the key; decode the part after whsec_ from base64.',
  },
};

const UNTIDY_SECRET = {
  received: 'The secret has spaces, line breaks or quotes around it.',
  computed: 'Your code removed spaces, line breaks or quotes from the secret.',
};

const KEY_MISTAKES: readonly Variant<Uint8Array>[] = [
  {
    write: ({ secret }) => encodeText(secret.replace(/^whsec_/, '')),
    received: 'The key of this signature is the text of the secret without whsec_.',
    computed: 'Your code used the text of the secret without whsec_ as the key.',
  },
  { ...UNTIDY_SECRET, write: ({ secret }) => decodeBase64(tidy(secret).replace(/^whsec_/, '')) },
  { ...UNTIDY_SECRET, write: ({ secret }) => encodeText(tidy(secret)) },
  {
    write: ({ secret }) => encodeText(`whsec_${tidy(secret)}`),
    received: 'The secret lacks its prefix whsec_, which is part of the key of this signature.',
    computed: 'Your code added whsec_ to the secret.',
  },
];

/** Two variants of the signed content. The scheme decides which of them is correct. */
const CONTENTS: Readonly<Record<'full' | 'body', Variant<string>>> = {
  full: {
    write: ({ id, timestamp, body }) => `${id}.${timestamp}.${body}`,
    received: 'This signature is that of id.timestamp.body, instead of the body alone.',
    computed: 'Your code signed id.timestamp.body; for this header, sign the body alone.',
  },
  body: {
    write: ({ body }) => body,
    received: 'This signature is that of the body alone, instead of id.timestamp.body.',
    computed: 'Your code signed the body alone; sign id.timestamp.body, joined with full stops.',
  },
};

const CONTENT_MISTAKES: readonly Variant<string>[] = [
  {
    write: ({ timestamp, body }) => `${timestamp}.${body}`,
    received: 'This signature is that of timestamp.body, without the id.',
    computed: 'Your code signed timestamp.body, as for Stripe; sign id.timestamp.body.',
  },
  {
    write: ({ id, timestamp, body }) => `${id}${timestamp}${body}`,
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

/** Encodes a text as UTF-8. */
const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Removes spaces, line breaks and quotes around a secret. */
function tidy(secret: string): string {
  return secret.trim().replace(/^(['"`])(.*)\1$/, '$2');
}

/** The correct variants for each scheme. */
const CORRECT = {
  standard: { key: 'decoded', content: 'full', encoding: 'base64' },
  hex: { key: 'whole', content: 'body', encoding: 'hex' },
} as const;

type EncodeBytes = (bytes: Uint8Array) => string;

const ENCODINGS: Readonly<Record<'base64' | 'hex', EncodeBytes>> = {
  base64: (bytes) => btoa(String.fromCharCode(...bytes)),
  hex: bytesToHex,
};

const createEncodingMistake = (found: string, correct: string) => ({
  received: `The signature is written in ${found}; it must be ${correct}.`,
  computed: `Your code wrote the signature in ${found}; write it in ${correct}.`,
});

/** Computes the correct signature; `undefined` if the secret cannot be decoded. */
export function signCorrectly(parts: SignedParts, scheme: Scheme): string | undefined {
  const { key, content, encoding } = CORRECT[scheme];
  const keyBytes = KEYS[key].write(parts);
  const text = CONTENTS[content].write(parts);
  return keyBytes && text !== undefined ? ENCODINGS[encoding](hmac(sha256, keyBytes, encodeText(text))) : undefined;
}

/** For a longer body, only single mistakes are tried, because all combinations would take too long. */
const MAX_LENGTH_FOR_ALL = 32 * 1024;

/**
 * Describes the mistakes that lead from the parts to this signature, as few as possible. Returns an empty list if the
 * signature is correct, and `undefined` if no known mistakes lead to it.
 */
export function findMistakes(
  signature: string,
  parts: SignedParts,
  scheme: Scheme,
  side: 'received' | 'computed',
): string[] | undefined {
  const maxMistakes = parts.body.length > MAX_LENGTH_FOR_ALL ? 1 : 3;
  for (const { body, key, content, mistakes } of combineVariants(scheme)) {
    if (mistakes.length > maxMistakes) return undefined;
    const text = body.write(parts);
    const signed = text === undefined ? undefined : content.write({ ...parts, body: text });
    const encodingMistakes = checkEncoding(signature, key.write(parts), signed, scheme);
    if (encodingMistakes) return [...mistakes, ...encodingMistakes].map((mistake) => mistake[side]);
  }
  return undefined;
}

/** Returns a list with the mistake in the encoding, if there is one; `undefined` if the key or the text is wrong. */
function checkEncoding(signature: string, key: Uint8Array | undefined, signed: string | undefined, scheme: Scheme) {
  if (!key || signed === undefined) return undefined;
  const mac = hmac(sha256, key, encodeText(signed));
  const correct = CORRECT[scheme].encoding;
  const found = (['base64', 'hex'] as const).find((encoding) => signature === ENCODINGS[encoding](mac));
  if (found === undefined) return undefined;
  return found === correct ? [] : [createEncodingMistake(found, correct)];
}

/** Combines all variants, with the fewest mistakes first. The first variant in each list is the correct one. */
function combineVariants(scheme: Scheme) {
  const { key, content } = CORRECT[scheme];
  const keys = [...new Set([KEYS[key], ...Object.values(KEYS), ...KEY_MISTAKES])];
  const contents = [...new Set([CONTENTS[content], ...Object.values(CONTENTS), ...CONTENT_MISTAKES])];
  const correct: readonly unknown[] = [BODIES[0], keys[0], contents[0]];
  const all = BODIES.flatMap((body) =>
    keys.flatMap((key) =>
      contents.map((content) => {
        const mistakes = [body, key, content].filter((variant) => !correct.includes(variant));
        return { body, key, content, mistakes };
      }),
    ),
  );
  return all.sort((a, b) => a.mistakes.length - b.mistakes.length);
}

const ROUND_TRIP = 'Verify the raw bytes of the request, before a JSON parser reads them.';

/** Creates a variant of the body that results from a JSON parser and a JSON writer. */
const jsonVariant = (name: string, write: (value: unknown) => string | undefined): Variant<string> => ({
  write: ({ body }) => ifJson(body, write),
  received: `The body was changed by a JSON round trip: the signature fits the same JSON ${name}. ${ROUND_TRIP}`,
  computed: `Your code signed the body after a JSON round trip: ${name}. ${ROUND_TRIP}`,
});

const textVariant = (
  write: (body: string) => string | undefined,
  received: string,
  computed: string,
): Variant<string> => ({ write: ({ body }) => write(body), received, computed });

const escapeNonAscii = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The variants of the body. The first variant is the correct one. */
const BODIES: readonly Variant<string>[] = [
  textVariant((body) => body, '', ''),
  textVariant(
    (body) => body.trim().replace(/^\ufeff/, ''),
    'The body has a line break or a space at its start or end that was not sent.',
    'Your code removed spaces or line breaks from the start or end of the body.',
  ),
  textVariant(
    (body) => `${body}\n`,
    'A line break at the end of the body is missing.',
    'Your code added a line break at the end of the body.',
  ),
  jsonVariant('without spaces and line breaks', (value) => JSON.stringify(value)),
  jsonVariant('indented by 2 spaces', (value) => JSON.stringify(value, null, 2)),
  jsonVariant('indented by 4 spaces', (value) => JSON.stringify(value, null, 4)),
  jsonVariant('with spaces after colons and commas', writeSpaced),
  jsonVariant('with spaces, and with letters beyond ASCII escaped', (value) => escapeNonAscii(writeSpaced(value))),
  jsonVariant('with letters beyond ASCII escaped', (value) => escapeNonAscii(JSON.stringify(value))),
  jsonVariant('with slashes escaped', (value) => JSON.stringify(value).replaceAll('/', '\\/')),
  jsonVariant('with the fields in order of their names', (value) => JSON.stringify(sortFields(value))),
  {
    write: ({ body }) => ifJson(body, (value) => (typeof value === 'string' ? value : undefined)),
    received:
      'The body was written as JSON twice: it is a text in quotes, with the body that was sent inside. ' +
      `${ROUND_TRIP}`,
    computed: 'Your code read the body as a JSON text and signed what is in it.',
  },
  textVariant(
    (body) => body.replaceAll('\r\n', '\n'),
    'The line breaks of the body were changed to those of Windows (CRLF).',
    'Your code changed the line breaks of the body.',
  ),
  textVariant(toUtf8, 'The body was read as Latin-1, but it is UTF-8.', 'Your code changed the encoding of the body.'),
  textVariant(
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

function sortFields(value: unknown): unknown {
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
