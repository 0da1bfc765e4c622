import type { ReadBehaviour } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import { STREAM_PATH } from '../../contract/stream-protocol.ts';
import { TIER_PREFIX } from '../../contract/tiers.ts';
import { findInScope, type LookupContext } from './find-in-scope.ts';
import { findPrincipal, requireKey, type Sender, type TenantPrincipal } from './principal.ts';

/** A request to open a stream, before the connection is upgraded. */
export interface StreamRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: HeaderReader;
}

/** The result of `checkStreamAccess`: who opens the stream, and for which inbox. */
export interface StreamAccess {
  readonly key: string;
  readonly principal: TenantPrincipal;
  /** The id of the inbox in the path; `undefined` if the path has none. */
  readonly inboxId: string | undefined;
}

/**
 * Checks that the sender of a request may open a stream.
 *
 * @throws {ApiError} UNAUTHORIZED without a valid key, FORBIDDEN for an operator key, NOT_FOUND for an inbox out of
 *   scope. Behaviours can change FORBIDDEN and NOT_FOUND, as for any request.
 */
export function checkStreamAccess(
  { worlds, readBehaviour }: Pick<LookupContext, 'worlds' | 'readBehaviour'>,
  request: StreamRequest,
  sender: Sender,
): StreamAccess {
  const { path } = request;
  const key = requireKey(sender, request, readBehaviour);
  const principal = findPrincipal(worlds, key);
  if (principal.tier === 'operator') throw wrongTier(readBehaviour, path);
  const { world } = principal;
  const inboxId = STREAM_PATH.exec(path)?.[1]?.toLowerCase();
  if (inboxId !== undefined) findInScope({ principal, world, worlds, readBehaviour }, 'inboxes', inboxId);
  return { key, principal, inboxId };
}

function wrongTier(readBehaviour: ReadBehaviour, path: string): ApiError {
  if (readBehaviour('auth.wrong-tier') === 'not-found') return new ApiError('NOT_FOUND', `There is no route ${path}.`);
  const { operator, ...others } = TIER_PREFIX;
  const prefixes = Object.values(others).join(' or ');
  return new ApiError('FORBIDDEN', `An ${operator} key may not open an event stream; use a ${prefixes} key.`);
}
