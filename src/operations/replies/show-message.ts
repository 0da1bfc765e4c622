import type { ReadBehaviour } from '../../contract/behaviours.ts';
import type { ReplyOf } from '../../contract/operations.ts';
import type { AttachmentRow, MessageRow } from '../../store/rows.ts';
import type { World } from '../../store/world.ts';

/** Returns a message as clients see it. */
export function showMessage(world: World, message: MessageRow, readBehaviour: ReadBehaviour): ReplyOf<'getMessage'> {
  const { id, direction, subject, plainBody, htmlBody, isRead, threadId } = message;
  const { messageIdHeader, inReplyTo, receivedAt } = message;
  return {
    id,
    direction,
    ...showSenderAndRecipients(message, readBehaviour),
    subject,
    plainBody,
    htmlBody,
    isRead,
    threadId,
    messageIdHeader,
    inReplyTo,
    receivedAt,
    attachments: world.attachments.by('messageId', id).map(showAttachment),
    ...EXTRA_FIELDS[readBehaviour('messages.shape')](message),
  };
}

/** Returns the sender and the recipients of a message as clients see them. */
export function showSenderAndRecipients(message: MessageRow, readBehaviour: ReadBehaviour) {
  return { from: FROM[readBehaviour('messages.from')](message), to: TO[readBehaviour('messages.to')](message.to) };
}

const FROM = {
  display: ({ from }: MessageRow) => from,
  bare: ({ fromAddress }: MessageRow) => fromAddress,
};

const TO = {
  string: (addresses: readonly string[]) => addresses.join(', '),
  array: (addresses: readonly string[]) => [...addresses],
};

const EXTRA_FIELDS = {
  extended: ({ inboxId, cc, bcc, isStarred, isArchived }: MessageRow) => ({
    inboxId,
    cc: [...cc],
    bcc: [...bcc],
    isStarred,
    isArchived,
  }),
  reference: () => ({}),
};

/** Returns an attachment as clients see it, without its bytes. */
export function showAttachment({ id, filename, contentType, sizeBytes }: AttachmentRow) {
  return { id, filename, contentType, sizeBytes };
}
