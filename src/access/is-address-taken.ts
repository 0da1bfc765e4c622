import { withoutTag } from '../contract/email-address.ts';
import type { LookupContext } from './find-in-scope.ts';

/**
 * Returns whether an address is unavailable to an inbox because another inbox would lose mail: that inbox has the
 * address itself, its form without the plus tag, or a form with a plus tag.
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
