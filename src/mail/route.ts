import type { ReadBehaviour } from '../contract/behaviours.ts';
import { withoutTag } from '../contract/email-address.ts';
import { DEFAULT_DOMAIN, domainOf } from '../contract/emulator-domains.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import { hasVerifiedDomain, type InboxLocation } from '../store/world.ts';
import type { MailContext } from './mail-context.ts';
import { findSimulator } from './simulators.ts';

/**
 * The destination of mail to an address: an inbox here, a correspondent, a bounce, or an external address, to which
 * nothing is sent.
 */
export type Route =
  | { readonly kind: 'inbox'; readonly inbox: InboxLocation }
  | { readonly kind: 'correspondent'; readonly address: string }
  | { readonly kind: 'bounced' }
  | { readonly kind: 'external' };

type InboxContext = Pick<MailContext, 'worlds' | 'readBehaviour'>;
type RouteContext = InboxContext & Pick<MailContext, 'correspondents'>;

/** Finds the inbox of a bare address in lower case; `undefined` if there is none. */
export function findInbox({ worlds, readBehaviour }: InboxContext, address: string): InboxLocation | undefined {
  if (findSimulator(address, readBehaviour) === 'bounce') return undefined;
  return worlds.findAddress(address) ?? findWithoutTag(worlds, address, readBehaviour);
}

/** Finds the destination of mail to a bare address in lower case, from one tenant or from any. */
export function findRoute(
  { worlds, readBehaviour, correspondents }: RouteContext,
  address: string,
  tenantId?: string,
): Route {
  if (findSimulator(address, readBehaviour) === 'bounce') return { kind: 'bounced' };
  const inbox = findInbox({ worlds, readBehaviour }, address);
  if (inbox) return { kind: 'inbox', inbox };
  if (correspondents.has(address, tenantId)) return { kind: 'correspondent', address };
  const isBounced = isHosted(worlds, domainOf(address)) && readBehaviour('sending.unknown-user') === 'bounced';
  return { kind: isBounced ? 'bounced' : 'external' };
}

/** Removes duplicate inboxes. A mail can name several addresses of one inbox. */
export function uniqueInboxes(inboxes: readonly InboxLocation[]): InboxLocation[] {
  return [...new Map(inboxes.map((inbox) => [inbox.inboxId, inbox])).values()];
}

/** Finds the inbox of an address without its tag, such as `helpdesk@acme.test` for `helpdesk+orders@acme.test`. */
function findWithoutTag(
  worlds: ReachableWorlds,
  address: string,
  readBehaviour: ReadBehaviour,
): InboxLocation | undefined {
  const inbox = worlds.findAddress(withoutTag(address));
  return inbox && readBehaviour('sending.plus-tags') === 'delivered' ? inbox : undefined;
}

function isHosted(worlds: ReachableWorlds, domain: string): boolean {
  return domain === DEFAULT_DOMAIN || worlds.neighbours().some((world) => hasVerifiedDomain(world, domain));
}
