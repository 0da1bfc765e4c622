import { toBareAddress } from '../contract/email-address.ts';
import { newId } from '../environment.ts';
import type { MessageRow } from '../store/rows.ts';
import type { AddressHolder, World } from '../store/world.ts';
import type { MailContext } from './mail-context.ts';
import { type AttachedFile, publish, storeMessage } from './store-message.ts';

/** A mail on its way into an inbox. */
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
 * Stores a mail in an inbox, in the thread that it continues or a new one, and publishes `message.received`.
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
 * Finds the thread of an inbox that a mail continues: that of the message in In-Reply-To, else of any in References,
 * the latest first (reference, "Threading of inbound mail"). Mail to oneself is there twice under one Message-ID; the
 * one that arrived counts, because replies are written to that.
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
