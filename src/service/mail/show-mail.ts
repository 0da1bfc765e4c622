import type { AttachmentRow, MessageRow } from '../../world/store/rows.ts';
import { showRow } from '../../world/store/seed/show-row.ts';
import type { World } from '../../world/store/world.ts';
import { type ReceivedMessage, showReceived } from './incoming/accept-message.ts';
import { findProblems } from './incoming/find-problems.ts';
import { type MailHeader, readHeaders } from './mime/header.ts';

/** A file of a mail. */
export interface MailAttachment extends Pick<AttachmentRow, 'id' | 'filename' | 'contentType' | 'sizeBytes'> {
  /** The bytes, in base64. */
  readonly content: string;
}

/** A mail that arrived in an inbox or was sent by one, with everything that it contains. */
export interface Mail
  extends ReceivedMessage,
    Omit<MailHeader, 'references' | 'headers'>,
    Pick<MessageRow, 'direction' | 'bcc' | 'plainBody' | 'htmlBody'> {
  /**
   * The header fields by lower-case name, as the raw mail has them; of fields with one name, that of the emulator, or
   * else the last.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** The files, with their bytes. */
  readonly attachments: readonly MailAttachment[];
  /** What could not be read of a raw mail, each in one sentence; left out if there is nothing. */
  readonly problems?: readonly string[];
  /** To how many event streams its event was sent; left out if to none. */
  readonly streams?: number;
}

/** Shows a message with its header fields and files. */
export function showMail(world: World, message: MessageRow): Mail {
  const { direction, from, to, cc, bcc, replyTo, subject, plainBody, htmlBody } = message;
  const { messageIdHeader, inReplyTo, receivedAt } = message;
  const files = world.attachments.by('messageId', message.id);
  const problems = findProblems(message, files);
  return {
    ...{ ...showReceived(world, message), direction, from, to, cc, bcc, replyTo, subject },
    ...{ plainBody, htmlBody, messageIdHeader, inReplyTo, receivedAt },
    headers: readHeaders(message),
    attachments: files.map(({ id, filename, contentType, sizeBytes, content }) =>
      showRow({ id, filename, contentType, sizeBytes, content }),
    ),
    ...(problems.length > 0 && { problems }),
  };
}
