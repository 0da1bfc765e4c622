import { z } from 'zod';
import { isBytes } from '../../../basics/base64.ts';
import { uuid } from '../../schemas.ts';

/** The body of every error reply; `code` is absent under `errors.shape=error-only`. */
export const errorBody = () =>
  z.strictObject({
    error: z.string().describe('A description in one sentence.'),
    code: z.string().optional().describe('The error code in upper snake case.'),
  });

/** The reply of most deletes (reference). */
const deletedReply = () => z.strictObject({ deleted: z.literal(true), id: uuid() });

/** An empty object: the reply if a behaviour has the value `empty`. */
export const emptyReply = () => z.strictObject({});

/** The reply bodies that every delete can have, by the value of its behaviour. */
export const deleteReplies = () => ({ 'deleted-and-id': deletedReply(), empty: emptyReply() });

/** The reply of an update that does not return the resource (reference). */
export const updatedReply = () => z.strictObject({ updated: z.literal(true), id: uuid() });

/** A reply body of raw bytes. */
export const bytesReply = () => z.custom<Uint8Array>(isBytes);
