import type { Ledger } from '../../contract/ledger-reader.ts';
import type { MessageRow } from '../../store/rows.ts';
import type { World } from '../../store/world.ts';
import { fitBodies } from './fit-bodies.ts';
import type { cutPage } from './page.ts';
import { showMessage, showPeople } from './show-message.ts';
import { snippetOf } from './snippet.ts';

/** A page of the tenant-wide list. */
type MessagePage = ReturnType<typeof cutPage<MessageRow>>;

/** How the tenant-wide list shows a page, for each choice of `messages.all.shape`. */
export const SHOW_PAGE = { rows: showRows, messages: showWholeMessages };

/** Rows with the beginning of each message and what is in its thread. */
function showRows(world: World, { rows, pagination }: MessagePage, { choose, assume }: Ledger) {
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
      ...showPeople(message, choose),
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

/** Counts each thread once, however many of its messages are on a page. */
function createThreadCounter(world: World) {
  const counts = new Map<string, { threadCount: number; threadUnreadCount: number }>();
  return (message: MessageRow) => {
    const key = threadOf(message);
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

/** Whole messages; one that stands for its thread says how many that has. */
function showWholeMessages(
  world: World,
  { rows, pagination }: MessagePage,
  { choose, assume }: Ledger,
  isGrouped: boolean,
) {
  const messages = fitBodies(rows, assume).map((message) => ({
    ...showMessage(world, message, choose),
    ...(isGrouped && { messageCount: messagesOfThread(world, message).length }),
  }));
  return { messages, pagination };
}

function messagesOfThread(world: World, { inboxId, threadId }: MessageRow): MessageRow[] {
  return world.messages.by('threadId', threadId).filter((message) => message.inboxId === inboxId);
}

/** A thread is one of an inbox: another inbox has its own, whatever id a fixture gave it. */
export function threadOf({ inboxId, threadId }: MessageRow): string {
  return `${inboxId} ${threadId}`;
}
