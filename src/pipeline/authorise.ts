import { readKey } from '../access/credentials.ts';
import { mayCall } from '../access/policy.ts';
import { findPrincipal, type Principal } from '../access/principal.ts';
import { ApiError } from '../contract/errors.ts';
import { TIER_PREFIX } from '../contract/tiers.ts';
import type { Exchange } from './exchange.ts';
import { routeNotFound } from './find-row.ts';
import type { OperationRow } from './operation-rows.ts';
import type { Service } from './service.ts';

/**
 * Finds the principal of a request, that is, the caller that its key identifies, and stores it in the exchange.
 *
 * @throws {ApiError} UNAUTHORIZED when the key is missing or invalid.
 */
export function authenticate({ worlds }: Service, exchange: Exchange): Principal {
  const principal = findPrincipal(worlds, readKey(exchange.request, exchange.readBehaviour));
  exchange.principal = principal;
  return principal;
}

/**
 * Finds the principal and checks that its tier may call this operation. Does nothing for a public operation.
 *
 * @throws {ApiError} UNAUTHORIZED as `authenticate` does; for a wrong tier FORBIDDEN or NOT_FOUND, by
 *   `auth.wrong-tier`.
 */
export function authorise(service: Service, exchange: Exchange, row: OperationRow): void {
  const { tiers, tierBehaviours, tierAssumptions, tiersThatDiffer } = service.operationFor(row.id);
  if (!tiers) return;
  const principal = authenticate(service, exchange);
  const isAllowed = mayCall(principal, tiers);
  if (!isAllowed || tiersThatDiffer.has(principal.tier)) {
    tierBehaviours.forEach(exchange.readBehaviour);
    tierAssumptions.forEach(exchange.assume);
  }
  if (isAllowed) return;
  const prefixes = tiers.map((tier) => TIER_PREFIX[tier]).join(' or ');
  const message = `This ${TIER_PREFIX[principal.tier]} key may not call ${row.method} ${row.path}; use a ${prefixes} key.`;
  throw exchange.readBehaviour('auth.wrong-tier') === 'not-found'
    ? routeNotFound(exchange.request.path, '', message)
    : new ApiError('FORBIDDEN', message);
}
