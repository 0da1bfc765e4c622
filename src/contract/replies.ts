import { z } from 'zod';
import { isBytes } from './base64.ts';
import { uuid } from './schemas.ts';

/** The body of every error reply; `code` is absent under `errors.shape=error-only`. */
export const errorBody = z.strictObject({
  error: z.string().describe('One sentence for a person.'),
  code: z.string().optional().describe('The error in upper snake case, for a program.'),
});

/** What most deletes answer (reference). */
const deletedReply = z.strictObject({ deleted: z.literal(true), id: uuid });

/** An empty object, where a choice says that a reply carries nothing. */
export const emptyReply = z.strictObject({});

/** The bodies that every delete can have, by the choice of the ledger. */
export const DELETE_REPLIES = { 'deleted-and-id': deletedReply, empty: emptyReply };

/** What a change answers where it does not show what was changed (reference). */
export const updatedReply = z.strictObject({ updated: z.literal(true), id: uuid });

/** A reply of bytes as they are. */
export const bytesReply = z.custom<Uint8Array>(isBytes);
