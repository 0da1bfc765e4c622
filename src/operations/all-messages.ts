import type { Choose } from '../contract/behaviours.ts';
import type { FOLDERS } from '../contract/operations/messages.ts';
import type { MessageRow } from '../store/rows.ts';
import type { Run } from './context.ts';
import type { Reach } from './reach/find-in-reach.ts';
import { selectInboxes } from './reach/select.ts';
import { cutPage } from './replies/page.ts';
import { SHOW_PAGE, threadOf } from './replies/show-page.ts';

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
  const isGrouped = query.group === 'thread';
  const page = cutPage(isGrouped ? latestOfEachThread(found) : found, query, choose);
  return { body: SHOW_PAGE[choose('messages.all.shape')](world, page, choose, isGrouped) };
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
  const seen = new Set<string>();
  const latestFirst = messages.toReversed().filter((message) => {
    const thread = threadOf(message);
    return !seen.has(thread) && seen.add(thread);
  });
  return latestFirst.reverse();
}

export const countFolders: Run<'countFolders'> = (context, { query }) => {
  context.choose('messages.folders');
  const messages = messagesInReach(context, query);
  const count = (folder: Folder) => messages.filter(IS_IN[folder]).length;
  const unread = messages.filter((message) => IS_IN.inbox(message) && !message.isRead).length;
  const inbox = { unread, total: count('inbox') };
  const others = { sent: count('sent'), starred: count('starred'), archived: count('archived'), trash: count('trash') };
  return { body: { inbox, ...COUNTS[context.choose('messages.folders.counts')](others) } };
};

type OtherCounts = Record<Exclude<Folder, 'inbox'>, number>;

const COUNTS = {
  objects: ({ sent, starred, archived, trash }: OtherCounts) => ({
    sent: { total: sent },
    starred: { total: starred },
    archived: { total: archived },
    trash: { total: trash },
  }),
  numbers: (counts: OtherCounts) => counts,
};
