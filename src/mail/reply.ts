import type { Choose } from '../contract/behaviours.ts';
import { toBareAddress } from '../contract/email-address.ts';
import { ApiError } from '../contract/errors.ts';
import { MAX_SUBJECT_LENGTH } from '../contract/operations/sending.ts';
import type { InboxRow, MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';

/** Whom a reply goes to, and whom besides when it goes to all. */
export interface ReplyRecipients {
  readonly to: readonly string[];
  readonly cc: readonly string[];
}

/**
 * Finds whom a reply goes to: whoever wrote, or, for a message of one's own, whomever it went to.
 *
 * @throws {ApiError} VALIDATION_ERROR when there is nobody to reply to.
 */
export function recipientsOfReply(world: World, inbox: InboxRow, message: MessageRow, choose: Choose): ReplyRecipients {
  choose('sending.reply.recipients');
  const isOwn = message.direction === 'outbound';
  const to = isOwn ? message.to : [message.replyTo ?? message.from];
  if (to.length === 0) throw new ApiError('VALIDATION_ERROR', 'There is nobody to reply to: the message has no To.');
  const known = [...to, ...world.addresses.by('inboxId', inbox.id).map(({ address }) => address)];
  return { to, cc: without(isOwn ? message.cc : [...message.to, ...message.cc], known) };
}

/** Leaves out the addresses that are among `known`, and those that came before. */
function without(addresses: readonly string[], known: readonly string[]): string[] {
  const seen = new Set(known.map(toBareAddress));
  return addresses.filter((address) => {
    const bare = toBareAddress(address);
    return !seen.has(bare) && seen.add(bare);
  });
}

/** The subject of a reply to a message. */
export function replySubject({ subject }: Pick<MessageRow, 'subject'>, choose: Choose): string {
  choose('sending.reply.subject');
  return /^re:/i.test(subject) ? subject : `Re: ${subject}`.slice(0, MAX_SUBJECT_LENGTH);
}
