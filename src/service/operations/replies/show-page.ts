import type { BehaviourReader } from '../../../contract/behaviours.ts';
import type { MessageRow } from '../../../world/store/rows.ts';
import type { World } from '../../../world/store/world.ts';
import { limitBodies } from './limit-bodies.ts';
import type { paginate } from './paginate.ts';
import { showMessage, showSenderAndRecipients } from './show-message.ts';
import { snippetOf } from './snippet.ts';

/** A page of the tenant-wide list. */
type MessagePage = ReturnType<typeof paginate<MessageRow>>;

/** Functions that show a page of the tenant-wide list, by the value of `messages.all.shape`. */
export const SHOW_PAGE = { rows: showRows, messages: showWholeMessages };

/** Returns messages in short form, each with a snippet and the counts of its thread. */
function showRows(world: World, { rows, pagination }: MessagePage, { readBehaviour, assume }: BehaviourReader) {
  assume('messages.all.snippet');
  assume('messages.all.thread-counts');
  const messages = rows.map((message) => {
    const { id, inboxId, direction, subject, isRead, isStarred, isArchived, receivedAt, threadId } = message;
    const { username = '', domain = '' } = world.inboxes.get(inboxId) ?? {};
    return {
      id,
      inboxId,
      inboxUsername: username,
      inboxDomain: domain,
      direction,
      ...showSenderAndRecipients(message, readBehaviour),
      subject,
      snippet: snippetOf(message),
      isRead,
      isStarred,
      isArchived,
      receivedAt,
      threadId,
      ...countThread(world, message),
    };
  });
  return { messages, pagination };
}

function countThread({ messageIndex }: World, { inboxId, threadId }: MessageRow) {
  const { messageCount = 0, unreadCount = 0 } = messageIndex.thread(inboxId, threadId) ?? {};
  return { threadCount: messageCount, threadUnreadCount: unreadCount };
}

/** Returns complete messages. If they are grouped, each has the number of messages in its thread. */
function showWholeMessages(
  world: World,
  { rows, pagination }: MessagePage,
  { readBehaviour, assume }: BehaviourReader,
  isGrouped: boolean,
) {
  const messages = limitBodies(rows, assume).map((message) => ({
    ...showMessage(world, message, readBehaviour),
    ...(isGrouped && { messageCount: countThread(world, message).threadCount }),
  }));
  return { messages, pagination };
}
