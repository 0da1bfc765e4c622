import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { BODIES } from './body-forms.ts';
import {
  CONTENT_MISTAKES,
  CONTENTS,
  KEY_MISTAKES,
  KEYS,
  type Scheme,
  type SignedParts,
  utf8,
} from './signature-forms.ts';

/** Which forms are correct. */
const CORRECT = {
  standard: { key: 'decoded', content: 'full', encoding: 'base64' },
  hex: { key: 'whole', content: 'body', encoding: 'hex' },
} as const;

type Mac = (bytes: Uint8Array) => string;

const ENCODINGS: Readonly<Record<'base64' | 'hex', Mac>> = {
  base64: (bytes) => btoa(String.fromCharCode(...bytes)),
  hex: bytesToHex,
};

const ENCODING_MISTAKES = {
  standard: {
    received: 'The signature is written in hex; it must be base64.',
    computed: 'Your code wrote the signature in hex; write it in base64.',
  },
  hex: {
    received: 'The signature is written in base64; it must be hex.',
    computed: 'Your code wrote the signature in base64; write it in hex.',
  },
} as const;

/** Computes the correct signature; `undefined` if the secret cannot be decoded. */
export function signCorrectly(parts: SignedParts, scheme: Scheme): string | undefined {
  const { key, content, encoding } = CORRECT[scheme];
  const bytes = KEYS[key].write(parts);
  const text = CONTENTS[content].write(parts)?.(parts.body);
  return bytes && text !== undefined ? ENCODINGS[encoding](hmac(sha256, bytes, utf8(text))) : undefined;
}

/** Beyond this size, only single mistakes are tried, so that the page does not wait. */
const MAX_LENGTH_FOR_ALL = 32 * 1024;

/**
 * Searches for the mistakes with which a signature fits the parts, the fewest first. Returns their descriptions: none
 * if the signature is correct; `undefined` if it fits in no known way.
 */
export function findMistakes(
  signature: string,
  parts: SignedParts,
  scheme: Scheme,
  side: 'received' | 'computed',
): string[] | undefined {
  const most = parts.body.length > MAX_LENGTH_FOR_ALL ? 1 : 3;
  for (const { body, key, content, mistakes } of combine(scheme)) {
    if (mistakes.length > most) return undefined;
    const texts = [key.write(parts), content.write(parts), body.write(parts)] as const;
    const encoding = encodingOf(signature, texts, scheme);
    if (encoding) return [...mistakes.map((form) => form[side]), ...encoding.map((each) => each[side])];
  }
  return undefined;
}

type Written = readonly [Uint8Array | undefined, ((body: string) => string) | undefined, string | undefined];

/** Returns what is wrong with the encoding of a signature, if the signature fits otherwise. */
function encodingOf(signature: string, [key, content, body]: Written, scheme: Scheme) {
  if (!key || !content || body === undefined) return undefined;
  const mac = hmac(sha256, key, utf8(content(body)));
  const texts = { base64: ENCODINGS.base64(mac), hex: ENCODINGS.hex(mac) };
  const correct = CORRECT[scheme].encoding;
  if (signature === texts[correct]) return [];
  return Object.values(texts).includes(signature) ? [ENCODING_MISTAKES[scheme]] : undefined;
}

/** Combines all forms. The first of each kind is the correct one; the others are mistakes. */
function combine(scheme: Scheme) {
  const { key, content } = CORRECT[scheme];
  const keys = [KEYS[key], ...Object.values(KEYS).filter((form) => form !== KEYS[key]), ...KEY_MISTAKES];
  const contents = [
    CONTENTS[content],
    ...Object.values(CONTENTS).filter((form) => form !== CONTENTS[content]),
    ...CONTENT_MISTAKES,
  ];
  const correct: readonly unknown[] = [BODIES[0], keys[0], contents[0]];
  const all = BODIES.flatMap((body) =>
    keys.flatMap((each) =>
      contents.map((around) => {
        const mistakes = [body, each, around].filter((form) => !correct.includes(form));
        return { body, key: each, content: around, mistakes };
      }),
    ),
  );
  return all.sort((a, b) => a.mistakes.length - b.mistakes.length);
}
