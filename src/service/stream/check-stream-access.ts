import type { ReadBehaviour } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import { STREAM_PATH } from '../../contract/stream-protocol.ts';
import { TIER_PREFIX } from '../../contract/tiers.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import { findInScope } from '../pipeline/access/find-in-scope.ts';
import { findPrincipal, readStreamKey, type TenantPrincipal } from '../pipeline/access/principal.ts';

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
 * Checks that a client may open a stream.
 *
 * @throws {ApiError} UNAUTHORIZED without a valid key, FORBIDDEN for an operator key, NOT_FOUND for an inbox out of
 *   scope. Behaviours can change the last two, as for any request.
 */
export function checkStreamAccess(
  { worlds, readBehaviour }: { readonly worlds: Worlds; readonly readBehaviour: ReadBehaviour },
  request: StreamRequest,
): StreamAccess {
  const key = readStreamKey(request, readBehaviour);
  const principal = findPrincipal(worlds, key);
  if (principal.tier === 'operator') throw wrongTier(readBehaviour, request.path);
  const id = STREAM_PATH.exec(request.path)?.[1];
  const inbox =
    id === undefined ? undefined : findInScope({ principal, worlds, readBehaviour }, 'inboxes', id.toLowerCase());
  return { key, principal, inboxId: inbox?.id };
}

function wrongTier(readBehaviour: ReadBehaviour, path: string): ApiError {
  if (readBehaviour('auth.wrong-tier') === 'not-found') return new ApiError('NOT_FOUND', `There is no route ${path}.`);
  const prefixes = [TIER_PREFIX.tenant, TIER_PREFIX.workspace, TIER_PREFIX.inbox].join(' or ');
  return new ApiError(
    'FORBIDDEN',
    `An ${TIER_PREFIX.operator} key may not open an event stream; use a ${prefixes} key.`,
  );
}
