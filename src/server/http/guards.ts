import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError } from '../../contract/errors.ts';
import { CONTROL_PATH, CONTROL_TOKEN_HEADER } from '../../control/control-path.ts';
import { NAME } from '../../version.ts';
import { hostnameOf, isLoopbackHost } from '../loopback.ts';

/** The methods that some path takes. */
const SUPPORTED_METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS'];

/** The methods that reach the service, which then says itself which of them a path takes. */
export const ROUTED_METHODS = [...SUPPORTED_METHODS, 'PUT'];

/**
 * Refuses a request whose `Host` is neither this machine nor allowed. A page that rebinds its own name to 127.0.0.1
 * still sends that name, so it gets no further than here.
 */
export function guardHost({ host }: IncomingHttpHeaders, allowedHosts: ReadonlySet<string>): void {
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
}

/** Refuses methods that no path takes, and targets that are not a path. */
export function guardTarget({ method = '', url = '' }: IncomingMessage): void {
  if (!ROUTED_METHODS.includes(method)) throw wrongMethod(method);
  if (!url.startsWith('/')) throw new ApiError('VALIDATION_ERROR', 'The request target is not a path.');
}

/** The error for a method that no path takes. */
export function wrongMethod(method: string): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', `Nothing here takes ${method}.`, {
    headers: { allow: SUPPORTED_METHODS.join(', ') },
  });
}

/**
 * Guards the control plane. With `token`, which is set where other machines can reach it, a call must carry that;
 * without, a header is asked for at host names other than loopback's own.
 */
export function guardControl(headers: IncomingHttpHeaders, token: string | undefined): void {
  guardFromDeliveries(headers);
  guardFromOtherOrigins(headers);
  if (token === undefined) guardControlHost(headers);
  else guardControlToken(headers, token);
}

/** Keeps pages of other origins out of the control plane; without CORS they could not read, but they could reset. */
function guardFromOtherOrigins(headers: IncomingHttpHeaders): void {
  const sameOrigin = headers.origin === undefined || headers.origin === `http://${headers.host}`;
  const site = headers['sec-fetch-site'];
  if (sameOrigin && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new ApiError('FOREIGN_ORIGIN', `A page of another origin may not call ${CONTROL_PATH}.`);
}

/** What tells a delivery from every other request, whatever signs it. */
const DELIVERY_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/** Keeps deliveries out of the control plane: a webhook that leads there could reset the emulator, or feed itself. */
function guardFromDeliveries(headers: IncomingHttpHeaders): void {
  const isDelivery = headers['user-agent'] === NAME || DELIVERY_HEADERS.some((name) => name in headers);
  if (!isDelivery) return;
  throw new ApiError('DELIVERY_REFUSED', `A delivery to a webhook may not call ${CONTROL_PATH}.`);
}

/**
 * Asks for a header at a host name other than loopback's own. A page can send a GET there that shows no sign of its
 * origin, for browsers tell it only to hosts that they trust; a header of ours it cannot send without being asked for.
 */
function guardControlHost(headers: IncomingHttpHeaders): void {
  const hostname = hostnameOf(headers.host ?? '') ?? '';
  if (isLoopbackHost(hostname) || headers[CONTROL_TOKEN_HEADER] !== undefined) return;
  throw new ApiError(
    'UNAUTHORIZED',
    `At a host name that is not loopback's own, ${CONTROL_PATH} needs the header X-Mock-Token, with any value.`,
  );
}

/** Asks for the token that was printed at start, where the control plane can be reached from other machines. */
function guardControlToken(headers: IncomingHttpHeaders, token: string): void {
  if (timingSafeEqual(digest(String(headers[CONTROL_TOKEN_HEADER])), digest(token))) return;
  throw new ApiError(
    'UNAUTHORIZED',
    'The control plane needs the token that was printed at start, as X-Mock-Token: <token>.',
  );
}

/** Makes texts of any length comparable in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
