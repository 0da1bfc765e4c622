import type { Choose } from '../contract/behaviours.ts';
import type { FOLDERS } from '../contract/operations/messages.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Run } from './context.ts';
import type { Reach } from './reach/find-in-reach.ts';
import { selectInboxes } from './reach/select.ts';
import { fitBodies } from './replies/fit-bodies.ts';
import { cutPage } from './replies/page.ts';
import { showMessage } from './replies/show-message.ts';

type Folder = (typeof FOLDERS)[number];

const IS_IN: Record<Folder, (message: MessageRow) => boolean> = {
  inbox: ({ direction, isArchived, deletedAt }) => direction === 'inbound' && !isArchived && deletedAt === null,
  sent: ({ direction, isArchived, deletedAt }) => direction === 'outbound' && !isArchived && deletedAt === null,
  starred: ({ isStarred, deletedAt }) => isStarred && deletedAt === null,
  archived: ({ isArchived, deletedAt }) => isArchived && deletedAt === null,
  trash: ({ deletedAt }) => deletedAt !== null,
};

export const listAllMessages: Run<'listAllMessages'> = (context, { query }) => {
  const { principal, choose } = context;
  const { world } = principal;
  const found = messagesInReach(context, query).filter(isWanted(query.folder, choose));
  const grouped = query.group === 'thread' ? latestOfEachThread(found) : found;
  const { rows, pagination } = cutPage(grouped, query, choose);
  const show = query.group === 'thread' ? showThreadRow : showMessage;
  return {
    body: { messages: { messages: fitBodies(rows, choose).map((row) => show(world, row, choose)), pagination } }[
      choose('messages.all.shape')
    ],
  };
};

/** Every message of the inboxes in reach, or of those that are selected, in the order of arrival. */
function messagesInReach(
  reach: Reach,
  { workspace, inboxId: inbox }: { readonly workspace?: string | undefined; readonly inboxId?: string | undefined },
): MessageRow[] {
  const inboxIds = new Set(selectInboxes(reach, { workspace, inbox }).map(({ id }) => id));
  return reach.principal.world.messages.all().filter((message) => inboxIds.has(message.inboxId));
}

function isWanted(folder: Folder | undefined, choose: Choose): (message: MessageRow) => boolean {
  if (folder === undefined && choose('messages.all.folder') === 'all') return ({ deletedAt }) => deletedAt === null;
  choose('messages.folders');
  return IS_IN[folder ?? 'inbox'];
}

function latestOfEachThread(messages: readonly MessageRow[]): MessageRow[] {
  const latest = new Map(messages.map((message) => [threadOf(message), message]));
  return messages.filter((message) => latest.get(threadOf(message)) === message);
}

/** A thread is one of an inbox: another inbox has its own, whatever id a fixture gave it. */
function threadOf({ inboxId, threadId }: MessageRow): string {
  return `${inboxId} ${threadId}`;
}

function showThreadRow(world: World, message: MessageRow, choose: Choose) {
  const thread = world.messages.by('threadId', message.threadId);
  const messageCount = thread.filter(({ inboxId }) => inboxId === message.inboxId).length;
  return { ...showMessage(world, message, choose), messageCount };
}

export const countFolders: Run<'countFolders'> = (context, { query }) => {
  context.choose('messages.folders');
  const messages = messagesInReach(context, query);
  const count = (folder: Folder) => messages.filter(IS_IN[folder]).length;
  const unread = messages.filter((message) => IS_IN.inbox(message) && !message.isRead).length;
  return {
    body: {
      inbox: { unread, total: count('inbox') },
      sent: count('sent'),
      starred: count('starred'),
      archived: count('archived'),
      trash: count('trash'),
    },
  };
};
