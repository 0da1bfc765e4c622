import type { MessageRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';

/**
 * Returns the messages with a Message-ID, those that write it in the same way last. Angle brackets do not matter,
 * because some programs leave them out, and others add them in a reply.
 */
export function messagesWithId({ messages }: World, messageId: string): MessageRow[] {
  const bare = messageId.replace(/^<(.*)>$/s, '$1');
  const otherForm = bare === messageId ? `<${bare}>` : bare;
  return [...messages.by('messageIdHeader', otherForm), ...messages.by('messageIdHeader', messageId)];
}
