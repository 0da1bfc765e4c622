import type { ReadBehaviour } from '../../contract/behaviours.ts';
import type { MessageRow } from '../../store/rows.ts';

/** What every way of sending answers. */
export function showSent({ id, threadId, messageIdHeader }: MessageRow, readBehaviour: ReadBehaviour) {
  const messageId = { 'message-id-header': messageIdHeader, 'message-id': id }[readBehaviour('sending.reply')];
  return { id, threadId, status: 'sent' as const, messageId };
}
