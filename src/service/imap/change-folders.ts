import type { Work } from '../../basics/work.ts';
import { DEFAULT_DOMAIN, toAddressKey } from '../../contract/addresses/email-address.ts';
import { MAX_MAIL_BYTES } from '../../contract/mail-limits.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import { sizeOfMailRow } from '../../world/store/database.ts';
import { removeMessage } from '../../world/store/removal.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import { isOwnAddress } from '../../world/store/world.ts';
import { findThread } from '../mail/incoming/accept-message.ts';
import { type ParsedMail, parseEml } from '../mail/incoming/parse-eml.ts';
import { messagesWithId } from '../mail/message-id.ts';
import { checkRoom, type MailContext, publish, sizeOfMail, storeMessage } from '../mail/store-message.ts';
import { type Argument, CommandError, itemsOf, needText, RefusedCommand } from './argument.ts';
import { type Folder, type FolderName, folderOf, type Item } from './folder.ts';
import { type ImapInbox, SYSTEM_FLAGS } from './imap-inbox.ts';

/** How many keywords an inbox can have, and how long one can be. */
const MAX_KEYWORDS = 100;
const MAX_KEYWORD_LENGTH = 100;

/** Returns the flags that a client has named. Each is spelled as it was first written in this inbox. */
export function readFlags(inbox: ImapInbox, argument: Argument | undefined): string[] {
  const flags = itemsOf(argument, 'The flags').map((each) => {
    const flag = needText(each, 'A flag');
    const known = SYSTEM_FLAGS.find((name) => name.toLowerCase() === flag.toLowerCase());
    return known ?? readKeyword(inbox, flag);
  });
  return [...new Set(flags)];
}

function readKeyword({ keywords }: ImapInbox, keyword: string): string {
  const key = keyword.toLowerCase();
  const known = keywords.get(key);
  if (known !== undefined) return known;
  if (!/^[!#$&'+-Z^-z|}~]+$/.test(keyword)) throw new CommandError(`There is no flag ${keyword.slice(0, 100)}.`);
  if (keywords.size >= MAX_KEYWORDS || keyword.length > MAX_KEYWORD_LENGTH) {
    const rule = `${MAX_KEYWORDS} keywords of at most ${MAX_KEYWORD_LENGTH} characters`;
    throw new RefusedCommand(`An inbox can have ${rule}.`, 'LIMIT');
  }
  keywords.set(key, keyword);
  return keyword;
}

/** How each form of STORE changes flags, by the name of the form. */
export const FLAG_CHANGES: Readonly<Record<string, (flags: Set<string>, given: readonly string[]) => Set<string>>> = {
  FLAGS: (_, given) => new Set(given),
  '+FLAGS': (flags, given) => new Set([...flags, ...given]),
  '-FLAGS': (flags, given) => new Set([...flags].filter((flag) => !given.includes(flag))),
};

/**
 * Sets the flags of an item. For a message, its row stores `\Seen` and `\Flagged`, because the API shows these, too.
 */
export function setFlags(inbox: ImapInbox, folder: Folder, item: Item, flags: ReadonlySet<string>): void {
  const message = inbox.messageOf(item);
  const itemFlags = [...flags].filter((flag) => !message || (flag !== '\\Seen' && flag !== '\\Flagged'));
  const isSame = itemFlags.length === item.flags.size && itemFlags.every((flag) => item.flags.has(flag));
  item.flags.clear();
  for (const flag of itemFlags) item.flags.add(flag);
  const [isRead, isStarred] = [flags.has('\\Seen'), flags.has('\\Flagged')];
  if (message && (message.isRead !== isRead || message.isStarred !== isStarred)) {
    inbox.world.messages.update(message.id, { isRead, isStarred });
  } else if (!isSame) folder.notify(item, 'flags');
}

/** A mail that a client stores in a folder. */
export interface AppendedMail {
  readonly folder: FolderName;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly flags: readonly string[];
  /** When the mail arrived, according to the client. */
  readonly time: string | undefined;
}

/**
 * Stores a mail with exactly its bytes: in Drafts as a draft, elsewhere as a message. A mail
 * for Sent that this inbox has already sent, with the same Message-ID, is not stored again.
 *
 * @throws {RefusedCommand} if the folder cannot contain the mail. @throws {ApiError} VALIDATION_ERROR, STORAGE_FULL
 */
export function appendMail(context: MailContext, inbox: ImapInbox, appended: AppendedMail): Item | undefined {
  const { folder: name, bytes, flags } = appended;
  const { world, folders } = inbox;
  if (bytes.length > MAX_MAIL_BYTES) throw new RefusedCommand('The message is larger than 10 MiB.', 'TOOBIG');
  checkRoom(context, bytes.length);
  const parsed = parseEml(bytes, `<${newId(world.environment)}@${DEFAULT_DOMAIN}>`);
  const folder = folders[name];
  const isSent = (row: MessageRow) => row.inboxId === inbox.id && folderOf(row) === 'Sent';
  const sent = name === 'Sent' && messagesWithId(world, parsed.mail.messageIdHeader).find(isSent);
  if (sent) return folder.find(sent.id);
  const id = name === 'Drafts' ? storeDraft(context, inbox, parsed, bytes) : store(context, inbox, parsed, appended);
  const item = folder.find(id);
  if (item) setFlags(inbox, folder, item, new Set(flags));
  return item;
}

function storeDraft(
  context: MailContext,
  { world, id: inboxId }: ImapInbox,
  { mail, bcc }: ParsedMail,
  raw: Uint8Array<ArrayBuffer>,
): string {
  const { to, cc, subject, plainBody, htmlBody, inReplyTo } = mail;
  const original = messagesWithId(world, inReplyTo ?? '').findLast((row) => row.inboxId === inboxId);
  const now = timestampNow(world.environment);
  const content = { to, cc, bcc, subject, plainBody, htmlBody, replyToMessageId: original?.id ?? null, raw };
  checkRoom(context, sizeOfMailRow(content));
  return world.drafts.insert({ ...content, id: newId(world.environment), inboxId, createdAt: now, updatedAt: now }).id;
}

function store(
  context: MailContext,
  { world, id: inboxId }: ImapInbox,
  { mail }: ParsedMail,
  { folder, bytes, flags, time }: AppendedMail,
): string {
  const inboxRule = context.readBehaviour('imap.append.inbox');
  if (folder === 'INBOX' && inboxRule === 'refused') {
    throw new RefusedCommand('Mail comes to INBOX only by delivery.', 'CANNOT');
  }
  const { attachments, ...fields } = mail;
  const fromAddress = toAddressKey(mail.from);
  const isSent = folder === 'Sent' || (folder !== 'INBOX' && isOwnAddress(world, inboxId, fromAddress));
  checkRoom(context, sizeOfMail({ ...mail, raw: bytes }));
  const now = timestampNow(world.environment);
  const row = {
    ...fields,
    inboxId,
    fromAddress,
    bcc: [],
    headers: null,
    raw: bytes,
    id: newId(world.environment),
    threadId: findThread(world, inboxId, mail) ?? newId(world.environment),
    direction: isSent ? ('outbound' as const) : ('inbound' as const),
    isRead: flags.includes('\\Seen'),
  };
  const state = { isStarred: flags.includes('\\Flagged'), receivedAt: time ?? now, ...stateIn(folder, now) };
  const message = storeMessage(world, row, attachments, state);
  if (folder === 'INBOX' && inboxRule === 'received') publish(context, world, 'message.received', message);
  return message.id;
}

/** Items of a folder, and the folder to which they go. */
interface Transfer {
  readonly inbox: ImapInbox;
  readonly from: Folder;
  readonly items: readonly Item[];
  readonly to: Folder;
}

/** The UIDs of messages in the folder from which they come, and in the folder to which they go. */
export type Transferred = [from: number, to: number][];

/** Returns the state that a message has in a folder. */
export function stateIn(folder: FolderName, now: string): Pick<MessageRow, 'isArchived' | 'deletedAt'> {
  return { isArchived: folder === 'Archive', deletedAt: folder === 'Trash' ? now : null };
}

/**
 * Moves items to another folder. A move to Archive or Trash does what archiving or deleting a message in the API does.
 * A draft that is moved to Trash is deleted.
 *
 * @throws {RefusedCommand} if one of the items cannot be in that folder. In this case nothing is moved.
 */
export function* moveItems({ inbox, from, items, to }: Transfer): Work<Transferred> {
  const { world } = inbox;
  for (const item of items) checkTarget(inbox, item, to.name, 'MOVE');
  const moved: Transferred = [];
  for (const item of items) {
    yield;
    const { uid, id } = item;
    // Another session may have removed it in between.
    if (item.isGone) continue;
    const message = inbox.messageOf(item);
    if (!message) {
      world.drafts.remove(id);
      continue;
    }
    if (from === to) to.add(id, to.remove(id));
    else {
      const { isArchived, deletedAt } = stateIn(to.name, timestampNow(world.environment));
      world.messages.update(id, deletedAt === null ? { isArchived, deletedAt } : { deletedAt });
    }
    moved.push([uid, to.find(id)?.uid ?? 0]);
  }
  return moved;
}

/**
 * Copies items to another folder. Each copy is a message of its own. If the original message is expunged later, it
 * replaces its copy: the client has moved the message in two steps.
 *
 * @throws {RefusedCommand} if one of the items cannot be in that folder, or if `imap.copy` refuses copies.
 * @throws {ApiError} STORAGE_FULL
 */
export function* copyItems(context: MailContext, { inbox, items, to }: Transfer): Work<Transferred> {
  const { world } = inbox;
  if (context.readBehaviour('imap.copy') === 'refused') {
    throw new RefusedCommand('The service has no copies of messages; MOVE moves one.', 'CANNOT');
  }
  for (const item of items) checkTarget(inbox, item, to.name, 'COPY');
  const filesOf = ({ id }: MessageRow) => world.attachments.by('messageId', id);
  let bytes = 0;
  for (const item of items) {
    yield;
    const message = inbox.messageOf(item);
    if (message) bytes += sizeOfMail({ ...message, attachments: filesOf(message) });
  }
  checkRoom(context, bytes);
  const copied: Transferred = [];
  const copies: string[] = [];
  try {
    for (const item of items) {
      yield;
      const message = item.isGone ? undefined : inbox.messageOf(item);
      if (!message) continue;
      // Other mail may have taken the room in between.
      checkRoom(context, sizeOfMail({ ...message, attachments: filesOf(message) }));
      const copy = copyItem(inbox, item, message, to);
      copies.push(copy.id);
      copied.push([item.uid, copy.uid]);
    }
  } catch (error) {
    // COPY copies all messages or none (RFC 3501, section 6.4.7).
    for (const id of copies) {
      const copy = world.messages.get(id);
      if (copy) removeMessage(world, copy);
    }
    throw error;
  }
  return copied;
}

/** Copies a message, and returns the id and the UID of the copy. */
function copyItem(inbox: ImapInbox, item: Item, message: MessageRow, to: Folder): { id: string; uid: number } {
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
  return { id: copy.id, uid: copied?.uid ?? 0 };
}

/** @throws {RefusedCommand} if an item cannot be in a folder. */
function checkTarget(inbox: ImapInbox, item: Item, to: FolderName, command: 'MOVE' | 'COPY'): void {
  const message = inbox.messageOf(item);
  if (!message) {
    if (command === 'MOVE' && to === 'Trash') return;
    throw new RefusedCommand('A draft can be moved only to Trash, which deletes it.', 'CANNOT');
  }
  if (to === 'Drafts') throw new RefusedCommand('A message cannot become a draft.', 'CANNOT');
  const isOutbound = message.direction === 'outbound';
  if (to === 'INBOX' && isOutbound) throw new RefusedCommand('INBOX has only mail that arrived.', 'CANNOT');
  // A message in Sent cannot be copied to Sent either, because this inbox sent it once.
  if (to === 'Sent' && (!isOutbound || folderOf(message) === 'Sent')) {
    throw new RefusedCommand('Sent has only mail that this inbox sent.', 'CANNOT');
  }
}

/** Removes items for good. A message that a client has copied before is kept, and replaces its copy. */
export function* expungeItems(inbox: ImapInbox, folder: Folder, items: readonly Item[]): Work<void> {
  const { world } = inbox;
  // The latest is removed first, because an entry at the end of a list is removed the fastest.
  for (const item of items.toReversed()) {
    yield;
    if (item.isGone) continue;
    const message = inbox.messageOf(item);
    const copy = message && world.messages.get(inbox.copies.get(message.id) ?? '');
    if (!message) world.drafts.remove(item.id);
    else if (copy) replaceCopy(inbox, folder, message, copy);
    else removeMessage(world, message);
  }
}

/** Replaces a copy by the message that was copied, with the folder and the UID of the copy. */
function replaceCopy(inbox: ImapInbox, from: Folder, message: MessageRow, copy: MessageRow): void {
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
