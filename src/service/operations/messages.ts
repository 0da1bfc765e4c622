import type { BehaviourReader } from '../../contract/behaviours.ts';
import { filenameParameters, HOSTILE_FILE_HEADERS } from '../../contract/header-fields.ts';
import type { Folder } from '../../contract/mail-folders.ts';
import { timestampNow } from '../../world/environment.ts';
import type { GroupedListName, MessageListName } from '../../world/store/indexes/message-index.ts';
import { removeMessage } from '../../world/store/removal.ts';
import {
  findInScope,
  findMessage,
  type LookupContext,
  outOfScope,
  scopeOfInbox,
  selectInboxes,
  withId,
} from '../access/find-in-scope.ts';
import { composeMail, mediaTypeOf } from '../mail/mime/compose-mail.ts';
import { writeTraceFields } from '../mail/mime/header.ts';
import type { Input, Run } from './context.ts';
import { DELETE_BODY, limitBodies, paginate, SHOW_PAGE, showAttachment, showMessage, updatedBody } from './replies.ts';

export const listMessages: Run<'listMessages'> = (context, { params, query }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const messages = world.messageIndex.list([inbox.id], query.direction ?? 'visible');
  const { rows, pagination } = paginate(messages, query, readBehaviour);
  return {
    body: { messages: limitBodies(rows, context).map((row) => showMessage(world, row, readBehaviour)), pagination },
  };
};

export const getMessage: Run<'getMessage'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const { message } = findMessage(context, params);
  const marksRead = !message.isRead && readBehaviour('messages.get.marks-read') !== 'no';
  const row = marksRead ? world.messages.update(message.id, { isRead: true }) : message;
  return { body: showMessage(world, row, readBehaviour) };
};

export const updateMessage: Run<'updateMessage'> = (context, { params, body }) => {
  const { world, readBehaviour } = context;
  const { message } = findMessage(context, params, 'messages.update.deleted');
  const { isRead = message.isRead, isStarred = message.isStarred, isArchived = message.isArchived } = body;
  const row = world.messages.update(message.id, { isRead, isStarred, isArchived });
  const shape = readBehaviour('messages.update.reply');
  return { body: shape === 'message' ? showMessage(world, row, readBehaviour) : updatedBody(row.id) };
};

/** Soft-deletes a message: lists no longer contain it, but its thread does. Deleting it again removes it for good. */
export const deleteMessage: Run<'deleteMessage'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const { message } = findMessage(context, params, 'messages.delete.deleted');
  const deletedAt = timestampNow(world.environment);
  if (message.deletedAt === null) world.messages.update(message.id, { deletedAt });
  else removeMessage(world, message);
  return { body: DELETE_BODY[readBehaviour('messages.delete.body')](message.id) };
};

export const getRawMessage: Run<'getRawMessage'> = (context, { params }) => {
  const { message } = findMessage(context, params);
  const attachments = context.world.attachments.by('messageId', message.id);
  return {
    body: composeMail(message, attachments, writeTraceFields(message, context.readBehaviour)),
    headers: { 'content-type': 'message/rfc822', ...HOSTILE_FILE_HEADERS },
  };
};

export const listAllMessages: Run<'listAllMessages'> = (context, { query }) => {
  const { world, readBehaviour } = context;
  const inboxIds = inboxIdsInScope(context, query);
  const list = selectList(query.folder, context);
  const isGrouped = query.group === 'thread';
  const { messageIndex } = world;
  const messages = isGrouped ? messageIndex.latestOfThreads(inboxIds, list) : messageIndex.list(inboxIds, list);
  const page = paginate(messages, query, readBehaviour);
  return { body: SHOW_PAGE[readBehaviour('messages.all.shape')](world, page, context, isGrouped) };
};

/** Returns the ids of the inboxes in scope that match the selectors. */
function inboxIdsInScope(context: LookupContext, { workspace, inboxId: inbox }: Input<'countFolders'>['query']) {
  return selectInboxes(context, { workspace, inbox }).map(({ id }) => id);
}

function selectList(folder: Folder | undefined, { readBehaviour }: BehaviourReader): GroupedListName {
  if (folder === undefined && readBehaviour('messages.all.folder') === 'all') return 'visible';
  return folder ?? 'inbox';
}

export const countFolders: Run<'countFolders'> = (context, { query }) => {
  const inboxIds = inboxIdsInScope(context, query);
  const count = (list: MessageListName) => context.world.messageIndex.list(inboxIds, list).length;
  const inbox = { unread: count('unreadInbox'), total: count('inbox') };
  const others = { sent: count('sent'), starred: count('starred'), archived: count('archived'), trash: count('trash') };
  return { body: { inbox, ...COUNT_BODY[context.readBehaviour('messages.folders.counts')](others) } };
};

type OtherCounts = Record<Exclude<Folder, 'inbox'>, number>;

const COUNT_BODY = {
  objects: ({ sent, starred, archived, trash }: OtherCounts) => {
    return {
      sent: { total: sent },
      starred: { total: starred },
      archived: { total: archived },
      trash: { total: trash },
    };
  },
  numbers: (counts: OtherCounts) => counts,
};

export const listAttachments: Run<'listAttachments'> = (context, { params }) => {
  const { message } = findMessage(context, params);
  const attachments = context.world.attachments.by('messageId', message.id);
  return { body: { attachments: attachments.map(showAttachment) } };
};

export const getAttachment: Run<'getAttachment'> = (context, { params }) => {
  const { message } = findMessage(context, params);
  const row = context.world.attachments.get(params.attachmentId);
  if (row?.messageId !== message.id) {
    throw outOfScope(context, withId('attachment'), (world) => {
      const messageId = world.attachments.get(params.attachmentId)?.messageId ?? '';
      return scopeOfInbox(world, world.messages.get(messageId)?.inboxId);
    });
  }
  const disposition = context.readBehaviour('messages.attachments.disposition');
  return {
    body: row.content,
    headers: {
      'content-type': mediaTypeOf(row.contentType),
      'content-disposition': `${disposition}; ${filenameParameters(row.filename)}`,
      ...HOSTILE_FILE_HEADERS,
    },
  };
};
