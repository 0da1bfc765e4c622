import type { Choose } from '../contract/behaviours.ts';
import { withoutTag } from '../contract/email-address.ts';
import { DEFAULT_DOMAIN, domainOf } from '../contract/emulator-domains.ts';
import type { AddressHolder } from '../store/indexes.ts';
import { hasVerified } from '../store/verified-domain.ts';
import type { Worlds } from '../store/worlds.ts';
import type { MailContext } from './mail-context.ts';
import { findSimulator } from './simulators.ts';

/** Where mail to an address goes: into an inbox, back, or out of the emulator. */
export type Route = AddressHolder | 'bounced' | 'away';

/** Finds where mail to a bare address, in lower case, goes. */
export function findRoute({ worlds, choose }: Pick<MailContext, 'worlds' | 'choose'>, address: string): Route {
  if (findSimulator(address, choose) === 'bounce') return 'bounced';
  const holder = worlds.findAddress(address) ?? findBehindTag(worlds, address, choose);
  if (holder) return holder;
  return isHosted(worlds, domainOf(address)) && choose('sending.unknown-user') === 'bounced' ? 'bounced' : 'away';
}

/** Finds the inbox that `helpdesk+orders@acme.test` reaches where nobody has that very address. */
function findBehindTag(worlds: Worlds, address: string, choose: Choose): AddressHolder | undefined {
  const holder = worlds.findAddress(withoutTag(address));
  return holder && choose('sending.plus-tags') === 'delivered' ? holder : undefined;
}

function isHosted(worlds: Worlds, domain: string): boolean {
  return domain === DEFAULT_DOMAIN || worlds.some((world) => hasVerified(world, domain));
}
