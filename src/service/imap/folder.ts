import type { MessageRow } from '../../world/store/rows.ts';

/** The folders of each inbox, in the order in which they are listed, with their special uses (RFC 6154). */
export const FOLDERS = {
  INBOX: '',
  Sent: '\\Sent',
  Drafts: '\\Drafts',
  Archive: '\\Archive',
  Trash: '\\Trash',
} as const;

/** The name of a folder. */
export type FolderName = keyof typeof FOLDERS;

/** The names of the folders. */
export const FOLDER_NAMES = Object.keys(FOLDERS) as FolderName[];

/** Returns the folder that shows a message. */
export function folderOf({ deletedAt, isArchived, direction }: MessageRow): FolderName {
  if (deletedAt !== null) return 'Trash';
  if (isArchived) return 'Archive';
  return direction === 'inbound' ? 'INBOX' : 'Sent';
}

/** A message or a draft in a folder. */
export interface Item {
  readonly uid: number;
  /** The id of its row. */
  id: string;
  /** Its flags, without those that the row of a message has: `\Seen` and `\Flagged`. */
  readonly flags: Set<string>;
  /** Whether it is no longer in the folder. */
  isGone: boolean;
  /** What was computed of its bytes, which never change, by what it is. */
  readonly known: Map<string, string>;
}

/** Somebody who has a folder open. */
export interface FolderWatcher {
  /** Is called after an item was added, was removed or got other flags. */
  changed(item: Item, change: 'added' | 'removed' | 'flags'): void;
}

/** The items of a folder in the order of their UIDs, which only grow. */
export class Folder {
  readonly name: FolderName;
  readonly items: Item[] = [];
  readonly watchers = new Set<FolderWatcher>();
  uidValidity: number;
  uidNext = 1;
  /** Items from this UID on were in no session yet: they are recent for the next one. */
  recentFrom = 1;
  readonly #byId = new Map<string, Item>();

  constructor(name: FolderName, uidValidity: number) {
    this.name = name;
    this.uidValidity = uidValidity;
  }

  find(id: string): Item | undefined {
    return this.#byId.get(id);
  }

  /** Adds a row, unless it is in the folder. */
  add(id: string, flags: Iterable<string>): void {
    if (this.#byId.has(id)) return;
    const item = { uid: this.uidNext, id, flags: new Set(flags), isGone: false, known: new Map() };
    this.uidNext += 1;
    this.items.push(item);
    this.#byId.set(id, item);
    this.notify(item, 'added');
  }

  /** Removes a row and returns its flags, those of a new item if it is not in the folder. */
  remove(id: string): Set<string> {
    const item = this.#byId.get(id);
    if (!item) return new Set();
    this.#byId.delete(id);
    this.items.splice(indexOfUid(this.items, item.uid), 1);
    item.isGone = true;
    this.notify(item, 'removed');
    return item.flags;
  }

  /** Gives an item another row. */
  replace(item: Item, id: string): void {
    this.#byId.delete(item.id);
    item.id = id;
    this.#byId.set(id, item);
  }

  notify(item: Item, change: Parameters<FolderWatcher['changed']>[1]): void {
    for (const watcher of this.watchers) watcher.changed(item, change);
  }
}

/** Returns the index of the first item with this UID or a higher one. */
export function indexOfUid(items: readonly Item[], uid: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.uid ?? 0) < uid) low = middle + 1;
    else high = middle;
  }
  return low;
}
