import { withoutTag } from '../contract/email-address.ts';
import type { Reach } from './find-in-reach.ts';

/**
 * Says whether an inbox may not get an address, because another one would lose mail by it: the address itself, the one
 * without its tag, or one with a tag belongs to another inbox.
 */
export function isAddressTaken(
  { worlds, choose }: Pick<Reach, 'worlds' | 'choose'>,
  address: string,
  inboxId?: string,
): boolean {
  if (worlds.findAddress(address)) return true;
  const base = worlds.findAddress(withoutTag(address));
  const related = [...(base ? [base] : []), ...worlds.findTagged(address)];
  return related.some((holder) => holder.inboxId !== inboxId) && choose('sending.plus-tags') === 'delivered';
}
