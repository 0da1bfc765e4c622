import type { ReadBehaviour } from '../../../contract/behaviours.ts';
import { isIncomingAddress, parseAddress, toBareAddress } from '../../../contract/email-address.ts';
import type { ReplyOf } from '../../../contract/operations.ts';
import type { AttachmentRow, MessageRow } from '../../../world/store/rows.ts';
import type { World } from '../../../world/store/world.ts';

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
    ...EXTRA_FIELDS[readBehaviour('messages.shape')](message, readBehaviour),
  };
}

/** Returns the sender and the recipients of a message as clients see them. */
export function showSenderAndRecipients({ from, to }: MessageRow, readBehaviour: ReadBehaviour) {
  const show = SHOW_ADDRESS[readBehaviour('messages.addresses')];
  return { from: show(from), to: TO[readBehaviour('messages.to')](to.map(show)) };
}

const SHOW_ADDRESS = { bare: toBareAddress, display: (address: string) => address };

const TO = { string: (addresses: string[]) => addresses.join(', '), array: (addresses: string[]) => addresses };

function showExtended({ inboxId, cc, bcc, isStarred, isArchived }: MessageRow, readBehaviour: ReadBehaviour) {
  const show = SHOW_ADDRESS[readBehaviour('messages.addresses')];
  return { inboxId, cc: cc.map(show), bcc: bcc.map(show), isStarred, isArchived };
}

function showLegacy(message: MessageRow, readBehaviour: ReadBehaviour) {
  const { from, fromAddress, to, receivedAt } = message;
  return {
    ...showExtended(message, readBehaviour),
    fromAddress,
    fromName: parseAddress(from, isIncomingAddress)?.name || null,
    toAddresses: to.map(toBareAddress),
    sentAt: receivedAt,
    createdAt: receivedAt,
  };
}

const EXTRA_FIELDS = { extended: showExtended, reference: () => ({}), legacy: showLegacy };

/** Returns an attachment as clients see it, without its bytes. */
export function showAttachment({ id, filename, contentType, sizeBytes }: AttachmentRow) {
  return { id, filename, contentType, sizeBytes };
}
