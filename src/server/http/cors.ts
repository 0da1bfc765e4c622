import type { IncomingMessage, ServerResponse } from 'node:http';
import { ASSUMED_HEADER } from '../../pipeline/http.ts';
import { isLoopbackHost } from '../loopback.ts';
import { ROUTED_METHODS } from './guards.ts';

/** Says whether pages of an origin may call the API. */
export type OriginRule = (origin: string) => boolean;

/** Allows pages of loopback, and those of `corsOrigins`; `*` allows all. */
export function createOriginRule(corsOrigins: ReadonlySet<string>): OriginRule {
  return (origin) => corsOrigins.has('*') || corsOrigins.has(origin.toLowerCase()) || isLoopbackOrigin(origin);
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

const EXPOSED_HEADERS = [ASSUMED_HEADER, 'Allow', 'WWW-Authenticate', 'Content-Disposition'].join(',');

/**
 * Sets the CORS headers of a response to a page of an allowed origin, and answers whether the request is a preflight
 * from there, which needs nothing else.
 */
export function allowOrigin(message: IncomingMessage, response: ServerResponse, isAllowed: OriginRule): boolean {
  const { method, headers } = message;
  if (headers.origin === undefined || !isAllowed(headers.origin)) return false;
  const ofPreflight = method === 'OPTIONS' ? PREFLIGHT_HEADERS : {};
  const all = {
    'Access-Control-Allow-Origin': headers.origin,
    Vary: 'Origin',
    ...ofPreflight,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
  };
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
  return method === 'OPTIONS' && 'access-control-request-method' in headers;
}
