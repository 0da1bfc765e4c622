import type { InboxRow } from './rows.ts';
import type { World } from './world.ts';

/** The first address of an inbox, which never changes. */
export function canonicalAddress({ username, domain }: Pick<InboxRow, 'username' | 'domain'>): string {
  return `${username}@${domain}`;
}

/** The address that an inbox sends from at present. */
export function primaryAddress(world: World, inbox: InboxRow): string {
  return world.addresses.by('inboxId', inbox.id).find(({ isPrimary }) => isPrimary)?.address ?? canonicalAddress(inbox);
}
