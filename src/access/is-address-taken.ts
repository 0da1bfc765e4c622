import { withoutTag } from '../contract/email-address.ts';
import type { LookupContext } from './find-in-scope.ts';

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
