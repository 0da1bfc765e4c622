import type { OtherValues } from './behaviour.ts';

/** A name as RFC 9110 wants it (section 5.6.2), of a length that every server takes. */
const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;

/** What HTTP, `fetch` or a delivery itself uses: a signature there would break the request or be lost. */
const IN_USE = new RegExp(
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
    'origin|permissions-policy|range|if-.*|referer|set-cookie2?|te|trailer|transfer-encoding|upgrade|user-agent|via',
    '__proto__',
  ].join('|')})$`,
);

/** The name of a header of one's own; it counts in lower case. */
export const headerName: OtherValues = {
  rule: 'any other header name, as x-acme-signature, but none that HTTP or the delivery uses, as host or webhook-id',
  parse(text) {
    const name = text.toLowerCase();
    return NAME.test(name) && !IN_USE.test(name) ? name : undefined;
  },
};
