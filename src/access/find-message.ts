import type { ParamsOf } from '../contract/operations.ts';
import type { InboxRow, MessageRow } from '../store/rows.ts';
import { findInInbox, type LookupContext, notFound } from './find-in-scope.ts';

/** The behaviours that decide whether a request finds a deleted message, by what it asks for. */
type DeletedBehaviour = 'messages.deleted' | `messages.${'update' | 'answer' | 'delete'}.deleted`;

/**
 * Finds a message of an inbox. `behaviour` decides whether a deleted one is found.
 *
 * @throws {ApiError} NOT_FOUND, or FORBIDDEN as `findInScope` does.
 */
export function findMessage(
  context: LookupContext,
  { id, messageId }: ParamsOf<'getMessage'>,
  behaviour: DeletedBehaviour = 'messages.deleted',
): { readonly inbox: InboxRow; readonly message: MessageRow } {
  const { inbox, row } = findInInbox(context, 'messages', id, messageId);
  if (row.deletedAt !== null && context.readBehaviour(behaviour) === 'not-found') {
    throw notFound('messages', `The message was deleted (choice ${behaviour}).`);
  }
  return { inbox, message: row };
}
