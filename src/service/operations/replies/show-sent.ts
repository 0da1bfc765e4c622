import type { ReadBehaviour } from '../../../contract/behaviours.ts';
import type { MessageRow } from '../../../world/store/rows.ts';

/** Returns the reply body of every operation that sends mail. */
export function showSent({ id, threadId, messageIdHeader }: MessageRow, readBehaviour: ReadBehaviour) {
  const messageId = { 'message-id-header': messageIdHeader, 'message-id': id }[readBehaviour('sending.reply')];
  return { id, threadId, status: 'sent' as const, messageId };
}
