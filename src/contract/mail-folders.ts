/** The folders by which the tenant-wide list of messages can be filtered. */
export const FOLDERS = ['inbox', 'sent', 'starred', 'archived', 'trash'] as const;

/** A folder in `FOLDERS`. */
export type Folder = (typeof FOLDERS)[number];

/** What decides in which folders a mail is. */
export interface FiledMail {
  readonly direction: 'inbound' | 'outbound';
  readonly isArchived: boolean;
  readonly isStarred: boolean;
  readonly deletedAt: string | null;
}

/** For each folder, whether a mail is in it. `visible` is all mail except the trash. */
export const IN_FOLDER: Readonly<Record<Folder | 'visible', (mail: FiledMail) => boolean>> = {
  visible: ({ deletedAt }) => deletedAt === null,
  inbox: ({ direction, isArchived, deletedAt }) => direction === 'inbound' && !isArchived && deletedAt === null,
  sent: ({ direction, isArchived, deletedAt }) => direction === 'outbound' && !isArchived && deletedAt === null,
  starred: ({ isStarred, deletedAt }) => isStarred && deletedAt === null,
  archived: ({ isArchived, deletedAt }) => isArchived && deletedAt === null,
  trash: ({ deletedAt }) => deletedAt !== null,
};
