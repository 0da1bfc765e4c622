import type { FOLDERS } from '../../../contract/query.ts';
import type { MessageRow } from '../rows.ts';

/** A folder of the tenant-wide list. */
export type Folder = (typeof FOLDERS)[number];

/** A list in which each thread may be shown as its latest message. */
export type GroupedList = Folder | 'visible';

type Test = (message: MessageRow) => boolean;

/** The lists that are kept for each inbox and can be grouped by thread: whether a message is in each. */
export const GROUPED_LISTS: Readonly<Record<GroupedList, Test>> = {
  visible: ({ deletedAt }) => deletedAt === null,
  inbox: ({ direction, isArchived, deletedAt }) => direction === 'inbound' && !isArchived && deletedAt === null,
  sent: ({ direction, isArchived, deletedAt }) => direction === 'outbound' && !isArchived && deletedAt === null,
  starred: ({ isStarred, deletedAt }) => isStarred && deletedAt === null,
  archived: ({ isArchived, deletedAt }) => isArchived && deletedAt === null,
  trash: ({ deletedAt }) => deletedAt !== null,
};

/** The lists that are kept for each inbox: whether a message is in each. */
export const MESSAGE_LISTS = {
  ...GROUPED_LISTS,
  inbound: ({ direction, deletedAt }) => direction === 'inbound' && deletedAt === null,
  outbound: ({ direction, deletedAt }) => direction === 'outbound' && deletedAt === null,
  unreadInbox: (message) => GROUPED_LISTS.inbox(message) && !message.isRead,
} satisfies Readonly<Record<string, Test>>;

/** A list of messages that is kept for each inbox. */
export type MessageList = keyof typeof MESSAGE_LISTS;

/** The times that are kept for each inbox, for metrics; null for a message that has no such time. */
export const MESSAGE_TIMES = {
  sent: ({ direction, receivedAt }: MessageRow) => (direction === 'outbound' ? receivedAt : null),
  received: ({ direction, receivedAt }: MessageRow) => (direction === 'inbound' ? receivedAt : null),
  bounced: ({ bouncedAt }: MessageRow) => bouncedAt,
};

/** A time of messages that is kept for each inbox. */
export type MessageTime = keyof typeof MESSAGE_TIMES;
