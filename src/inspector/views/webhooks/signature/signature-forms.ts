/** What a signature is made of. */
export interface SignedParts {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  readonly secret: string;
}

/** The two ways in which a delivery is signed: by Standard Webhooks, and with the hex HMAC of the body. */
export type Scheme = 'standard' | 'hex';

/** One way to write a part of what is signed. */
export interface Form<Value> {
  /** Returns `undefined` if the part cannot be written in this way. */
  write(parts: SignedParts): Value | undefined;
  /** What is wrong if a signature that was received fits this form instead of the correct one. */
  readonly received: string;
  /** What the code of the receiver did if it computed a signature in this form. */
  readonly computed: string;
}

type KeyName = 'decoded' | 'whole';

/** The bytes of the key. Which one is correct depends on the scheme. */
export const KEYS: Readonly<Record<KeyName, Form<Uint8Array>>> = {
  decoded: {
    write: ({ secret }) => decodeBase64(secret.replace(/^whsec_/, '')),
    received: 'The key of this signature is the secret decoded from base64, instead of its whole text.',
    computed: 'Your code used the secret decoded from base64 as the key; use its whole text, with whsec_.',
  },
  whole: {
    write: ({ secret }) => utf8(secret),
    received: 'The key of this signature is the whole text of the secret, instead of its part after whsec_ in base64.',
    computed: 'Your code used the text of the secret as the key; decode the part after whsec_ from base64.',
  },
};

export const KEY_MISTAKES: readonly Form<Uint8Array>[] = [
  {
    write: ({ secret }) => utf8(secret.replace(/^whsec_/, '')),
    received: 'The key of this signature is the text of the secret without whsec_.',
    computed: 'Your code used the text of the secret without whsec_ as the key.',
  },
  {
    write: ({ secret }) => decodeBase64(tidy(secret).replace(/^whsec_/, '')),
    received: 'The secret has spaces, line breaks or quotes around it.',
    computed: 'Your code removed spaces, line breaks or quotes from the secret.',
  },
  {
    write: ({ secret }) => utf8(tidy(secret)),
    received: 'The secret has spaces, line breaks or quotes around it.',
    computed: 'Your code removed spaces, line breaks or quotes from the secret.',
  },
  {
    write: ({ secret }) => utf8(`whsec_${tidy(secret)}`),
    received: 'The secret lacks its prefix whsec_, which is part of the key of this signature.',
    computed: 'Your code added whsec_ to the secret.',
  },
];

type ContentName = 'full' | 'body';

/** The text around the body that is signed. */
export const CONTENTS: Readonly<Record<ContentName, Form<string>>> = {
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

export const CONTENT_MISTAKES: readonly Form<string>[] = [
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

/** Encodes a text. */
export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function tidy(secret: string): string {
  return secret.trim().replace(/^(['"`])(.*)\1$/, '$2');
}
