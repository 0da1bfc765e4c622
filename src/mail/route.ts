import type { Choose } from '../contract/behaviours.ts';
import { withoutTag } from '../contract/email-address.ts';
import { DEFAULT_DOMAIN, domainOf } from '../contract/emulator-domains.ts';
import { type AddressHolder, hasVerifiedDomain } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import type { MailContext } from './mail-context.ts';
import { findSimulator } from './simulators.ts';

/** The destination of mail to an address: an inbox, a bounce, or nothing because the address is external. */
export type Route =
  | { readonly kind: 'inbox'; readonly inbox: AddressHolder }
  | { readonly kind: 'bounced' }
  | { readonly kind: 'external' };

type RouteContext = Pick<MailContext, 'worlds' | 'choose'>;

/** Finds the inbox of a bare address in lower case; `undefined` if there is none. */
export function findInbox({ worlds, choose }: RouteContext, address: string): AddressHolder | undefined {
  if (findSimulator(address, choose) === 'bounce') return undefined;
  return worlds.findAddress(address) ?? findWithoutTag(worlds, address, choose);
}

/** Finds the destination of mail to a bare address in lower case. */
export function findRoute({ worlds, choose }: RouteContext, address: string): Route {
  if (findSimulator(address, choose) === 'bounce') return { kind: 'bounced' };
  const inbox = findInbox({ worlds, choose }, address);
  if (inbox) return { kind: 'inbox', inbox };
  const isBounced = isHosted(worlds, domainOf(address)) && choose('sending.unknown-user') === 'bounced';
  return { kind: isBounced ? 'bounced' : 'external' };
}

/** Removes duplicate inboxes, because a mail can name several addresses of one inbox. */
export function uniqueInboxes(holders: readonly AddressHolder[]): AddressHolder[] {
  return [...new Map(holders.map((holder) => [holder.inboxId, holder])).values()];
}

/** Finds the inbox of an address without its tag, such as `helpdesk@acme.test` for `helpdesk+orders@acme.test`. */
function findWithoutTag(worlds: Worlds, address: string, choose: Choose): AddressHolder | undefined {
  const holder = worlds.findAddress(withoutTag(address));
  return holder && choose('sending.plus-tags') === 'delivered' ? holder : undefined;
}

function isHosted(worlds: Worlds, domain: string): boolean {
  return domain === DEFAULT_DOMAIN || worlds.some((world) => hasVerifiedDomain(world, domain));
}
