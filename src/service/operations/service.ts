import { isBareAddress } from '../../contract/addresses/email-address.ts';
import type { ReplyOf } from '../../contract/operations.ts';
import { primaryAddress } from '../../world/store/world.ts';
import { describePrincipal } from '../access/principal.ts';
import { findRoute, findSimulator } from '../mail/route.ts';
import type { Context, Run } from './context.ts';

export const getHealth: Run<'getHealth'> = ({ readBehaviour }) => ({
  body: readBehaviour('health.body') === 'empty' ? {} : { status: 'ok' },
});

export const getMe: Run<'getMe'> = ({ principal, world }) => {
  const inbox = world?.inboxes.get(principal.inboxId ?? '');
  return { body: { ...describePrincipal(principal), email: world && inbox ? primaryAddress(world, inbox) : null } };
};

export const verifyEmail: Run<'verifyEmail'> = (context, { body }) => {
  const { email } = body;
  const reason = findInvalidReason(context, email);
  return { body: { email, valid: reason === null, reason } };
};

function findInvalidReason(context: Context<'verifyEmail'>, email: string): ReplyOf<'verifyEmail'>['reason'] {
  if (!isBareAddress(email)) return 'syntax';
  if (findRoute(context, email, context.world).kind !== 'bounced') return null;
  return findSimulator(email, context.readBehaviour) === 'bounce' ? 'bounces' : 'no-such-inbox';
}
