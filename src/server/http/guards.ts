import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import cors from 'cors';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../contract/errors.ts';
import { CONTROL_PATH, CONTROL_TOKEN_HEADER } from '../../control/control-path.ts';
import { ASSUMED_HEADER } from '../../pipeline/http.ts';
import { NAME } from '../../version.ts';
import { hostnameOf, isLoopbackHost } from '../loopback.ts';

/** The methods that some path takes. */
const TAKEN = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS'];

/** The methods that reach the service, which then says itself which of them a path takes. */
const METHODS = [...TAKEN, 'PUT'];

/** Makes a guard out of a check that throws an `ApiError`, for every request or those under one path. */
function guard(check: (request: Request) => void): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction) => {
    check(request);
    next();
  };
}

/**
 * Refuses a request whose `Host` is neither this machine nor allowed. A page that rebinds its own name to 127.0.0.1
 * still sends that name, so it gets no further than here.
 */
export function guardHost(allowedHosts: ReadonlySet<string>): RequestHandler {
  return guard(({ headers: { host } }) => {
    // The values of a repeated header come joined.
    if (host === undefined || host.includes(',')) {
      throw new ApiError('VALIDATION_ERROR', 'The request must have one Host header.');
    }
    const hostname = hostnameOf(host);
    if (hostname !== undefined && (isLoopbackHost(hostname) || allowedHosts.has(hostname))) return;
    throw new ApiError(
      'HOST_NOT_ALLOWED',
      'The Host header names neither this machine nor an allowed host; start with --allow-host <host> to allow one.',
    );
  });
}

/** Refuses what cannot become a fetch request: other methods, and targets that are not a path. */
export function guardTarget(): RequestHandler {
  return guard(({ method, originalUrl }) => {
    if (!METHODS.includes(method)) throw wrongMethod(method);
    if (!originalUrl.startsWith('/')) throw new ApiError('VALIDATION_ERROR', 'The request target is not a path.');
  });
}

/** The error for a method that no path takes. */
export function wrongMethod(method: string): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', `Nothing here takes ${method}.`, { headers: { allow: TAKEN.join(', ') } });
}

/** Says whether pages of an origin may call the API: those of loopback, and those that are allowed. */
export function createOriginRule(corsOrigins: ReadonlySet<string>): (origin: string) => boolean {
  return (origin) => corsOrigins.has('*') || corsOrigins.has(origin.toLowerCase()) || isLoopbackOrigin(origin);
}

/** Lets pages of loopback and allowed origins call the API, and read the headers that are ours. */
export function allowOrigins(isAllowed: (origin: string) => boolean): RequestHandler {
  const options: cors.CorsOptions = {
    origin: (origin, answer) => answer(null, origin !== undefined && isAllowed(origin)),
    methods: METHODS,
    allowedHeaders: ['X-API-Key', 'Authorization', 'Content-Type'],
    exposedHeaders: [ASSUMED_HEADER, 'Allow', 'WWW-Authenticate', 'Content-Disposition'],
    maxAge: 600,
  };
  const preflight = cors(options);
  const plain = cors({ ...options, preflightContinue: true });
  const isPreflight = ({ headers }: IncomingMessage) =>
    'access-control-request-method' in headers && 'origin' in headers;
  return (request, response, next) => (isPreflight(request) ? preflight : plain)(request, response, next);
}

function isLoopbackOrigin(origin: string): boolean {
  const { protocol, hostname } = URL.canParse(origin) ? new URL(origin) : { protocol: '', hostname: '' };
  return /^https?:$/.test(protocol) && isLoopbackHost(hostname);
}

/** Keeps pages of other origins out of the control plane; without CORS they could not read, but they could reset. */
export function guardControlOrigin(): RequestHandler {
  return guard(({ headers }) => {
    const sameOrigin = headers.origin === undefined || headers.origin === `http://${headers.host}`;
    const site = headers['sec-fetch-site'];
    if (sameOrigin && (site === undefined || site === 'same-origin' || site === 'none')) return;
    throw new ApiError('FOREIGN_ORIGIN', `A page of another origin may not call ${CONTROL_PATH}.`);
  });
}

/** What tells a delivery from every other request, whatever signs it. */
const DELIVERY_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/** Keeps deliveries out of the control plane: a webhook that leads there could reset the emulator, or feed itself. */
export function guardControlDelivery(): RequestHandler {
  return guard(({ headers }) => {
    const isDelivery = headers['user-agent'] === NAME || DELIVERY_HEADERS.some((name) => name in headers);
    if (!isDelivery) return;
    throw new ApiError('DELIVERY_REFUSED', `A delivery to a webhook may not call ${CONTROL_PATH}.`);
  });
}

/**
 * Asks for a header at a host name other than loopback's own. A page can send a GET there that shows no sign of its
 * origin, for browsers tell it only to hosts that they trust; a header of ours it cannot send without being asked for.
 */
export function guardControlHost(): RequestHandler {
  return guard(({ headers }) => {
    const hostname = hostnameOf(headers.host ?? '') ?? '';
    if (isLoopbackHost(hostname) || headers[CONTROL_TOKEN_HEADER] !== undefined) return;
    throw new ApiError(
      'UNAUTHORIZED',
      `At a host name that is not loopback's own, ${CONTROL_PATH} needs the header X-Mock-Token, with any value.`,
    );
  });
}

/** Asks for the token that was printed at start, where the control plane can be reached from other machines. */
export function guardControlToken(token: string): RequestHandler {
  const expected = digest(token);
  return guard(({ headers }) => {
    if (timingSafeEqual(digest(String(headers[CONTROL_TOKEN_HEADER])), expected)) return;
    throw new ApiError(
      'UNAUTHORIZED',
      'The control plane needs the token that was printed at start, as X-Mock-Token: <token>.',
    );
  });
}

/** Makes texts of any length comparable in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
