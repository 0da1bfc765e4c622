import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { NAME } from '../../basics/version.ts';
import { ApiError } from '../../contract/errors.ts';
import { calledUrl } from '../../contract/header-fields.ts';
import { CONTROL_PATH, CONTROL_TOKEN_HEADER, PROOF_PARAMETER } from '../../control/table/control-path.ts';
import type { ApiRequest } from '../../service/pipeline/exchange.ts';
import { ASSUMED_HEADER, FAULT_HEADER } from '../../service/pipeline/reply.ts';
import { hostnameOf, isLoopbackHost } from '../loopback.ts';

/** The methods that at least one path supports. */
const SUPPORTED_METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS'];

/** The methods that are routed. PUT is routed, because the reply to PUT depends on whether the path exists. */
const ROUTED_METHODS = [...SUPPORTED_METHODS, 'PUT'];

/**
 * Refuses a request whose `Host` is neither a name of this machine nor an allowed host. This prevents DNS rebinding: a
 * page whose own host name now resolves to 127.0.0.1 still sends its own host name as `Host`.
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

/** Refuses a method that no path supports, and a target that is not a path. */
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
 * Guards the control plane. There are `tokens` if the user set one, or if other machines can reach the server. Then
 * each call must send one of them in the header `X-Mock-Token`. Otherwise, a call needs this header, with any value, only
 * if the host name of the call is not a loopback name.
 */
export function guardControl(
  headers: IncomingHttpHeaders,
  request: ApiRequest,
  tokens: readonly string[],
  publicUrl: string | undefined,
): void {
  if (isDelivery(headers)) {
    throw new ApiError('DELIVERY_REFUSED', `A delivery to a webhook may not call ${CONTROL_PATH}.`);
  }
  if (!isFromOwnOrigin(headers, request, publicUrl)) {
    throw new ApiError('FOREIGN_ORIGIN', `A page from another origin may not call ${CONTROL_PATH}.`);
  }
  if (hasProof(request, tokens)) return;
  const sent = headers[CONTROL_TOKEN_HEADER];
  // If the host name is not a loopback name, a page of another origin can send a GET without a header that shows the
  // origin of the page. A required custom header prevents this, because the browser then sends a preflight first, which
  // fails.
  if (tokens.length === 0) {
    const isLocal = isLoopbackHost(hostnameOf(headers.host ?? '') ?? '');
    if (isLocal || sent !== undefined) return;
    throw new ApiError(
      'UNAUTHORIZED',
      `At a host name that is not a loopback name, ${CONTROL_PATH} needs the header X-Mock-Token, with any value.`,
    );
  }
  if (tokens.some((token) => isSameSecret(String(sent), token))) return;
  throw new ApiError(
    'UNAUTHORIZED',
    'The control plane needs the token that was printed or set at start, as X-Mock-Token: <token>.',
  );
}

/**
 * Returns whether a request is for a page of a mail, and its URL has a valid proof. The inspector shows such a page in a
 * frame, which cannot send the token, so the URL has a proof instead: the HMAC of its path, with the token as the key.
 * Somebody who gets the URL can read only this page. No other call takes a proof.
 */
function hasProof({ method, path, query }: ApiRequest, tokens: readonly string[]): boolean {
  const proof = query.get(PROOF_PARAMETER);
  if (method !== 'GET' || proof === null || !path.endsWith('.html')) return false;
  if (tokens.length === 0) return true;
  const { createHmac } = process.getBuiltinModule('node:crypto');
  return tokens.some((token) => isSameSecret(proof, createHmac('sha256', token).update(path).digest('hex')));
}

/**
 * Returns false for a request of a page of another origin. Such a page cannot read the reply, but could reset data. The
 * origin of the inspector is that of the URL that its browser calls, or of the public URL.
 */
function isFromOwnOrigin(headers: IncomingHttpHeaders, request: ApiRequest, publicUrl: string | undefined): boolean {
  const { origin } = headers;
  const own = [calledUrl(request.headers)];
  if (publicUrl !== undefined) own.push(new URL(publicUrl).origin);
  if (origin !== undefined && !own.includes(origin)) return false;
  return [undefined, 'same-origin', 'none'].includes(headers['sec-fetch-site'] as string | undefined);
}

/** The headers that only a webhook delivery has. */
const DELIVERY_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/** Returns whether a request is a delivery. A webhook with a control URL could reset the emulator or trigger itself. */
function isDelivery(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent'] === NAME || DELIVERY_HEADERS.some((name) => name in headers);
}

/** Returns whether a call sends this token. */
export function hasToken(headers: IncomingHttpHeaders, token: string): boolean {
  return isSameSecret(String(headers[CONTROL_TOKEN_HEADER]), token);
}

/** Compares secrets in constant time. */
function isSameSecret(one: string, other: string): boolean {
  // The module is loaded here, because only a server with a token needs it.
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

/** The headers that clients of the Model Context Protocol also send. */
const MCP_PREFLIGHT_HEADERS = {
  ...PREFLIGHT_HEADERS,
  'Access-Control-Allow-Headers':
    `${PREFLIGHT_HEADERS['Access-Control-Allow-Headers']},Mcp-Protocol-Version,Mcp-Session-Id,Mcp-Method,Mcp-Name,` +
    'Last-Event-ID',
};

const EXPOSED_HEADERS =
  `${ASSUMED_HEADER},${FAULT_HEADER},Allow,WWW-Authenticate,Content-Disposition,Retry-After,RateLimit-Limit,` +
  'RateLimit-Remaining,RateLimit-Reset,RateLimit-Policy';

/**
 * Sets the CORS headers of the response to a request from an allowed origin. Returns whether the request is a
 * preflight, which needs no further handling.
 */
export function setCorsHeaders(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { isMcp }: { readonly isMcp: boolean },
): boolean {
  const preflightHeaders = isMcp ? MCP_PREFLIGHT_HEADERS : PREFLIGHT_HEADERS;
  const corsHeaders = {
    'Access-Control-Allow-Origin': String(headers.origin),
    Vary: 'Origin',
    ...(method === 'OPTIONS' && preflightHeaders),
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
  };
  for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
  return method === 'OPTIONS' && 'access-control-request-method' in headers;
}

/** The folder of the files of the inspector. */
const FILES_PATH = `${CONTROL_PATH}/inspector/`;

/** The paths of the inspector's page. A request without `Accept: text/html` gets the list of control calls instead. */
const PAGE_PATHS = ['/', CONTROL_PATH, `${CONTROL_PATH}/`];

/** The icon that browsers request for each page without its own icon, such as a reply that is opened in a tab. */
export const FAVICON_PATH = '/favicon.ico';

/** Returns whether a request is for a file of the inspector. These files contain no data, so they need no token. */
export function isForInspector({ method, path, headers }: ApiRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (path === FAVICON_PATH || path.startsWith(FILES_PATH)) return true;
  return PAGE_PATHS.includes(path) && wantsHtml(headers.get('accept') ?? '');
}

/** Returns whether an `Accept` header accepts HTML. The weight 0 means that HTML is refused. */
function wantsHtml(accept: string): boolean {
  return accept
    .toLowerCase()
    .split(',')
    .map((range) => range.replaceAll(/\s/g, '').split(';'))
    .some(([type, ...parameters]) => type === 'text/html' && !parameters.some((text) => /^q=0(\.0*)?$/.test(text)));
}
