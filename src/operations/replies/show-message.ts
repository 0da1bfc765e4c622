import type { Choose } from '../../contract/behaviours.ts';
import type { ReplyOf } from '../../contract/operations.ts';
import type { AttachmentRow, MessageRow } from '../../store/rows.ts';
import type { World } from '../../store/world.ts';

/** A message as clients see it. */
export function showMessage(world: World, message: MessageRow, choose: Choose): ReplyOf<'getMessage'> {
  const { id, direction, from, to, subject, plainBody, htmlBody, isRead, threadId } = message;
  const { messageIdHeader, inReplyTo, receivedAt } = message;
  return {
    id,
    direction,
    from,
    to: TO[choose('messages.to')](to),
    subject,
    plainBody,
    htmlBody,
    isRead,
    threadId,
    messageIdHeader,
    inReplyTo,
    receivedAt,
    attachments: world.attachments.by('messageId', id).map(showAttachment),
    ...EXTRA[choose('messages.shape')](message),
  };
}

const TO = {
  array: (addresses: readonly string[]) => [...addresses],
  string: (addresses: readonly string[]) => addresses.join(', '),
};

const EXTRA = {
  extended: ({ inboxId, cc, bcc, isStarred, isArchived }: MessageRow) => ({
    inboxId,
    cc: [...cc],
    bcc: [...bcc],
    isStarred,
    isArchived,
  }),
  reference: () => ({}),
};

/** What clients see of an attachment besides its bytes. */
export function showAttachment({ id, filename, contentType, sizeBytes }: AttachmentRow) {
  return { id, filename, contentType, sizeBytes };
}
