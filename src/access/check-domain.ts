import { DEFAULT_DOMAIN } from '../contract/emulator-domains.ts';
import { ApiError, REFUSALS } from '../contract/errors.ts';
import type { Reach } from './find-in-reach.ts';

/** The behaviours that say what answers a domain which may not be used. */
type DomainBehaviour = 'inboxes.create.domain' | 'inboxes.addresses.create.domain';

/**
 * Refuses a domain on which a workspace may have no address: any but the default one and those verified for it.
 *
 * @throws {ApiError} VALIDATION_ERROR or FORBIDDEN, as the behaviour says.
 */
export function checkDomain(reach: Reach, workspaceId: string, domain: string, behaviour: DomainBehaviour): void {
  if (mayUse(reach, workspaceId, domain)) return;
  throw new ApiError(
    REFUSALS[reach.choose(behaviour)],
    `The domain ${domain} is not verified for this workspace; verify it, or use ${DEFAULT_DOMAIN}.`,
  );
}

function mayUse({ principal }: Reach, workspaceId: string, domain: string): boolean {
  if (domain === DEFAULT_DOMAIN) return true;
  return principal.world.domains
    .by('domain', domain)
    .some((row) => row.status === 'verified' && (row.workspaceId === null || row.workspaceId === workspaceId));
}
