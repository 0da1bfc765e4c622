import { MAX_MAIL_BYTES } from '../../basics/size.ts';
import { DEFAULT_DOMAIN, toBareAddress } from '../../contract/email-address.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import { sizeOfMailRow } from '../../world/store/database.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import { isOwnAddress } from '../../world/store/world.ts';
import { findThread } from '../mail/incoming/accept-message.ts';
import { type ParsedMail, parseEml } from '../mail/incoming/parse-eml.ts';
import { checkRoom, type MailContext, publish, sizeOfMail, storeMessage } from '../mail/store-message.ts';
import { RefusedCommand } from './argument.ts';
import { type FolderName, folderOf, type Item } from './folder.ts';
import type { ImapInbox } from './imap-inbox.ts';
import { setFlags } from './message-flags.ts';
import { stateIn } from './move-mail.ts';

/** A mail that a client stores in a folder. */
export interface AppendedMail {
  readonly folder: FolderName;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly flags: readonly string[];
  /** When it arrived, as the client says. */
  readonly time: string | undefined;
}

/**
 * Stores a mail with exactly its bytes: in Drafts as a draft, elsewhere as a message. A mail in Sent that was just sent
 * is not stored again.
 *
 * @throws {RefusedCommand} if the folder cannot have it. @throws {ApiError} VALIDATION_ERROR, STORAGE_FULL
 */
export function appendMail(context: MailContext, inbox: ImapInbox, appended: AppendedMail): Item | undefined {
  const { folder: name, bytes, flags } = appended;
  const { world, folders } = inbox;
  if (bytes.length > MAX_MAIL_BYTES) throw new RefusedCommand('The message is larger than 10 MiB.', 'TOOBIG');
  checkRoom(context, bytes.length);
  context.assume('imap.append');
  const parsed = parseEml(bytes, `<${newId(world.environment)}@${DEFAULT_DOMAIN}>`);
  const folder = folders[name];
  const sent = name === 'Sent' ? findSent(inbox, parsed.mail.messageIdHeader) : undefined;
  if (sent) return folder.find(sent.id);
  const id = name === 'Drafts' ? storeDraft(context, inbox, parsed, bytes) : store(context, inbox, parsed, appended);
  const item = folder.find(id);
  if (item) setFlags(inbox, folder, item, new Set(flags));
  return item;
}

function findSent({ world, id }: ImapInbox, messageId: string): MessageRow | undefined {
  const isSent = (row: MessageRow) => row.inboxId === id && folderOf(row) === 'Sent';
  return world.messages.by('messageIdHeader', messageId).find(isSent);
}

function storeDraft(
  context: MailContext,
  { world, id: inboxId }: ImapInbox,
  { mail, bcc }: ParsedMail,
  raw: Uint8Array<ArrayBuffer>,
): string {
  const { to, cc, subject, plainBody, htmlBody, inReplyTo } = mail;
  const original = world.messages.by('messageIdHeader', inReplyTo ?? '').find((row) => row.inboxId === inboxId);
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
  const appended = context.readBehaviour('imap.append.inbox');
  if (folder === 'INBOX' && appended === 'refused') {
    throw new RefusedCommand('Mail comes to INBOX only by delivery.', 'CANNOT');
  }
  const { attachments, ...fields } = mail;
  const fromAddress = toBareAddress(mail.from);
  const isSent = folder === 'Sent' || (folder !== 'INBOX' && isOwnAddress(world, inboxId, fromAddress));
  checkRoom(context, sizeOfMail({ ...mail, raw: bytes }));
  const now = timestampNow(world.environment);
  const row = {
    ...{ ...fields, inboxId, fromAddress, bcc: [], headers: null, raw: bytes },
    id: newId(world.environment),
    threadId: findThread(world, inboxId, mail) ?? newId(world.environment),
    direction: isSent ? ('outbound' as const) : ('inbound' as const),
    isRead: flags.includes('\\Seen'),
  };
  const state = { isStarred: flags.includes('\\Flagged'), receivedAt: time ?? now, ...stateIn(folder, now) };
  const message = storeMessage(world, row, attachments, state);
  if (folder === 'INBOX' && appended === 'received') publish(context, world, 'message.received', message);
  return message.id;
}
