import { toBareAddress } from '../contract/email-address.ts';
import { newId } from '../environment.ts';
import type { MessageRow } from '../store/rows.ts';
import type { AddressHolder, World } from '../store/world.ts';
import type { MailContext } from './mail-context.ts';
import { type AttachedFile, publish, storeMessage } from './store-message.ts';

/** A mail that an inbox is to receive. */
export interface IncomingMail
  extends Pick<
    MessageRow,
    | 'from'
    | 'to'
    | 'cc'
    | 'replyTo'
    | 'subject'
    | 'plainBody'
    | 'htmlBody'
    | 'messageIdHeader'
    | 'inReplyTo'
    | 'references'
    | 'headers'
    | 'raw'
  > {
  readonly attachments: readonly AttachedFile[];
}

/**
 * Stores a mail in an inbox, in the thread that it continues or in a new one, and publishes `message.received`. Returns
 * `undefined` if the inbox does not exist any more.
 */
export function receiveMail(
  context: MailContext,
  { world, inboxId }: AddressHolder,
  { attachments, ...mail }: IncomingMail,
): MessageRow | undefined {
  if (!world.inboxes.get(inboxId)) return undefined;
  if (mail.inReplyTo !== null || mail.references.length > 0) context.assume('threads.inbound');
  const row = {
    ...mail,
    id: newId(world.environment),
    inboxId,
    threadId: findThread(world, inboxId, mail) ?? newId(world.environment),
    direction: 'inbound' as const,
    fromAddress: toBareAddress(mail.from),
    bcc: [],
    isRead: false,
  };
  const message = storeMessage(world, row, attachments);
  publish(context, world, 'message.received', message);
  return message;
}

/**
 * Finds the thread that a mail continues: that of the message in In-Reply-To, otherwise of the latest known message in
 * References (reference, "Threading of inbound mail"). An inbox that writes to itself has two messages with the same
 * Message-ID; the inbound one counts, because replies refer to that.
 */
export function findThread(
  world: World,
  inboxId: string,
  { inReplyTo, references }: { readonly inReplyTo: string | null; readonly references: readonly string[] },
): string | undefined {
  for (const messageId of [...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()]) {
    const known = world.messages.by('messageIdHeader', messageId).findLast((message) => message.inboxId === inboxId);
    if (known) return known.threadId;
  }
  return undefined;
}
