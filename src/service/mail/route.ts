import { DEFAULT_DOMAIN, domainOf, withoutTag } from '../../contract/addresses/email-address.ts';
import type { ReadBehaviour } from '../../contract/behaviours.ts';
import type { InboxRow } from '../../world/store/rows.ts';
import { hasVerifiedDomain, type World } from '../../world/store/world.ts';
import type { MailContext } from './store-message.ts';

/** The name of each address at `simulator.test`, and the effect of mail to this address. */
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
  const isKnown = Object.hasOwn(SIMULATORS, name) && readBehaviour('sending.simulators') === 'on';
  return isKnown ? (name as Simulator) : undefined;
}

/** A recipient of a mail that has an inbox in this emulator. */
export interface LocalRecipient {
  /** The bare address to which the mail was sent: an address of the inbox, or one with a plus-tag. */
  readonly address: string;
  readonly inbox: InboxRow;
  readonly world: World;
}

/**
 * The destination of mail to an address: an inbox here, a correspondent, a bounce, or an external address, to which
 * nothing is sent.
 */
export type Route =
  | ({ readonly kind: 'inbox' } & LocalRecipient)
  | { readonly kind: 'correspondent' | 'bounced' | 'external'; readonly address: string };

type InboxContext = Pick<MailContext, 'worlds' | 'readBehaviour'>;

/** Finds the inbox of a bare address in lower case, with or without its plus-tag; `undefined` if there is none. */
export function findInbox({ worlds, readBehaviour }: InboxContext, address: string): LocalRecipient | undefined {
  if (findSimulator(address, readBehaviour) === 'bounce') return undefined;
  const exactMatch = worlds.findAddress(address);
  const match = exactMatch ?? worlds.findAddress(withoutTag(address));
  const inbox = match?.world.inboxes.get(match.inboxId);
  if (!match || !inbox || (!exactMatch && readBehaviour('sending.plus-tags') !== 'delivered')) return undefined;
  return { address, inbox, world: match.world };
}

/** Finds the destination of mail from a tenant to a bare address in lower case. */
export function findRoute(
  { worlds, readBehaviour, correspondents }: InboxContext & Pick<MailContext, 'correspondents'>,
  address: string,
  world: World,
): Route {
  if (findSimulator(address, readBehaviour) === 'bounce') return { kind: 'bounced', address };
  const found = findInbox({ worlds, readBehaviour }, address);
  if (found) return { kind: 'inbox', ...found };
  if (correspondents.has(address, world)) return { kind: 'correspondent', address };
  const domain = domainOf(address);
  const isHosted =
    domain === DEFAULT_DOMAIN || worlds.withoutSandboxes().some((each) => hasVerifiedDomain(each, domain));
  const isBounced = isHosted && readBehaviour('sending.unknown-user') === 'bounced';
  return { kind: isBounced ? 'bounced' : 'external', address };
}

/** Keeps only the first recipient of each inbox, because a mail can name several addresses of one inbox. */
export function uniqueInboxes<Each extends LocalRecipient>(recipients: readonly Each[]): Each[] {
  const byInbox = new Map<string, Each>();
  for (const recipient of recipients) {
    if (!byInbox.has(recipient.inbox.id)) byInbox.set(recipient.inbox.id, recipient);
  }
  return [...byInbox.values()];
}
