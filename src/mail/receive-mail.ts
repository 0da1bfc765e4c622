import { toBareAddress } from '../contract/email-address.ts';
import { newId } from '../environment.ts';
import type { MessageRow } from '../store/rows.ts';
import type { InboxLocation, World } from '../store/world.ts';
import type { MailContext } from './mail-context.ts';
import { reportBounce } from './report-bounce.ts';
import { type AttachedFile, publish, storeMessage } from './store-message.ts';

/** A mail to store in an inbox. */
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
 * Stores a mail in an inbox, in the thread that it replies to or in a new one, and publishes `message.received`. If it
 * reports that a mail of the inbox bounced, also publishes `message.bounced` for that mail. Returns `undefined` if the
 * inbox does not exist any more.
 */
export function receiveMail(
  context: MailContext,
  { world, inboxId }: InboxLocation,
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
  reportBounce(context, world, message);
  return message;
}

/**
 * Finds the thread that a mail replies to: the thread of the message named in In-Reply-To; otherwise the thread of the
 * last message in References that this inbox has (see "Threading of inbound mail" in the reference,
 * src/contract/README.md).
 */
export function findThread(
  world: World,
  inboxId: string,
  { inReplyTo, references }: { readonly inReplyTo: string | null; readonly references: readonly string[] },
): string | undefined {
  for (const messageId of [...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()]) {
    // An inbox that writes to itself has two messages with this id. `findLast` picks the inbound copy, which is stored
    // second; replies belong to its thread.
    const known = world.messages.by('messageIdHeader', messageId).findLast((message) => message.inboxId === inboxId);
    if (known) return known.threadId;
  }
  return undefined;
}
