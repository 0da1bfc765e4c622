import type { Principal } from '../service/access/principal.ts';
import { isLoopbackHost } from './loopback.ts';

/** What a client does that has not logged in. */
type Use = 'smtp' | 'imap' | 'http' | 'control';

/**
 * Returns the names of a client, for limits that a client shares with all of its connections: its login and the tenant
 * of its login, over every protocol, and its address. Everybody on this machine has the same address, so a loopback
 * address is no name. Without a login, clients of one address are told apart only by what they use.
 */
export function nameClient(remoteAddress = '', principal: Principal | undefined, use: Use): readonly string[] {
  // A server that listens on IPv6 shows IPv4 addresses in this form.
  const address = remoteAddress.replace(/^::ffff:/, '');
  const names = isLoopbackHost(address) ? [] : [`address ${address}`];
  if (!principal) return [...names, `${use} without a login from ${names[0] ?? 'this machine'}`];
  const { tier, world, workspaceId, inboxId } = principal;
  if (!world) return [...names, tier];
  return [...names, `tenant ${world.id}`, `${tier} ${inboxId ?? workspaceId ?? ''} of ${world.id}`];
}
