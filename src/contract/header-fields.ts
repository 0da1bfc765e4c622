import type { OtherValues } from './behaviour.ts';

/** A header name (RFC 9110, section 5.6.2) short enough for every server. */
const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;

/** Header names that HTTP, `fetch` or a delivery uses. A signature in such a header could be lost or break the call. */
const RESERVED_NAMES = new RegExp(
  `^(?:${[
    'webhook-.*',
    'content-.*',
    'accept.*',
    'access-control-.*',
    'proxy-.*',
    'sec-.*',
    'x-http-method.*',
    'x-method-override',
    'authorization|connection|cookie2?|date|dnt|expect|forwarded|host|http2-settings|keep-alive|max-forwards',
    'origin|permissions-policy|range|if-.*|referer|set-cookie2?|te|traceparent|tracestate|trailer|transfer-encoding|upgrade|user-agent|via',
    '__proto__',
  ].join('|')})$`,
);

/** Accepts a header name that the test author chooses, and converts it to lower case. */
export const headerName: OtherValues = {
  rule:
    'any other header name such as x-acme-signature, except names that HTTP or the delivery uses, such as host or ' +
    'webhook-id',
  parse(text) {
    const name = text.toLowerCase();
    return NAME.test(name) && !RESERVED_NAMES.test(name) ? name : undefined;
  },
};

/** Read access to request headers; the values of a repeated header are joined by commas. */
export interface HeaderReader {
  /** Returns the value of a header by its case-insensitive name; null if there is none. */
  get(name: string): string | null;
  /** Calls `visit` with each header; its name is in lower case. */
  forEach(visit: (value: string, name: string) => void): void;
}

/** Returns the URL by which a client has called the server, without a path, also through a proxy that ends TLS. */
export function calledUrl(headers: HeaderReader): string {
  const scheme = headers.get('x-forwarded-proto')?.startsWith('https') ? 'https' : 'http';
  return `${scheme}://${headers.get('host') ?? 'localhost'}`;
}

/**
 * The headers of each reply whose bytes come from a mail, because they may be hostile: a browser must not guess another
 * type, name the URL in a request, give a page that it opens a hold on this tab, or let another site embed them.
 */
export const HOSTILE_CONTENT_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** The headers of bytes of a mail that are a file, and that a browser must not run as a page of this origin. */
export const HOSTILE_FILE_HEADERS = {
  ...HOSTILE_CONTENT_HEADERS,
  'content-security-policy': "default-src 'none'; sandbox",
} as const;

/**
 * Returns the parameters of `Content-Disposition` for a file name (RFC 6266): the name in ASCII and, if it has other
 * characters, also in UTF-8.
 */
export function filenameParameters(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\]/g, '_');
  const encoded = encodeURIComponent(filename.replace(/\p{Surrogate}/gu, '_')).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return plain === filename ? `filename="${plain}"` : `filename="${plain}"; filename*=UTF-8''${encoded}`;
}
