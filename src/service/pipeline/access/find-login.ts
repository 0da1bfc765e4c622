import type { ReachableWorlds } from '../../../world/store/reachable-worlds.ts';
import { canonicalAddress } from '../../../world/store/world.ts';
import type { Principal } from './principal.ts';

/** Who has logged in to IMAP or SMTP: an inbox, and its world. */
export type InboxPrincipal = Extract<Principal, { readonly tier: 'inbox' }>;

/** Finds the inbox that has this canonical address and this password. Keys do not matter. */
export function findLogin(worlds: ReachableWorlds, user: string, password: string): InboxPrincipal | undefined {
  const address = user.toLowerCase();
  const found = worlds.findAddress(address);
  const inbox = found?.world.inboxes.get(found.inboxId);
  if (!found || !inbox || canonicalAddress(inbox) !== address || inbox.imapPassword !== password) return undefined;
  return { tier: 'inbox', world: found.world, workspaceId: inbox.workspaceId, inboxId: inbox.id };
}

/** Returns whether an inbox is still there. */
export function isValidLogin({ world, inboxId }: InboxPrincipal): boolean {
  return world.inboxes.get(inboxId)?.deletedAt === null;
}
