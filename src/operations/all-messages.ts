import type { LookupContext } from '../access/find-in-scope.ts';
import { selectInboxes } from '../access/select-scope.ts';
import type { BehaviourReader } from '../contract/behaviour-reader.ts';
import type { Folder, GroupedList, MessageList } from '../store/message-lists.ts';
import type { Run } from './context.ts';
import { paginate } from './replies/paginate.ts';
import { SHOW_PAGE } from './replies/show-page.ts';

export const listAllMessages: Run<'listAllMessages'> = (context, { query }) => {
  const { principal, readBehaviour } = context;
  const { world } = principal;
  const inboxIds = inboxIdsInScope(context, query);
  const list = selectList(query.folder, context);
  const isGrouped = query.group === 'thread';
  const { messageIndex } = world;
  const messages = isGrouped ? messageIndex.latestOfThreads(inboxIds, list) : messageIndex.list(inboxIds, list);
  const page = paginate(messages, query, readBehaviour);
  return { body: SHOW_PAGE[readBehaviour('messages.all.shape')](world, page, context, isGrouped) };
};

/** Returns the ids of the inboxes in scope that match the selectors. */
function inboxIdsInScope(
  context: LookupContext,
  { workspace, inboxId: inbox }: { readonly workspace?: string | undefined; readonly inboxId?: string | undefined },
): string[] {
  return selectInboxes(context, { workspace, inbox }).map(({ id }) => id);
}

function selectList(folder: Folder | undefined, { readBehaviour, assume }: BehaviourReader): GroupedList {
  if (folder === undefined && readBehaviour('messages.all.folder') === 'all') return 'visible';
  assume('messages.folders');
  return folder ?? 'inbox';
}

export const countFolders: Run<'countFolders'> = (context, { query }) => {
  const inboxIds = inboxIdsInScope(context, query);
  const count = (list: MessageList) => context.principal.world.messageIndex.list(inboxIds, list).length;
  const inbox = { unread: count('unreadInbox'), total: count('inbox') };
  const others = { sent: count('sent'), starred: count('starred'), archived: count('archived'), trash: count('trash') };
  return { body: { inbox, ...COUNT_BODIES[context.readBehaviour('messages.folders.counts')](others) } };
};

type OtherCounts = Record<Exclude<Folder, 'inbox'>, number>;

const COUNT_BODIES = {
  objects: ({ sent, starred, archived, trash }: OtherCounts) => ({
    sent: { total: sent },
    starred: { total: starred },
    archived: { total: archived },
    trash: { total: trash },
  }),
  numbers: (counts: OtherCounts) => counts,
};
