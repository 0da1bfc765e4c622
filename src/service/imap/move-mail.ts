import { newId, timestampNow } from '../../world/environment.ts';
import { sizeOfMailRow } from '../../world/store/database.ts';
import { removeMessage } from '../../world/store/removal.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import { checkRoom, type MailContext } from '../mail/store-message.ts';
import { RefusedCommand } from './argument.ts';
import { type Folder, type FolderName, folderOf, type Item } from './folder.ts';
import type { ImapInbox } from './imap-inbox.ts';

/** Items of a folder, and the folder to which they go. */
interface Transfer {
  readonly inbox: ImapInbox;
  readonly from: Folder;
  readonly items: readonly Item[];
  readonly to: Folder;
}

/** The UIDs of items, before and after. */
export type Transferred = [from: number, to: number][];

/** Returns what a message has in a folder. */
export function stateIn(folder: FolderName, now: string): Pick<MessageRow, 'isArchived' | 'deletedAt'> {
  return { isArchived: folder === 'Archive', deletedAt: folder === 'Trash' ? now : null };
}

/**
 * Moves items to another folder, as the API archives and deletes messages. A draft that is moved to Trash is deleted.
 *
 * @throws {RefusedCommand} if one of them cannot be in that folder; then nothing is moved.
 */
export function moveItems({ inbox, from, items, to }: Transfer): Transferred {
  const { world } = inbox;
  for (const item of items) checkTarget(inbox, item, to.name, 'MOVE');
  return items.flatMap((item) => {
    const { uid, id } = item;
    const message = inbox.messageOf(item);
    if (!message) world.drafts.remove(id);
    else if (from === to) to.add(id, to.remove(id));
    else {
      const { isArchived, deletedAt } = stateIn(to.name, timestampNow(world.environment));
      world.messages.update(id, deletedAt === null ? { isArchived, deletedAt } : { deletedAt });
    }
    return message ? [[uid, to.find(id)?.uid ?? 0] as [number, number]] : [];
  });
}

/**
 * Copies items to another folder: each copy is a second message, until the first one is expunged, which then takes the
 * place of its copy.
 *
 * @throws {RefusedCommand} if one of them cannot be in that folder, or if `imap.copy` refuses copies.
 * @throws {ApiError} STORAGE_FULL
 */
export function copyItems(context: MailContext, { inbox, items, to }: Transfer): Transferred {
  const { world } = inbox;
  if (context.readBehaviour('imap.copy') === 'refused') {
    throw new RefusedCommand('The service has no copies of messages; MOVE moves one.', 'CANNOT');
  }
  for (const item of items) checkTarget(inbox, item, to.name, 'COPY');
  const messages = items.flatMap((item) => inbox.messageOf(item) ?? []);
  checkRoom(
    context,
    messages.reduce((sum, message) => sum + sizeWithFiles(world, message), 0),
  );
  return items.flatMap((item) => {
    const message = inbox.messageOf(item);
    return message ? [[item.uid, copyItem(inbox, item, message, to)] as [number, number]] : [];
  });
}

function copyItem(inbox: ImapInbox, item: Item, message: MessageRow, to: Folder): number {
  const { world } = inbox;
  const { environment } = world;
  const copy = { ...message, id: newId(environment), ...stateIn(to.name, timestampNow(environment)) };
  world.messages.insert(copy);
  for (const file of world.attachments.by('messageId', message.id)) {
    world.attachments.insert({ ...file, id: newId(environment), messageId: copy.id });
  }
  inbox.copies.set(message.id, copy.id);
  const copied = to.find(copy.id);
  for (const flag of item.flags) if (flag !== '\\Deleted') copied?.flags.add(flag);
  return copied?.uid ?? 0;
}

function sizeWithFiles(world: World, message: MessageRow): number {
  const files = world.attachments.by('messageId', message.id);
  return files.reduce((sum, file) => sum + sizeOfMailRow(file), sizeOfMailRow(message));
}

/** Says why an item cannot be in a folder. */
function checkTarget(inbox: ImapInbox, item: Item, to: FolderName, command: 'MOVE' | 'COPY'): void {
  const message = inbox.messageOf(item);
  if (!message) {
    if (command === 'MOVE' && to === 'Trash') return;
    throw new RefusedCommand('A draft can be moved only to Trash, which deletes it.', 'CANNOT');
  }
  if (to === 'Drafts') throw new RefusedCommand('A message cannot become a draft.', 'CANNOT');
  const isOutbound = message.direction === 'outbound';
  if (to === 'INBOX' && isOutbound) throw new RefusedCommand('INBOX has only mail that arrived.', 'CANNOT');
  if (to === 'Sent' && (!isOutbound || folderOf(message) === 'Sent')) {
    throw new RefusedCommand('Sent has only mail that this inbox sent.', 'CANNOT');
  }
}

/** Removes items for good. If a client has copied one of them before, the copy becomes the message itself. */
export function expungeItems(inbox: ImapInbox, folder: Folder, items: readonly Item[]): void {
  const { world } = inbox;
  for (const item of items) {
    const message = inbox.messageOf(item);
    const copy = message && world.messages.get(inbox.copies.get(message.id) ?? '');
    if (!message) world.drafts.remove(item.id);
    else if (copy) becomeCopy(inbox, folder, message, copy);
    else removeMessage(world, message);
  }
}

/** Puts a message in the place of its copy, with the UID of the copy. */
function becomeCopy(inbox: ImapInbox, from: Folder, message: MessageRow, copy: MessageRow): void {
  const { world, folders } = inbox;
  inbox.copies.delete(message.id);
  const to = folders[folderOf(copy)];
  const item = to.find(copy.id);
  from.remove(message.id);
  if (item) to.replace(item, message.id);
  const { isRead, isStarred, isArchived, deletedAt } = copy;
  removeMessage(world, copy);
  world.messages.update(message.id, { isRead, isStarred, isArchived, deletedAt });
}
