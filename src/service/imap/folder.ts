import { countStart } from '../../world/store/entries.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import { RefusedCommand } from './argument.ts';

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

/** Returns the folder with a name. INBOX may be written in any letter case. @throws {RefusedCommand} */
export function findFolderName(name: string): FolderName {
  const known = FOLDER_NAMES.find((each) => each === name || (each === 'INBOX' && name.toUpperCase() === each));
  if (known) return known;
  const message = `There is no folder ${name.slice(0, 100)}; there are ${FOLDER_NAMES.join(', ')}.`;
  throw new RefusedCommand(message, 'NONEXISTENT');
}

/** Returns the folders that a pattern of LIST matches. No folder is within another, so `%` and `*` are the same. */
export function matchFolders(pattern: string): FolderName[] {
  const pieces = pattern.slice(0, 1_000).split(/[%*]+/);
  return FOLDER_NAMES.filter((name) => {
    const isInbox = name === 'INBOX';
    return matchesPieces(name, isInbox ? pieces.map((piece) => piece.toUpperCase()) : pieces);
  });
}

/** Returns whether a name begins with the first piece, ends with the last, and has the others in between, in order. */
function matchesPieces(name: string, pieces: readonly string[]): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return name === first;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.startsWith(first) && name.endsWith(last) && name.length - last.length >= at;
}

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
  /** Its flags. For a message, `\Seen` and `\Flagged` are not among them, because they are stored in its row. */
  readonly flags: Set<string>;
  /** Whether it is no longer in the folder. */
  isGone: boolean;
  /** Results that were computed from its bytes, by name. They stay valid, because the bytes never change. */
  readonly computed: Map<string, string>;
}

/** What has changed of an item: it was added, it was removed, or it got other flags. */
export type ItemChange = 'added' | 'removed' | 'flags';

/** A session that has a folder open. */
export interface FolderWatcher {
  /** Called after a change of an item. */
  changed(item: Item, change: ItemChange): void;
}

/** The items of a folder in the order of their UIDs. A new item has a higher UID than all before it. */
export class Folder {
  readonly name: FolderName;
  readonly items: Item[] = [];
  readonly watchers = new Set<FolderWatcher>();
  uidValidity: number;
  uidNext = 1;
  /** No session has seen the items from this UID on, so they are recent for the next session. */
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
    const item = { uid: this.uidNext, id, flags: new Set(flags), isGone: false, computed: new Map() };
    this.uidNext += 1;
    this.items.push(item);
    this.#byId.set(id, item);
    this.notify(item, 'added');
  }

  /** Removes a row and returns its flags; no flags if the row is not in the folder. */
  remove(id: string): Set<string> {
    const item = this.#byId.get(id);
    if (!item) return new Set();
    this.#byId.delete(id);
    this.items.splice(indexOfUid(this.items, item.uid), 1);
    item.isGone = true;
    this.notify(item, 'removed');
    return item.flags;
  }

  /** Replaces the row of an item. The item keeps its UID and its flags. */
  replace(item: Item, id: string): void {
    this.#byId.delete(item.id);
    item.id = id;
    this.#byId.set(id, item);
  }

  /** Tells the sessions that have the folder open of a change of an item. */
  notify(item: Item, change: ItemChange): void {
    for (const watcher of this.watchers) watcher.changed(item, change);
  }
}

/** Returns the index of the first item with this UID or a higher one. */
export function indexOfUid(items: readonly Item[], uid: number): number {
  return countStart(items, (item) => item.uid < uid);
}
