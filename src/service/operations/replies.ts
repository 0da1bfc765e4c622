import { truncate } from '../../basics/text.ts';
import { isIncomingAddress, parseAddress, toBareAddress } from '../../contract/addresses/email-address.ts';
import type { BehaviourReader, ReadBehaviour } from '../../contract/behaviours.ts';
import type { ReplyOf } from '../../contract/operations.ts';
import type { SliceableList } from '../../world/store/entries.ts';
import type { AttachmentRow, MessageRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import { snippetOf } from '../mail/snippet.ts';
import type { Context } from './context.ts';

/** Returns a message as clients see it. */
export function showMessage(world: World, message: MessageRow, readBehaviour: ReadBehaviour): ReplyOf<'getMessage'> {
  const { id, direction, subject, plainBody, htmlBody, isRead, threadId } = message;
  const { messageIdHeader, inReplyTo, receivedAt } = message;
  const attachments = world.attachments.by('messageId', id).map(showAttachment);
  return {
    id,
    direction,
    ...showSenderAndRecipients(message, readBehaviour),
    subject,
    plainBody,
    htmlBody,
    isRead,
    threadId,
    messageIdHeader,
    inReplyTo,
    receivedAt,
    attachments,
    ...EXTRA_FIELDS[readBehaviour('messages.shape')](message, readBehaviour),
  };
}

/** Returns the sender and the recipients of a message as clients see them. */
export function showSenderAndRecipients({ from, to }: MessageRow, readBehaviour: ReadBehaviour) {
  const show = SHOW_ADDRESS[readBehaviour('messages.addresses')];
  const shown = to.map(show);
  return { from: show(from), to: readBehaviour('messages.to') === 'string' ? shown.join(', ') : shown };
}

const SHOW_ADDRESS = { bare: toBareAddress, display: (address: string) => address };

function showExtended({ inboxId, cc, bcc, isStarred, isArchived }: MessageRow, readBehaviour: ReadBehaviour) {
  const show = SHOW_ADDRESS[readBehaviour('messages.addresses')];
  return { inboxId, cc: cc.map(show), bcc: bcc.map(show), isStarred, isArchived };
}

function showLegacy(message: MessageRow, readBehaviour: ReadBehaviour) {
  const { from, to, receivedAt } = message;
  const fromName = parseAddress(from, isIncomingAddress)?.name || null;
  const fromAddress = from === '' ? message.fromAddress : toBareAddress(from);
  const sender = { fromAddress, fromName, toAddresses: to.map(toBareAddress) };
  return { ...showExtended(message, readBehaviour), ...sender, sentAt: receivedAt, createdAt: receivedAt };
}

const EXTRA_FIELDS = { extended: showExtended, reference: () => ({}), legacy: showLegacy };

/** Returns an attachment as clients see it, without its bytes. */
export function showAttachment({ id, filename, contentType, sizeBytes }: AttachmentRow) {
  return { id, filename, contentType, sizeBytes };
}

/** The maximum total length of all bodies of one reply, in characters of JSON, unless the request has a lower one. */
const MAX_TOTAL_LENGTH = 16 * 1024 * 1024;

/** The length to which a body is shortened when the total is exceeded, in characters. */
const CUT_LENGTH = 1000;

/** The maximum number of JSON characters that encode one character of text. */
const MAX_ESCAPED_LENGTH = 6;

/** The context of an operation on a tenant. */
type WorldContext = Pick<Context<'listMessages'>, 'world' | 'readBehaviour' | 'maxBodiesLength' | 'shortenedIds'>;

/** A message or a draft. */
interface WithBodies {
  readonly id: string;
  readonly plainBody: string | null;
  readonly htmlBody: string | null;
}

/**
 * Shortens bodies if all of them together would make the reply too large. The first items stay complete; only later
 * items are shortened, and their ids are added to `shortenedIds`.
 */
export function limitBodies<Item extends WithBodies>(
  items: readonly Item[],
  { world, maxBodiesLength = MAX_TOTAL_LENGTH, shortenedIds }: WorldContext,
): readonly Item[] {
  const lengthOf = ({ plainBody, htmlBody }: Item) => (plainBody?.length ?? 0) + (htmlBody?.length ?? 0);
  const characters = items.reduce((sum, item) => sum + lengthOf(item), 0);
  if (characters * MAX_ESCAPED_LENGTH <= maxBodiesLength) return items;
  let remainingLength = maxBodiesLength;
  return items.map((item) => {
    if (remainingLength > 0) remainingLength -= lengthInJson(item, world);
    return remainingLength > 0 ? item : cutBodies(item, shortenedIds);
  });
}

/** Returns the length of the bodies of a row in JSON. It is counted once, because that takes as long as to write them. */
function lengthInJson(item: WithBodies, { lengthsInJson }: World): number {
  const known = lengthsInJson.get(item);
  if (known !== undefined) return known;
  const { length } = JSON.stringify([item.plainBody, item.htmlBody]);
  lengthsInJson.set(item, length);
  return length;
}

function cutBodies<Item extends WithBodies>(item: Item, shortenedIds: Set<string>): Item {
  const [plainBody, htmlBody] = [item.plainBody, item.htmlBody].map((body) => body && truncate(body, CUT_LENGTH));
  if (plainBody === item.plainBody && htmlBody === item.htmlBody) return item;
  shortenedIds.add(item.id);
  return { ...item, plainBody, htmlBody };
}

/** A page of the tenant-wide list. */
type MessagePage = ReturnType<typeof paginate<MessageRow>>;

/** Functions that show a page of the tenant-wide list, by the value of `messages.all.shape`. */
export const SHOW_PAGE = { rows: showRows, messages: showWholeMessages };

/** Returns messages in short form, each with a snippet and the counts of its thread. */
function showRows(world: World, { rows, pagination }: MessagePage, { readBehaviour }: BehaviourReader) {
  const messages = rows.map((message) => {
    const { id, inboxId, direction, subject, isRead, isStarred, isArchived, receivedAt, threadId } = message;
    const { username: inboxUsername = '', domain: inboxDomain = '' } = world.inboxes.get(inboxId) ?? {};
    return {
      id,
      inboxId,
      inboxUsername,
      inboxDomain,
      direction,
      ...showSenderAndRecipients(message, readBehaviour),
      subject,
      snippet: snippetOf(message),
      isRead,
      isStarred,
      isArchived,
      receivedAt,
      threadId,
      ...countThread(world, message),
    };
  });
  return { messages, pagination };
}

function countThread({ messageIndex }: World, { inboxId, threadId }: MessageRow) {
  const { messageCount = 0, unreadCount = 0 } = messageIndex.thread(inboxId, threadId) ?? {};
  return { threadCount: messageCount, threadUnreadCount: unreadCount };
}

/** Returns complete messages. If they are grouped by thread, each has the number of messages in its thread. */
function showWholeMessages(world: World, { rows, pagination }: MessagePage, context: WorldContext, isGrouped: boolean) {
  const { readBehaviour } = context;
  const messages = limitBodies(rows, context).map((message) => ({
    ...showMessage(world, message, readBehaviour),
    ...(isGrouped && { messageCount: countThread(world, message).threadCount }),
  }));
  return { messages, pagination };
}

/** Functions that create the body of a delete operation from an id, by the value of the operation's behaviour. */
export const DELETE_BODY = { 'deleted-and-id': (id: string) => ({ deleted: true as const, id }), empty: () => ({}) };

/** Returns the body for an update whose reply does not contain the updated resource. */
export function updatedBody(id: string) {
  return { updated: true as const, id };
}

/** Returns the reply body of every operation that sends mail. */
export function showSent({ id, threadId, messageIdHeader }: MessageRow, readBehaviour: ReadBehaviour) {
  const messageId = { 'message-id-header': messageIdHeader, 'message-id': id }[readBehaviour('sending.reply')];
  return { id, threadId, status: 'sent' as const, messageId };
}

/** Returns one page of a list of rows in the order of arrival. The behaviour `order` decides the order of the page. */
export function paginate<Row>(
  rows: SliceableList<Row>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  readBehaviour: ReadBehaviour,
  order: 'messages.list.order' | 'drafts.list.order' = 'messages.list.order',
) {
  const pagination = { total: rows.length, limit, offset };
  // With at most one row, or on a page after the last row, every order gives the same reply.
  if (rows.length <= 1 || offset >= rows.length) return { rows: rows.slice(offset, offset + limit), pagination };
  if (readBehaviour(order) === 'oldest-first') return { rows: rows.slice(offset, offset + limit), pagination };
  // Only the page is reversed, so that the cost does not grow with the list.
  const end = Math.max(rows.length - offset, 0);
  return { rows: rows.slice(Math.max(end - limit, 0), end).reverse(), pagination };
}
