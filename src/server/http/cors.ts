import type { IncomingMessage, ServerResponse } from 'node:http';
import { ASSUMED_HEADER, FAULT_HEADER } from '../../pipeline/http.ts';
import { isLoopbackHost } from '../loopback.ts';
import { ROUTED_METHODS } from './guards.ts';

/** Returns whether pages of an origin may call the API. */
export type OriginRule = (origin: string) => boolean;

/** Creates a rule that allows loopback origins and those in `corsOrigins`; `*` allows all. */
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

const EXPOSED_HEADERS = [
  ASSUMED_HEADER,
  FAULT_HEADER,
  'Allow',
  'WWW-Authenticate',
  'Content-Disposition',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
].join(',');

/** Sets the CORS headers of the response to a request from an allowed origin. */
export function setCorsHeaders({ method, headers }: IncomingMessage, response: ServerResponse): void {
  const preflightHeaders = method === 'OPTIONS' ? PREFLIGHT_HEADERS : {};
  const corsHeaders = {
    'Access-Control-Allow-Origin': String(headers.origin),
    Vary: 'Origin',
    ...preflightHeaders,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
  };
  for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
}

/** Returns whether a request is a preflight, which needs no further handling. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && 'access-control-request-method' in headers;
}
