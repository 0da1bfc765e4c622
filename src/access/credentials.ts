import type { ReadBehaviour } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { HeaderReader } from '../contract/header-reader.ts';
import { isKeyText, TIER_PREFIX } from '../contract/tiers.ts';

const HOW_TO_SEND = 'send one as X-API-Key: <key> or Authorization: Bearer <key>';

/** The parts of a request that can carry a key. */
interface CredentialSource {
  readonly headers: HeaderReader;
  readonly query: URLSearchParams;
}

/**
 * Reads the key of an HTTP request from `X-API-Key` or `Authorization: Bearer` (service document, section 5).
 * `?api_key=` is not read here, because it is only for WebSocket connections.
 *
 * @throws {ApiError} UNAUTHORIZED when the key is missing or malformed.
 */
export function readKey(source: CredentialSource, readBehaviour: ReadBehaviour): string {
  const key = readHeaderKey(source, readBehaviour);
  if (key === undefined) throw missingKey(source.query);
  return checkForm(key);
}

/**
 * Reads the key of a request for an event stream from a header. If no header has one, reads it from `?api_key=`
 * (service document, section 5, rule 1).
 *
 * @throws {ApiError} UNAUTHORIZED as `readKey` does.
 */
export function readStreamKey(source: CredentialSource, readBehaviour: ReadBehaviour): string {
  const isQueryAllowed = readBehaviour('stream.key') === 'header-or-query';
  const queryKey = (isQueryAllowed && source.query.get('api_key')) || undefined;
  const key = readHeaderKey(source, readBehaviour) ?? queryKey;
  if (key !== undefined) return checkForm(key);
  throw unauthorized(`The request has no API key; ${HOW_TO_SEND}${isQueryAllowed ? ', or as ?api_key=<key>' : ''}.`);
}

/** Returns the key that the headers of a request contain, valid or not. */
export function sentKey(headers: HeaderReader): string | undefined {
  return headers.get('x-api-key') || readBearer(headers);
}

function readHeaderKey({ headers }: CredentialSource, readBehaviour: ReadBehaviour): string | undefined {
  return pickKey(headers.get('x-api-key') || undefined, readBearer(headers), readBehaviour);
}

function checkForm(key: string): string {
  if (isKeyText(key)) return key;
  throw malformedKey();
}

function readBearer(headers: HeaderReader): string | undefined {
  return /^bearer +(\S.*)$/i.exec(headers.get('authorization') ?? '')?.[1]?.trim();
}

function pickKey(
  apiKey: string | undefined,
  bearer: string | undefined,
  readBehaviour: ReadBehaviour,
): string | undefined {
  if (apiKey === undefined || bearer === undefined || apiKey === bearer) return apiKey ?? bearer;
  const value = readBehaviour('auth.both-headers');
  if (value === 'refuse') throw unauthorized('X-API-Key and Authorization carry different keys; send one of them.');
  return value === 'x-api-key' ? apiKey : bearer;
}

function missingKey(query: URLSearchParams): ApiError {
  return query.has('api_key')
    ? unauthorized(`The api_key query parameter is for WebSocket connections only; ${HOW_TO_SEND}.`)
    : unauthorized(`The request has no API key; ${HOW_TO_SEND}.`);
}

function malformedKey(): ApiError {
  const prefixes = Object.values(TIER_PREFIX).join(', ');
  return unauthorized(
    `The API key is malformed; a key is one of ${prefixes} followed by at least ten letters, digits, _ or -.`,
  );
}

/** Creates the error for a missing or invalid key, with the `WWW-Authenticate` header that HTTP requires. */
export function unauthorized(message: string): ApiError {
  return new ApiError('UNAUTHORIZED', message, { headers: { 'www-authenticate': 'Bearer' } });
}
