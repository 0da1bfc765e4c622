import { toBareAddress } from '../contract/email-address.ts';
import { newId } from '../environment.ts';
import type { InboxRow, MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { MailContext } from './mail-context.ts';
import { publish } from './publish.ts';
import { type AttachedFile, storeMessage } from './store-message.ts';
import { findThread } from './threading.ts';

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

/** Stores a mail in an inbox, in the thread that it continues or a new one, and publishes `message.received`. */
export function receiveMail(context: MailContext, world: World, inbox: InboxRow, incoming: IncomingMail): MessageRow {
  const { environment, assume } = context;
  const { attachments, ...mail } = incoming;
  if (mail.inReplyTo !== null || mail.references.length > 0) assume('threads.inbound');
  const row = {
    ...mail,
    id: newId(environment),
    inboxId: inbox.id,
    threadId: findThread(world, inbox.id, mail) ?? newId(environment),
    direction: 'inbound' as const,
    fromAddress: toBareAddress(mail.from),
    bcc: [],
    isRead: false,
  };
  const message = storeMessage(context, world, row, attachments);
  publish(context, world, 'message.received', message);
  return message;
}
