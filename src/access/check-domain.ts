import { DEFAULT_DOMAIN } from '../contract/emulator-domains.ts';
import { ApiError, REFUSALS } from '../contract/errors.ts';
import type { LookupContext } from './find-in-scope.ts';

/** The behaviours that decide with which error a domain is refused. */
type DomainBehaviour = 'inboxes.create.domain' | 'inboxes.addresses.create.domain';

/**
 * Checks that a workspace may have addresses on a domain: the default domain or one that is verified for the workspace.
 *
 * @throws {ApiError} VALIDATION_ERROR or FORBIDDEN, depending on the behaviour.
 */
export function checkDomain(
  context: LookupContext,
  workspaceId: string,
  domain: string,
  behaviour: DomainBehaviour,
): void {
  if (mayUseDomain(context, workspaceId, domain)) return;
  throw new ApiError(
    REFUSALS[context.readBehaviour(behaviour)],
    `The domain ${domain} is not verified for this workspace; verify it, or use ${DEFAULT_DOMAIN}.`,
  );
}

function mayUseDomain({ principal }: LookupContext, workspaceId: string, domain: string): boolean {
  if (domain === DEFAULT_DOMAIN) return true;
  return principal.world.domains
    .by('domain', domain)
    .some((row) => row.status === 'verified' && (row.workspaceId === null || row.workspaceId === workspaceId));
}
