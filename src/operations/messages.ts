import { findInScope, type LookupContext } from '../access/find-in-scope.ts';
import { findMessage } from '../access/find-message.ts';
import { timestampNow } from '../environment.ts';
import { composeWithTrace } from '../mail/mime/compose-mail.ts';
import { writeShownTrace } from '../mail/mime/trace.ts';
import { removeMessage } from '../store/removal.ts';
import type { MessageRow } from '../store/rows.ts';
import type { Run } from './context.ts';
import { DELETED, updated } from './replies/confirmations.ts';
import { limitBodies } from './replies/limit-bodies.ts';
import { paginate } from './replies/paginate.ts';
import { showMessage } from './replies/show-message.ts';

export const listMessages: Run<'listMessages'> = (context, { params, query }) => {
  const { principal, readBehaviour, assume } = context;
  const { world } = principal;
  const inbox = findInScope(context, 'inboxes', params.id);
  const messages = world.messageIndex.list([inbox.id], query.direction ?? 'visible');
  const { rows, pagination } = paginate(messages, query, readBehaviour);
  return {
    body: { messages: limitBodies(rows, assume).map((row) => showMessage(world, row, readBehaviour)), pagination },
  };
};

export const getMessage: Run<'getMessage'> = (context, { params }) => {
  const { principal, readBehaviour } = context;
  const { message } = findMessage(context, params);
  return { body: showMessage(principal.world, markRead(context, message), readBehaviour) };
};

function markRead({ principal, readBehaviour }: LookupContext, message: MessageRow): MessageRow {
  if (message.isRead || readBehaviour('messages.get.marks-read') === 'no') return message;
  return principal.world.messages.update(message.id, { isRead: true });
}

export const updateMessage: Run<'updateMessage'> = (context, { params, body }) => {
  const { principal, readBehaviour } = context;
  const { world } = principal;
  const { message } = findMessage(context, params, 'messages.update.deleted');
  const { isRead = message.isRead, isStarred = message.isStarred, isArchived = message.isArchived } = body;
  const row = world.messages.update(message.id, { isRead, isStarred, isArchived });
  const shape = readBehaviour('messages.update.reply');
  return { body: shape === 'message' ? showMessage(world, row, readBehaviour) : updated(row.id) };
};

/** Soft-deletes a message: lists no longer contain it, but its thread still does. Deleting it again removes it. */
export const deleteMessage: Run<'deleteMessage'> = (context, { params }) => {
  const { principal, environment, readBehaviour } = context;
  const { message } = findMessage(context, params, 'messages.delete.deleted');
  if (message.deletedAt === null) principal.world.messages.update(message.id, { deletedAt: timestampNow(environment) });
  else removeMessage(principal.world, message);
  return { body: DELETED[readBehaviour('messages.delete.body')](message.id) };
};

export const getRawMessage: Run<'getRawMessage'> = (context, { params }) => {
  const { message } = findMessage(context, params);
  const attachments = context.principal.world.attachments.by('messageId', message.id);
  return {
    body: composeWithTrace(writeShownTrace(message, context.readBehaviour), message, attachments),
    headers: { 'content-type': 'message/rfc822', 'x-content-type-options': 'nosniff' },
  };
};
