import type { OperationId, ReplyOf } from '../../contract/operations.ts';
import type { World } from '../../world/store/world.ts';
import type { ShownMails, ShownPart } from '../journal/entry-data.ts';
import type { FinishedExchange } from './exchange.ts';

/** Matches the ids in a path. */
const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;

/** Returns the ids in a path, in lower case. */
export function findIdsIn(path: string): string[] {
  return (path.match(ID) ?? []).map((id) => id.toLowerCase());
}

/** A message as replies show it whole. */
type WholeMessage = Pick<ReplyOf<'getMessage'>, 'id' | 'plainBody'>;

type Show<Reply> = (
  reply: Reply,
  exchange: FinishedExchange,
  world: World,
  idsInPath: readonly string[],
) => ShownMails[];

const WHOLE: readonly ShownPart[] = ['headers', 'plainBody', 'htmlBody', 'fileNames'];
const SHORTENED: readonly ShownPart[] = ['headers', 'snippet', 'fileNames'];
const SUMMARY: readonly ShownPart[] = ['headers', 'snippet'];
const HEADERS: readonly ShownPart[] = ['headers'];
const FILE_NAMES: readonly ShownPart[] = ['fileNames'];
const ATTACHMENT: readonly ShownPart[] = ['attachment'];
const RAW: readonly ShownPart[] = ['raw'];
const NOTHING: readonly ShownPart[] = [];

/** What the replies of operations show of mails. The replies of other operations show nothing of a mail. */
const SHOWN_BY: { readonly [Id in OperationId]?: Show<ReplyOf<Id>> } = {
  getMessage: (message, exchange) => showWhole([message], exchange),
  updateMessage: (reply, exchange) => ('plainBody' in reply ? showWhole([reply], exchange) : []),
  listMessages: ({ messages }, exchange) => showWhole(messages, exchange),
  listAllMessages({ messages }, exchange) {
    const [first] = messages;
    if (first && 'plainBody' in first) return showWhole(messages as readonly WholeMessage[], exchange);
    return [{ parts: SUMMARY, messageIds: messages.map(({ id }) => id) }];
  },
  getThread({ messages }, exchange) {
    const { offset, limit } = exchange.request.shownItems ?? { offset: 0, limit: messages.length };
    return showWhole(messages.slice(offset, offset + limit), exchange);
  },
  listThreads({ threads }, _exchange, world) {
    // The subject of a thread is that of its first message. The list only counts the others.
    const all = threads.map(({ inboxId, threadId }) => world.messageIndex.thread(inboxId, threadId));
    return [
      { parts: HEADERS, messageIds: all.flatMap((thread) => thread?.first.id ?? []) },
      { parts: NOTHING, messageIds: all.flatMap((thread) => thread?.messages().map(({ id }) => id) ?? []) },
    ];
  },
  getRawMessage: (_bytes, _exchange, world, [, messageId = '']) => [
    {
      parts: RAW,
      messageIds: [messageId],
      attachmentIds: world.attachments.by('messageId', messageId).map(({ id }) => id),
    },
  ],
  listAttachments: (_reply, _exchange, _world, [, messageId = '']) => [{ parts: FILE_NAMES, messageIds: [messageId] }],
  getAttachment: (_bytes, _exchange, _world, [, messageId = '', attachmentId = '']) => [
    { parts: ATTACHMENT, messageIds: [messageId], attachmentIds: [attachmentId] },
  ],
};

/** Says what whole messages show. A reply that would be too large has the later bodies shortened. */
function showWhole(messages: readonly WholeMessage[], { shortenedIds }: FinishedExchange): ShownMails[] {
  const ids = messages.map(({ id }) => id);
  if (shortenedIds.size === 0) return [{ parts: WHOLE, messageIds: ids }];
  return [
    { parts: WHOLE, messageIds: ids.filter((id) => !shortenedIds.has(id)) },
    { parts: SHORTENED, messageIds: ids.filter((id) => shortenedIds.has(id)) },
  ];
}

/**
 * Finds the mails of which the reply to a request showed something. The mails that the request only names in its path
 * come last, as mails of which nothing is shown.
 */
export function findShownMails(world: World, exchange: FinishedExchange): readonly ShownMails[] {
  const { request, row, reply, shown } = exchange;
  const named = { parts: NOTHING, messageIds: findIdsIn(request.path) };
  if (reply.status < 200 || reply.status >= 300) return [];
  const show = row && (SHOWN_BY[row.id] as Show<unknown> | undefined);
  // A reply to HEAD has no body. A fault may have replaced the reply; then nothing of a mail is shown.
  const isShown = show && reply.body !== null && shown !== undefined;
  const byReply = isShown ? show(shown, exchange, world, named.messageIds) : [];
  return named.messageIds.length === 0 ? byReply : [...byReply, named];
}
