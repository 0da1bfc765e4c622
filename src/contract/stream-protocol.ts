import { z } from 'zod';
import { EVENT_KINDS } from './events.ts';
import { expected } from './schemas.ts';

/**
 * The paths of the event stream (reference, "Event stream"); the second, which is older, subscribes to its inbox by
 * itself.
 */
export const STREAM_PATHS = ['/v1/ws', '/v1/inboxes/{id}/ws'] as const;

/** A path of the event stream; the first group is the id of the inbox, where there is one. */
export const STREAM_PATH = /^\/v1\/(?:inboxes\/([^/]+)\/)?ws$/;

/** The close codes of a stream. The reference has none; below 4000 a server in process could not send them. */
export const CLOSE_CODES = {
  /** The key is missing, not valid, or has ended. */
  unauthorized: 4401,
  /** The key may not open a stream. */
  forbidden: 4403,
  /** There is no such inbox within the reach of the key. */
  notFound: 4404,
  /** The emulator itself failed. */
  failed: 4500,
  /** A frame is larger than `MAX_FRAME_BYTES`, where it was not refused on its way already. */
  tooLarge: 4413,
  /** The client does not read what it is sent. */
  tooSlow: 4429,
} as const;

/** The largest frame that a client may send. */
export const MAX_FRAME_BYTES = 64 * 1024;

/** How much may wait for a client that reads slowly. */
export const MAX_BUFFERED_BYTES = 1024 * 1024;

const ids = z
  .array(z.string('must be an id').max(100, 'must be at most 100 characters long').toLowerCase(), {
    error: expected('an array of ids'),
  })
  .max(1000, 'must be at most 1000 ids')
  .default([]);

/** The frame by which a client says what it wants to hear of; what it leaves out, or leaves empty, admits all. */
export const subscribeFrame = z.object({
  type: z.literal('subscribe'),
  event_types: z
    .array(z.enum(EVENT_KINDS, `must be one of ${EVENT_KINDS.join(', ')}`), {
      error: expected('an array of event kinds'),
    })
    .max(100, 'must be at most 100 event kinds')
    .default([]),
  inbox_ids: ids,
  workspace_ids: ids,
  /** An alias of `workspace_ids`. */
  pod_ids: ids,
});

/** What a client may send besides `subscribe`: an answer to a `ping`, which nobody waits for. */
const pongFrame = z.object({ type: z.literal('pong') });

/** A frame that a client sends. */
export const clientFrame = z.discriminatedUnion('type', [subscribeFrame, pongFrame], {
  error: ({ code }) => (code === 'invalid_union' ? 'must be subscribe or pong' : 'must be a JSON object'),
});
