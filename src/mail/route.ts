import type { Choose } from '../contract/behaviours.ts';
import { withoutTag } from '../contract/email-address.ts';
import { DEFAULT_DOMAIN, domainOf } from '../contract/emulator-domains.ts';
import { type AddressHolder, hasVerified } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import type { MailContext } from './mail-context.ts';
import { findSimulator } from './simulators.ts';

/** Where mail to an address goes: into an inbox, back to the sender, or out of the emulator. */
export type Route =
  | { readonly kind: 'inbox'; readonly inbox: AddressHolder }
  | { readonly kind: 'bounced' }
  | { readonly kind: 'away' };

type RouteContext = Pick<MailContext, 'worlds' | 'choose'>;

/** Finds the inbox that receives at a bare address, in lower case; `undefined` if there is none. */
export function findInbox({ worlds, choose }: RouteContext, address: string): AddressHolder | undefined {
  if (findSimulator(address, choose) === 'bounce') return undefined;
  return worlds.findAddress(address) ?? findBehindTag(worlds, address, choose);
}

/** Finds where mail to a bare address, in lower case, goes. */
export function findRoute({ worlds, choose }: RouteContext, address: string): Route {
  if (findSimulator(address, choose) === 'bounce') return { kind: 'bounced' };
  const inbox = findInbox({ worlds, choose }, address);
  if (inbox) return { kind: 'inbox', inbox };
  const isBounced = isHosted(worlds, domainOf(address)) && choose('sending.unknown-user') === 'bounced';
  return { kind: isBounced ? 'bounced' : 'away' };
}

/** Each inbox once, however many of its addresses were named. */
export function withoutRepeats(holders: readonly AddressHolder[]): AddressHolder[] {
  return [...new Map(holders.map((holder) => [holder.inboxId, holder])).values()];
}

/** Finds the inbox that `helpdesk+orders@acme.test` reaches if no inbox has that very address. */
function findBehindTag(worlds: Worlds, address: string, choose: Choose): AddressHolder | undefined {
  const holder = worlds.findAddress(withoutTag(address));
  return holder && choose('sending.plus-tags') === 'delivered' ? holder : undefined;
}

function isHosted(worlds: Worlds, domain: string): boolean {
  return domain === DEFAULT_DOMAIN || worlds.some((world) => hasVerified(world, domain));
}
