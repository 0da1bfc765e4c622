import { DEFAULT_DOMAIN, withoutTag } from '../../../contract/email-address.ts';
import { ApiError, REFUSALS } from '../../../contract/errors.ts';
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

/**
 * Returns whether another inbox already gets the mail to an address. That inbox has the address itself, or the same
 * address without its plus tag or with one. An inbox may take the address only if this is false.
 */
export function isAddressTaken(
  { worlds, readBehaviour }: Pick<LookupContext, 'worlds' | 'readBehaviour'>,
  address: string,
  inboxId?: string,
): boolean {
  if (worlds.findAddress(address)) return true;
  const base = worlds.findAddress(withoutTag(address));
  const related = [...(base ? [base] : []), ...worlds.findTagged(address)];
  return related.some((owner) => owner.inboxId !== inboxId) && readBehaviour('sending.plus-tags') === 'delivered';
}
