import { toBareAddress } from '../contract/email-address.ts';
import { newId, timestampNow } from '../environment.ts';
import type { AttachmentRow, InboxRow, MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Office } from './office.ts';
import { publish } from './publish.ts';
import { findThread } from './threading.ts';

/** A file as it travels. */
export type AttachedFile = Pick<AttachmentRow, 'filename' | 'contentType' | 'sizeBytes' | 'content'>;

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
  > {
  readonly attachments: readonly AttachedFile[];
}

/** Stores a mail in an inbox, in the thread that it continues or a new one, and publishes `message.received`. */
export function receiveMail(office: Office, world: World, inbox: InboxRow, incoming: IncomingMail): MessageRow {
  const { environment, choose } = office;
  const { attachments, ...mail } = incoming;
  if (mail.inReplyTo !== null || mail.references.length > 0) choose('threads.inbound');
  const message = world.messages.insert({
    ...mail,
    id: newId(environment),
    inboxId: inbox.id,
    threadId: findThread(world, inbox.id, mail) ?? newId(environment),
    direction: 'inbound',
    fromAddress: toBareAddress(mail.from),
    bcc: [],
    isRead: false,
    isStarred: false,
    isArchived: false,
    deletedAt: null,
    bouncedAt: null,
    receivedAt: timestampNow(environment),
  });
  attach(office, world, message, attachments);
  publish(office, world, 'message.received', message);
  return message;
}

/** Stores copies of files with a message. */
export function attach(
  { environment }: Pick<Office, 'environment'>,
  world: World,
  message: MessageRow,
  files: readonly AttachedFile[],
): void {
  for (const { filename, contentType, sizeBytes, content } of files) {
    const id = newId(environment);
    world.attachments.insert({ id, messageId: message.id, filename, contentType, sizeBytes, content });
  }
}
