import type { InboxRow } from './rows.ts';
import type { World } from './world.ts';

/** Returns the first address of an inbox, which never changes. */
export function canonicalAddress({ username, domain }: Pick<InboxRow, 'username' | 'domain'>): string {
  return `${username}@${domain}`;
}

/** Returns the address from which an inbox currently sends. */
export function primaryAddress(world: World, inbox: InboxRow): string {
  return world.addresses.by('inboxId', inbox.id).find(({ isPrimary }) => isPrimary)?.address ?? canonicalAddress(inbox);
}
