import type { RowIndex } from '../../world/store/indexes/property-index.ts';
import type { Part, SavePurpose } from '../../world/store/parts.ts';
import type { DraftRow, InboxRow, MessageRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';

import { FOLDER_NAMES, Folder, type FolderName, folderOf, type Item } from './folder.ts';

/** The flags of a new draft. With these flags, IMAP clients show it like a draft that they have created. */
const DRAFT_FLAGS = ['\\Draft', '\\Seen'];

/** The flags that a client may set, besides keywords. */
export const SYSTEM_FLAGS = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'] as const;

/** The keywords that mail programs share (RFC 5788). */
const KEYWORDS = ['$Forwarded', '$MDNSent', '$Junk', '$NotJunk', '$Phishing'];

/** The folders of one inbox, as views of its messages and drafts. */
export class ImapInbox {
  readonly world: World;
  readonly id: string;
  readonly folders: Readonly<Record<FolderName, Folder>>;
  /** The functions that are called with the reason when the inbox ends. */
  readonly endings = new Set<(reason: string) => void>();
  /** The id of the latest copy that an IMAP client made of a message, by the id of that message. */
  readonly copies = new Map<string, string>();
  /** The keywords that its messages may have, as they were first written, by their lower-case form. */
  readonly keywords = new Map(KEYWORDS.map((keyword) => [keyword.toLowerCase(), keyword]));

  /** Whether it was deleted, or its tenant was reset, so that nothing in it may change any more. */
  hasEnded = false;

  /** Creates the folders, with the present messages and drafts. */
  constructor(world: World, id: string, uidValidity: number, flags: SavedFlags) {
    this.world = world;
    this.id = id;
    this.folders = Object.fromEntries(FOLDER_NAMES.map((name) => [name, new Folder(name, uidValidity)])) as never;
    for (const row of world.messages.by('inboxId', id))
      this.folders[folderOf(row)].add(row.id, flags.get(row.id) ?? []);
    for (const row of world.drafts.by('inboxId', id)) this.folders.Drafts.add(row.id, flags.get(row.id) ?? DRAFT_FLAGS);
  }

  /** Returns the message of an item; `undefined` if it is a draft, or is gone. */
  messageOf({ id }: Item): MessageRow | undefined {
    return this.world.messages.get(id);
  }

  draftOf({ id }: Item): DraftRow | undefined {
    return this.world.drafts.get(id);
  }

  /** Returns the flags of an item; none if it is gone. */
  flagsOf(item: Item): Set<string> {
    const message = this.messageOf(item);
    const own = message ? [...(message.isStarred ? ['\\Flagged'] : []), ...(message.isRead ? ['\\Seen'] : [])] : [];
    return new Set([...own, ...item.flags]);
  }

  /** Updates the folders after a change of a message. */
  changeMessage(before: MessageRow | undefined, after: MessageRow | undefined): void {
    if (before && after && folderOf(before) === folderOf(after)) {
      const folder = this.folders[folderOf(after)];
      const item = folder.find(after.id);
      const isSame = before.isRead === after.isRead && before.isStarred === after.isStarred;
      if (item && !isSame) folder.notify(item, 'flags');
      return;
    }
    const flags = before ? this.folders[folderOf(before)].remove(before.id) : new Set<string>();
    flags.delete('\\Deleted');
    if (after) this.folders[folderOf(after)].add(after.id, flags);
    else if (before) this.copies.delete(before.id);
  }

  /** Updates the folder after a change of a draft. A changed draft gets a new UID, because its bytes are different. */
  changeDraft(before: DraftRow | undefined, after: DraftRow | undefined): void {
    const { Drafts } = this.folders;
    const flags = before ? Drafts.remove(before.id) : DRAFT_FLAGS;
    if (after) Drafts.add(after.id, flags);
  }

  end(reason: string): void {
    this.hasEnded = true;
    for (const end of [...this.endings]) end(reason);
  }
}

/** The flags of messages and drafts that only IMAP has, by their ids. */
type SavedFlags = ReadonlyMap<string, readonly string[]>;

/** The inboxes of a tenant that IMAP clients have opened. Every change of a message, draft or inbox updates them. */
export class ImapInboxes implements Part {
  readonly #world: World;
  readonly #uidValidity: number;
  readonly #inboxes = new Map<string, ImapInbox>();
  #saved: SavedFlags = new Map();

  constructor(world: World, uidValidity: number) {
    this.#world = world;
    this.#uidValidity = uidValidity;
    const inboxOf = (before: { inboxId: string } | undefined, after: { inboxId: string } | undefined) =>
      this.#inboxes.get((after ?? before)?.inboxId ?? '');
    world.messages.load(onChange<MessageRow>((before, after) => inboxOf(before, after)?.changeMessage(before, after)));
    world.drafts.load(onChange<DraftRow>((before, after) => inboxOf(before, after)?.changeDraft(before, after)));
    world.inboxes.load(
      onChange<InboxRow>((before, after) => {
        if (before && (after?.deletedAt ?? null) === null && after) return;
        this.#inboxes.get(before?.id ?? '')?.end('The inbox was deleted');
        this.#inboxes.delete(before?.id ?? '');
      }),
    );
  }

  /** Returns an inbox. When it is opened for the first time, its messages get their UIDs. */
  open(id: string): ImapInbox {
    const inbox = this.#inboxes.get(id) ?? new ImapInbox(this.#world, id, this.#uidValidity, this.#saved);
    this.#inboxes.set(id, inbox);
    return inbox;
  }

  end(reason: string): void {
    for (const inbox of this.#inboxes.values()) inbox.end(reason);
    this.#inboxes.clear();
  }

  /** Returns the flags that IMAP clients have set, for a checkpoint. They are not written into a file. */
  save(purpose: SavePurpose): SavedFlags | undefined {
    if (purpose === 'file') return undefined;
    const folders = [...this.#inboxes.values()].flatMap((inbox) => Object.values(inbox.folders));
    const items = folders.flatMap((folder) => folder.items);
    return new Map([...this.#saved, ...items.map(({ id, flags }) => [id, [...flags]] as const)]);
  }

  restore(saved: SavedFlags): void {
    this.#saved = saved;
  }
}

/** Creates an index that stores nothing and only calls a function after each change of a row. */
function onChange<Row>(change: (before: Row | undefined, after: Row | undefined) => void): RowIndex<Row> {
  return {
    change(_entry, before, after) {
      change(before, after);
    },
    clear() {},
  };
}
