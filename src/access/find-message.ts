import type { ParamsOf } from '../contract/operations.ts';
import type { InboxRow, MessageRow } from '../store/rows.ts';
import { findInInbox, notFound, type Reach } from './find-in-reach.ts';

/**
 * Finds a message of an inbox. Deleted messages are found only under `messages.deleted=shown`.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN as `findInReach` does.
 */
export function findMessage(
  reach: Reach,
  { id, messageId }: ParamsOf<'getMessage'>,
): { readonly inbox: InboxRow; readonly message: MessageRow } {
  const { inbox, row } = findInInbox(reach, 'messages', id, messageId);
  if (row.deletedAt !== null && reach.choose('messages.deleted') === 'not-found') throw notFound('messages');
  return { inbox, message: row };
}
