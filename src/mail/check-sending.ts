import type { Choice } from '../contract/behaviours.ts';
import { toBareAddress } from '../contract/email-address.ts';
import { ApiError } from '../contract/errors.ts';
import type { InboxRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { MailContext } from './mail-context.ts';
import { findSimulator } from './simulators.ts';

/** The recipients that must have written to the inbox before. */
export interface Guard {
  readonly recipients: readonly string[];
  /** The choices of `sending.verified.scope` under which they must; left out where they must under any. */
  readonly scopes?: readonly Choice<'sending.verified.scope'>[];
}

/**
 * Refuses what may not be sent, before anything is stored: from a paused inbox, to guarded recipients that never
 * wrote to it, and what a simulator refuses. Mail to `pause@simulator.test` pauses the inbox, mail to
 * `resume@simulator.test` ends that.
 *
 * @throws {ApiError} INBOX_PAUSED, UNVERIFIED_RECIPIENT (VALIDATION_ERROR as `sending.verified` says) or RELAY_FAILED.
 */
export function checkSending(
  context: MailContext,
  world: World,
  { id }: InboxRow,
  recipients: readonly string[],
  guard: Guard,
): void {
  const simulated = new Set(recipients.map((recipient) => findSimulator(recipient, context.choose)));
  const isPaused = world.inboxes.get(id)?.isPaused === true;
  if (isPaused && !simulated.has('resume')) throw paused(context);
  checkHasWritten(context, world, id, guard);
  if (simulated.has('pause')) {
    world.inboxes.update(id, { isPaused: true });
    throw paused(context);
  }
  if (simulated.has('relay-error')) throw new ApiError('RELAY_FAILED', 'The mail relay failed, so nothing was sent.');
  if (isPaused) world.inboxes.update(id, { isPaused: false });
}

function paused({ assume }: MailContext): ApiError {
  assume('sending.paused');
  return new ApiError('INBOX_PAUSED', 'This inbox is paused and cannot send.');
}

/** Recipients at a simulator need not have written before. */
function checkHasWritten({ choose }: MailContext, world: World, inboxId: string, { recipients, scopes }: Guard): void {
  const stranger = recipients
    .map(toBareAddress)
    .find((address) => findSimulator(address, choose) === undefined && !hasWritten(world, inboxId, address));
  if (stranger === undefined || (scopes && !scopes.includes(choose('sending.verified.scope')))) return;
  const answer = choose('sending.verified');
  if (answer === 'sent') return;
  // Only a plain send, which is guarded always, takes `verified`.
  const advice = scopes ? '' : '; send with "verified": true if you know the address to be right';
  throw new ApiError(REFUSALS[answer], `${stranger} has never written to this inbox${advice}.`);
}

const REFUSALS = { forbidden: 'UNVERIFIED_RECIPIENT', invalid: 'VALIDATION_ERROR' } as const;

function hasWritten(world: World, inboxId: string, address: string): boolean {
  return world.messages
    .by('fromAddress', address)
    .some((message) => message.inboxId === inboxId && message.direction === 'inbound');
}
