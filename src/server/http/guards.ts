import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { NAME } from '../../basics/version.ts';
import { ApiError } from '../../contract/errors.ts';
import { CONTROL_PATH, CONTROL_TOKEN_HEADER } from '../../control/table/control-path.ts';
import { type ApiRequest, ASSUMED_HEADER, FAULT_HEADER } from '../../service/pipeline/exchange.ts';
import { hostnameOf, isLoopbackHost } from '../loopback.ts';

/** The methods that at least one path supports. */
const SUPPORTED_METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS'];

/** The methods that are routed. PUT is one of them, because the reply to it depends on whether the path exists. */
const ROUTED_METHODS = [...SUPPORTED_METHODS, 'PUT'];

/**
 * Refuses a request whose `Host` is neither this machine nor allowed. This stops DNS rebinding: a page that rebinds its
 * own name to 127.0.0.1 still sends that name as `Host`.
 */
export function guardHost({ host }: IncomingHttpHeaders, allowedHosts: ReadonlySet<string>): void {
  // Node joins the values of a repeated header with commas.
  if (host === undefined || host.includes(',')) {
    throw new ApiError('VALIDATION_ERROR', 'The request must have one Host header.');
  }
  const hostname = hostnameOf(host);
  if (hostname !== undefined && (isLoopbackHost(hostname) || allowedHosts.has(hostname))) return;
  const problem = 'The Host header is neither a loopback name nor an allowed host';
  throw new ApiError('HOST_NOT_ALLOWED', `${problem}; start with --allow-host <host> to allow it.`);
}

/** Refuses methods that no path supports, and targets that are not a path. */
export function guardTarget({ method = '', url = '' }: IncomingMessage): void {
  if (!ROUTED_METHODS.includes(method)) throw createWrongMethodError(method);
  if (!url.startsWith('/')) throw new ApiError('VALIDATION_ERROR', 'The request target is not a path.');
}

/** Creates the error for a method that no path supports. */
export function createWrongMethodError(method: string): ApiError {
  const headers = { allow: SUPPORTED_METHODS.join(', ') };
  return new ApiError('METHOD_NOT_ALLOWED', `${method} is not supported.`, { headers });
}

/**
 * Guards the control plane. `token` is set if the user set one, or if other machines can reach the server; then each
 * call must send it in the header `X-Mock-Token`. Otherwise a call needs this header, with any value, only if its host
 * name is not a loopback name.
 */
export function guardControl(headers: IncomingHttpHeaders, token: string | undefined, request: ApiRequest): void {
  if (isDelivery(headers)) {
    throw new ApiError('DELIVERY_REFUSED', `A delivery to a webhook may not call ${CONTROL_PATH}.`);
  }
  if (!isFromOwnOrigin(headers)) {
    throw new ApiError('FOREIGN_ORIGIN', `A page from another origin may not call ${CONTROL_PATH}.`);
  }
  if (isFramedPage(request, token)) return;
  const sent = headers[CONTROL_TOKEN_HEADER];
  // To a host name that is not a loopback name, a foreign page can send a GET without a header that shows its origin. A
  // required custom header prevents this, because the browser then sends a preflight, which fails.
  const isLocal = () => isLoopbackHost(hostnameOf(headers.host ?? '') ?? '');
  if (token === undefined ? sent !== undefined || isLocal() : isSameSecret(String(sent), token)) return;
  const anyToken = `At a host name other than loopback's, ${CONTROL_PATH} needs the header X-Mock-Token`;
  const itsToken = 'The control plane needs the token that was printed or set at start, as X-Mock-Token: <token>.';
  throw new ApiError('UNAUTHORIZED', token === undefined ? `${anyToken}, with any value.` : itsToken);
}

/**
 * Returns whether a request is for a page that the inspector shows in a frame. A frame cannot send the token, so its
 * address has a proof instead: the HMAC of its path with the token. If a link leaks the proof, only this page is open.
 */
function isFramedPage({ method, path, query }: ApiRequest, token: string | undefined): boolean {
  const proof = query.get('proof');
  if (method !== 'GET' || proof === null || !path.endsWith('.html')) return false;
  query.delete('proof');
  if (token === undefined) return true;
  const { createHmac } = process.getBuiltinModule('node:crypto');
  return isSameSecret(proof, createHmac('sha256', token).update(path).digest('hex'));
}

/** Returns whether no page of another origin sent this. Such a page could not read replies, but reset the mailbox. */
function isFromOwnOrigin(headers: IncomingHttpHeaders): boolean {
  const sameOrigin = headers.origin === undefined || headers.origin === `http://${headers.host}`;
  return sameOrigin && [undefined, 'same-origin', 'none'].includes(headers['sec-fetch-site'] as string | undefined);
}

/** The headers that only a webhook delivery has. */
const DELIVERY_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/** Returns whether this is a delivery. A webhook with a control URL could reset the emulator or trigger itself. */
function isDelivery(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent'] === NAME || DELIVERY_HEADERS.some((name) => name in headers);
}

/** Compares secrets in constant time. */
function isSameSecret(one: string, other: string): boolean {
  // Only a server with a token needs this module of Node.
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto');
  // Hashes can be compared in constant time, whatever the lengths of the texts are.
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** Returns whether pages of an origin may call the API: a loopback origin, or one in `corsOrigins`; `*` allows all. */
export function isOriginAllowed(origin: string, corsOrigins: ReadonlySet<string>): boolean {
  return corsOrigins.has('*') || corsOrigins.has(origin.toLowerCase()) || isLoopbackOrigin(origin);
}

function isLoopbackOrigin(origin: string): boolean {
  const { protocol, hostname } = URL.canParse(origin) ? new URL(origin) : { protocol: '', hostname: '' };
  return /^https?:$/.test(protocol) && isLoopbackHost(hostname);
}

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': ROUTED_METHODS.join(','),
  'Access-Control-Allow-Headers': 'X-API-Key,Authorization,Content-Type',
  'Access-Control-Max-Age': '600',
};

const EXPOSED_HEADERS =
  `${ASSUMED_HEADER},${FAULT_HEADER},Allow,WWW-Authenticate,Content-Disposition,Retry-After,RateLimit-Limit,` +
  'RateLimit-Remaining,RateLimit-Reset,RateLimit-Policy';

/**
 * Sets the CORS headers of the response to a request from an allowed origin. Returns whether the request is a
 * preflight, which needs no further handling.
 */
export function setCorsHeaders({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  const preflightHeaders = method === 'OPTIONS' ? PREFLIGHT_HEADERS : {};
  const corsHeaders = {
    'Access-Control-Allow-Origin': String(headers.origin),
    Vary: 'Origin',
    ...preflightHeaders,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
  };
  for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
  return method === 'OPTIONS' && 'access-control-request-method' in headers;
}

/** The folder of the files of the inspector. */
const FILES_PATH = `${CONTROL_PATH}/inspector/`;

/** The paths of the page itself; without `Accept: text/html`, they list the control calls. */
const PAGE_PATHS = ['/', CONTROL_PATH, `${CONTROL_PATH}/`];

/** The icon that browsers ask for on each page that names none, such as a reply that somebody opens in a tab. */
export const FAVICON_PATH = '/favicon.ico';

/** Returns whether a request is for the inspector or one of its files. They contain no data, so they need no token. */
export function isForInspector({ method, path, headers }: ApiRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (path === FAVICON_PATH || path.startsWith(FILES_PATH)) return true;
  return PAGE_PATHS.includes(path) && wantsHtml(headers.get('accept') ?? '');
}

/** Returns whether an `Accept` header names HTML, and not with the weight 0, which refuses it. */
function wantsHtml(accept: string): boolean {
  return accept
    .toLowerCase()
    .split(',')
    .map((range) => range.replaceAll(/\s/g, '').split(';'))
    .some(([type, ...parameters]) => type === 'text/html' && !parameters.some((text) => /^q=0(\.0*)?$/.test(text)));
}
