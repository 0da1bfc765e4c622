import type { BehaviourReader } from '../../contract/behaviour-reader.ts';
import type { MessageRow } from '../../store/rows.ts';
import type { World } from '../../store/world.ts';
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
  const countThread = createThreadCounter(world);
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
      ...countThread(message),
    };
  });
  return { messages, pagination };
}

/** Creates a function that counts each thread only once per page. */
function createThreadCounter(world: World) {
  const counts = new Map<string, { threadCount: number; threadUnreadCount: number }>();
  return (message: MessageRow) => {
    const key = threadKey(message);
    const known = counts.get(key) ?? countThread(world, message);
    counts.set(key, known);
    return known;
  };
}

function countThread(world: World, message: MessageRow) {
  const thread = messagesOfThread(world, message);
  const unread = thread.filter(({ isRead, deletedAt }) => !isRead && deletedAt === null);
  return { threadCount: thread.length, threadUnreadCount: unread.length };
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
    ...(isGrouped && { messageCount: messagesOfThread(world, message).length }),
  }));
  return { messages, pagination };
}

function messagesOfThread(world: World, { inboxId, threadId }: MessageRow): MessageRow[] {
  return world.messages.by('threadId', threadId).filter((message) => message.inboxId === inboxId);
}

/** Returns a key that is unique per inbox, because a fixture may use the same thread id in two inboxes. */
export function threadKey({ inboxId, threadId }: MessageRow): string {
  return `${inboxId} ${threadId}`;
}
