import type { Choose } from '../../contract/behaviours.ts';
import type { ReplyOf } from '../../contract/operations.ts';
import type { AttachmentRow, MessageRow } from '../../store/rows.ts';
import type { World } from '../../store/world.ts';

/** A message as clients see it. */
export function showMessage(world: World, message: MessageRow, choose: Choose): ReplyOf<'getMessage'> {
  const { id, direction, subject, plainBody, htmlBody, isRead, threadId } = message;
  const { messageIdHeader, inReplyTo, receivedAt } = message;
  return {
    id,
    direction,
    ...showPeople(message, choose),
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

/** Whom a message is from and to. */
export function showPeople(message: MessageRow, choose: Choose) {
  return { from: FROM[choose('messages.from')](message), to: TO[choose('messages.to')](message.to) };
}

const FROM = {
  display: ({ from }: MessageRow) => from,
  bare: ({ fromAddress }: MessageRow) => fromAddress,
};

const TO = {
  string: (addresses: readonly string[]) => addresses.join(', '),
  array: (addresses: readonly string[]) => [...addresses],
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
