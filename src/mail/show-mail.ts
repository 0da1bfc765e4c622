import type { AttachmentRow, MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import { readHeaders } from './mime/read-headers.ts';

/** A file of a mail. */
export interface MailAttachment extends Pick<AttachmentRow, 'id' | 'filename' | 'contentType' | 'sizeBytes'> {
  /** The bytes, in base64. */
  readonly content: string;
}

/** A mail that arrived in an inbox or was sent by one, with everything that it contains. */
export interface Mail
  extends Pick<
    MessageRow,
    | 'id'
    | 'inboxId'
    | 'threadId'
    | 'direction'
    | 'from'
    | 'to'
    | 'cc'
    | 'bcc'
    | 'replyTo'
    | 'subject'
    | 'plainBody'
    | 'htmlBody'
    | 'messageIdHeader'
    | 'inReplyTo'
    | 'receivedAt'
  > {
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The header fields by lower-case name, as the raw mail has them; of fields with one name, the last. */
  readonly headers: Readonly<Record<string, string>>;
  /** The files, with their bytes. */
  readonly attachments: readonly MailAttachment[];
}

/** Shows a message with its header fields and files. */
export function showMail(world: World, message: MessageRow): Mail {
  const { id, inboxId, threadId, direction, from, to, cc, bcc, replyTo, subject, plainBody, htmlBody } = message;
  const { messageIdHeader, inReplyTo, receivedAt } = message;
  return {
    ...{ id, tenantId: world.id, inboxId, threadId, direction, from, to, cc, bcc, replyTo, subject },
    ...{ plainBody, htmlBody, messageIdHeader, inReplyTo, receivedAt },
    headers: readHeaders(message),
    attachments: world.attachments
      .by('messageId', id)
      .map(({ id, filename, contentType, sizeBytes, content }) => ({ id, filename, contentType, sizeBytes, content })),
  };
}
