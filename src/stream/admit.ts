import { readStreamKey } from '../auth/credentials.ts';
import { mayReach } from '../auth/policy.ts';
import { findPrincipal, type TenantPrincipal } from '../auth/principal.ts';
import type { Choices } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import { STREAM_PATH } from '../contract/stream.ts';
import { TIER_PREFIX } from '../contract/tiers.ts';
import type { Worlds } from '../store/worlds.ts';

/** A request to open a stream, before anything is upgraded. */
export interface StreamRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

/** Who may listen, and to which inbox if the path names one. */
export interface Admission {
  readonly key: string;
  readonly principal: TenantPrincipal;
  /** The inbox that the path names. */
  readonly inboxId: string | undefined;
}

/** Says whether a path is that of an event stream. */
export function isStreamPath(path: string): boolean {
  return STREAM_PATH.test(path);
}

/**
 * Decides who may open a stream.
 *
 * @throws {ApiError} UNAUTHORIZED without a valid key, FORBIDDEN for the operator, NOT_FOUND for an inbox that is not
 *   within reach.
 */
export function admit(
  { worlds, choices }: { readonly worlds: Worlds; readonly choices: Choices },
  request: StreamRequest,
): Admission {
  const key = readStreamKey(request, (id) => choices[id]);
  const principal = findPrincipal(worlds, key);
  if (principal.tier === 'operator') {
    const prefixes = [TIER_PREFIX.tenant, TIER_PREFIX.workspace, TIER_PREFIX.inbox].join(' or ');
    throw new ApiError('FORBIDDEN', `An ${TIER_PREFIX.operator} key has no event stream; it takes a ${prefixes} key.`);
  }
  return { key, principal, inboxId: findInbox(principal, STREAM_PATH.exec(request.path)?.[1]) };
}

function findInbox(principal: TenantPrincipal, id: string | undefined): string | undefined {
  if (id === undefined) return undefined;
  const inbox = principal.world.inboxes.get(id.toLowerCase());
  const place = inbox && { workspaceId: inbox.workspaceId, inboxId: inbox.id };
  if (place && inbox.deletedAt === null && mayReach(principal, place)) return inbox.id;
  throw new ApiError('NOT_FOUND', 'There is no inbox with this id.');
}
