import { z } from 'zod';
import type { ReadBehaviour } from '../../behaviours.ts';
import { defineReplies } from '../../operation.ts';
import { uuid } from '../../schemas.ts';

/** The reply of every operation that sends (reference). */
export const sentReply = () =>
  z.strictObject({ id: uuid(), threadId: uuid(), status: z.literal('sent'), messageId: z.string() });

const sent = () => ({ 'message-id-header': sentReply(), 'message-id': sentReply().extend({ messageId: uuid() }) });

const reply = (readBehaviour: ReadBehaviour) => sent()[readBehaviour('sending.reply')];

/** The bodies of the successful replies of these operations. */
export const sendReplies = defineReplies({
  sendMessage: reply,
  replyToMessage: reply,
  replyAllToMessage: reply,
  forwardMessage: reply,
});
