import type { ParamsOf } from '../contract/operations.ts';
import type { InboxRow, MessageRow } from '../store/rows.ts';
import { findInInbox, type LookupContext, notFound } from './find-in-scope.ts';

/**
 * Finds a message of an inbox. Deleted messages are found only under `messages.deleted=shown`.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN as `findInScope` does.
 */
export function findMessage(
  context: LookupContext,
  { id, messageId }: ParamsOf<'getMessage'>,
): { readonly inbox: InboxRow; readonly message: MessageRow } {
  const { inbox, row } = findInInbox(context, 'messages', id, messageId);
  if (row.deletedAt !== null && context.readBehaviour('messages.deleted') === 'not-found') {
    throw notFound('messages', 'The message was deleted (choice messages.deleted).');
  }
  return { inbox, message: row };
}
