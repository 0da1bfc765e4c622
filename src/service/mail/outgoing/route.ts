import type { ReadBehaviour } from '../../../contract/behaviours.ts';
import { DEFAULT_DOMAIN, domainOf, withoutTag } from '../../../contract/email-address.ts';
import type { ReachableWorlds } from '../../../world/store/reachable-worlds.ts';
import { hasVerifiedDomain, type InboxLocation, type World } from '../../../world/store/world.ts';
import type { MailContext } from '../store-message.ts';

/** The effect of mail to each address at `simulator.test`. */
export const SIMULATORS = {
  success: 'The mail is sent, and no inbox receives it.',
  bounce: 'The mail is sent and bounces: `message.bounced`.',
  'relay-error': 'The relay fails: 502 `RELAY_FAILED`, and nothing is sent.',
  pause: 'The inbox is paused: 403 `INBOX_PAUSED` for this mail and all later ones.',
  resume: 'A paused inbox can send again, starting with this mail.',
} as const;

/** The name of a simulator. */
type Simulator = keyof typeof SIMULATORS;

/**
 * Finds the simulator that a bare address names. A plus-tag is allowed, such as `bounce+42@simulator.test`. Returns
 * `undefined` for any address if `sending.simulators` turns simulators off.
 */
export function findSimulator(address: string, readBehaviour: ReadBehaviour): Simulator | undefined {
  const name = /^([a-z-]+)(?:\+[^@]*)?@simulator\.test$/i.exec(address)?.[1]?.toLowerCase() ?? '';
  return isSimulator(name) && readBehaviour('sending.simulators') === 'on' ? name : undefined;
}

function isSimulator(name: string): name is Simulator {
  return Object.hasOwn(SIMULATORS, name);
}

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

/** Finds the destination of mail from a tenant to a bare address in lower case. */
export function findRoute(
  { worlds, readBehaviour, correspondents }: RouteContext,
  address: string,
  world: World,
): Route {
  if (findSimulator(address, readBehaviour) === 'bounce') return { kind: 'bounced' };
  const inbox = findInbox({ worlds, readBehaviour }, address);
  if (inbox) return { kind: 'inbox', inbox };
  if (correspondents.has(address, world)) return { kind: 'correspondent', address };
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
