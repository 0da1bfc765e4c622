import type { BehaviourReader, ReadBehaviour } from '../../../contract/behaviours.ts';
import type { SliceableList } from '../../../world/store/entries.ts';
import type { MessageRow } from '../../../world/store/rows.ts';
import type { World } from '../../../world/store/world.ts';
import { limitBodies, showMessage, showSenderAndRecipients, snippetOf } from './show-message.ts';

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
    const { username: inboxUsername = '', domain: inboxDomain = '' } = world.inboxes.get(inboxId) ?? {};
    return {
      ...{ id, inboxId, inboxUsername, inboxDomain, direction, ...showSenderAndRecipients(message, readBehaviour) },
      ...{ subject, snippet: snippetOf(message), isRead, isStarred, isArchived, receivedAt, threadId },
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

/** The bodies that every delete operation supports, by the value of its behaviour. */
export const DELETED = { 'deleted-and-id': (id: string) => ({ deleted: true as const, id }), empty: () => ({}) };

/** Returns the body for an update whose reply does not contain the updated resource. */
export function updated(id: string) {
  return { updated: true as const, id };
}

/** Returns the reply body of every operation that sends mail. */
export function showSent({ id, threadId, messageIdHeader }: MessageRow, readBehaviour: ReadBehaviour) {
  const messageId = { 'message-id-header': messageIdHeader, 'message-id': id }[readBehaviour('sending.reply')];
  return { id, threadId, status: 'sent' as const, messageId };
}

/** Returns one page of a list that is in order of arrival. */
export function paginate<Row>(
  rows: SliceableList<Row>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  readBehaviour: ReadBehaviour,
  order: 'messages.list.order' | 'drafts.list.order' = 'messages.list.order',
) {
  const pagination = { total: rows.length, limit, offset };
  if (readBehaviour(order) === 'oldest-first') return { rows: rows.slice(offset, offset + limit), pagination };
  // Only the page is reversed, so that the cost does not grow with the list.
  const end = Math.max(rows.length - offset, 0);
  return { rows: rows.slice(Math.max(end - limit, 0), end).reverse(), pagination };
}
