import type { MessageRow } from '../../world/store/rows.ts';
import { primaryAddress, type World } from '../../world/store/world.ts';
import type { Route } from './outgoing/route.ts';
import type { MailContext } from './store-message.ts';

/** What is known of a mail before it arrives. */
type SentMail = Pick<MessageRow, 'from' | 'subject' | 'messageIdHeader'>;

/** Counts a mail to an inbox or a correspondent. Returns whether it is held, because it is part of a loop. */
export function isHeld(
  { loops, worlds, assume }: MailContext,
  world: World,
  { from, subject, messageIdHeader }: SentMail,
  route: Extract<Route, { kind: 'inbox' | 'correspondent' }>,
): boolean {
  const to = route.kind === 'inbox' ? addressOf(route.inbox) : route.address;
  if (loops.admit(worlds, world, { from, to, subject, messageIdHeader })) return false;
  assume('sending.loops');
  return true;
}

function addressOf({ world, inboxId }: Extract<Route, { kind: 'inbox' }>['inbox']): string {
  const inbox = world.inboxes.get(inboxId);
  return inbox ? primaryAddress(world, inbox) : '';
}
