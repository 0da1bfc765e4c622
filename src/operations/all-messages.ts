import type { LookupContext } from '../access/find-in-scope.ts';
import { selectInboxes } from '../access/select-scope.ts';
import type { BehaviourReader } from '../contract/behaviour-reader.ts';
import type { FOLDERS } from '../contract/operations/messages.ts';
import type { MessageRow } from '../store/rows.ts';
import type { Run } from './context.ts';
import { paginate } from './replies/paginate.ts';
import { SHOW_PAGE, threadKey } from './replies/show-page.ts';

type Folder = (typeof FOLDERS)[number];

const FOLDER_FILTERS: Record<Folder, (message: MessageRow) => boolean> = {
  inbox: ({ direction, isArchived, deletedAt }) => direction === 'inbound' && !isArchived && deletedAt === null,
  sent: ({ direction, isArchived, deletedAt }) => direction === 'outbound' && !isArchived && deletedAt === null,
  starred: ({ isStarred, deletedAt }) => isStarred && deletedAt === null,
  archived: ({ isArchived, deletedAt }) => isArchived && deletedAt === null,
  trash: ({ deletedAt }) => deletedAt !== null,
};

export const listAllMessages: Run<'listAllMessages'> = (context, { query }) => {
  const { principal, readBehaviour } = context;
  const { world } = principal;
  const found = messagesInScope(context, query).filter(createFolderFilter(query.folder, context));
  const isGrouped = query.group === 'thread';
  const page = paginate(isGrouped ? latestOfEachThread(found) : found, query, readBehaviour);
  return { body: SHOW_PAGE[readBehaviour('messages.all.shape')](world, page, context, isGrouped) };
};

/** Returns the messages of the inboxes that the request selects, within the scope of the key, in order of arrival. */
function messagesInScope(
  context: LookupContext,
  { workspace, inboxId: inbox }: { readonly workspace?: string | undefined; readonly inboxId?: string | undefined },
): MessageRow[] {
  const inboxIds = new Set(selectInboxes(context, { workspace, inbox }).map(({ id }) => id));
  return context.principal.world.messages.all().filter((message) => inboxIds.has(message.inboxId));
}

function createFolderFilter(
  folder: Folder | undefined,
  { readBehaviour, assume }: BehaviourReader,
): (message: MessageRow) => boolean {
  if (folder === undefined && readBehaviour('messages.all.folder') === 'all')
    return ({ deletedAt }) => deletedAt === null;
  assume('messages.folders');
  return FOLDER_FILTERS[folder ?? 'inbox'];
}

function latestOfEachThread(messages: readonly MessageRow[]): MessageRow[] {
  const seen = new Set<string>();
  const latestFirst = messages.toReversed().filter((message) => {
    const thread = threadKey(message);
    return !seen.has(thread) && seen.add(thread);
  });
  return latestFirst.reverse();
}

export const countFolders: Run<'countFolders'> = (context, { query }) => {
  const messages = messagesInScope(context, query);
  const count = (folder: Folder) => messages.filter(FOLDER_FILTERS[folder]).length;
  const unread = messages.filter((message) => FOLDER_FILTERS.inbox(message) && !message.isRead).length;
  const inbox = { unread, total: count('inbox') };
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
