import type { BehaviourValue } from '../../../contract/behaviours.ts';
import { toBareAddress } from '../../../contract/email-address.ts';
import { ApiError } from '../../../contract/errors.ts';
import type { InboxRow } from '../../../world/store/rows.ts';
import type { World } from '../../../world/store/world.ts';
import type { MailContext } from '../store-message.ts';
import { findSimulator } from './route.ts';

/** Which recipients must have written to the inbox before. */
export interface RecipientCheck {
  readonly recipients: readonly string[];
  /** The values of `sending.verified.scope` for which this is checked. If left out, it is always checked. */
  readonly onlyIfVerifiedScopeIs?: readonly BehaviourValue<'sending.verified.scope'>[];
}

/**
 * Refuses mail before it is stored if its inbox is paused, if a recipient must have written to the inbox but has not,
 * or if it is to a simulator that refuses it. Mail to `pause@simulator.test` pauses the inbox; mail to
 * `resume@simulator.test` ends that.
 *
 * @throws {ApiError} INBOX_PAUSED, RELAY_FAILED, or UNVERIFIED_RECIPIENT (or VALIDATION_ERROR, by `sending.verified`).
 */
export function checkSending(
  context: MailContext,
  world: World,
  { id }: InboxRow,
  recipients: readonly string[],
  recipientCheck: RecipientCheck,
): void {
  const simulated = new Set(recipients.map((recipient) => findSimulator(recipient, context.readBehaviour)));
  const isPaused = world.inboxes.get(id)?.isPaused === true;
  if (isPaused && !simulated.has('resume')) throw inboxPaused(context);
  checkVerifiedRecipients(context, world, id, recipientCheck);
  if (simulated.has('pause')) {
    world.inboxes.update(id, { isPaused: true });
    throw inboxPaused(context);
  }
  if (simulated.has('relay-error')) throw new ApiError('RELAY_FAILED', 'The mail relay failed, so nothing was sent.');
  if (isPaused) world.inboxes.update(id, { isPaused: false });
}

function inboxPaused({ assume }: MailContext): ApiError {
  assume('sending.paused');
  return new ApiError('INBOX_PAUSED', 'This inbox is paused and cannot send.');
}

/** Checks that each recipient has written to the inbox before. Simulators need not have. */
function checkVerifiedRecipients(
  { readBehaviour }: MailContext,
  world: World,
  inboxId: string,
  { recipients, onlyIfVerifiedScopeIs }: RecipientCheck,
): void {
  const unverified = recipients
    .map(toBareAddress)
    .find((address) => findSimulator(address, readBehaviour) === undefined && !hasWritten(world, inboxId, address));
  if (
    unverified === undefined ||
    (onlyIfVerifiedScopeIs && !onlyIfVerifiedScopeIs.includes(readBehaviour('sending.verified.scope')))
  )
    return;
  const value = readBehaviour('sending.verified');
  if (value === 'sent') return;
  // Only a plain send, which is always checked, has the field `verified`.
  const advice = onlyIfVerifiedScopeIs ? '' : '; send with "verified": true if you know the address to be right';
  throw new ApiError(REFUSALS[value], `${unverified} has never written to this inbox${advice}.`);
}

const REFUSALS = { forbidden: 'UNVERIFIED_RECIPIENT', invalid: 'VALIDATION_ERROR' } as const;

function hasWritten(world: World, inboxId: string, address: string): boolean {
  return world.messages
    .by('fromAddress', address)
    .some((message) => message.inboxId === inboxId && message.direction === 'inbound');
}
