import { z } from 'zod';
import { lazy } from '../basics/lazy-schema.ts';
import { EVENT_KINDS } from './events.ts';
import { expected } from './schemas.ts';

/**
 * The paths of the event stream (reference, "Event stream"). The second path is older. A stream at the second path is
 * subscribed to the inbox in the path from the start.
 */
export const STREAM_PATHS = ['/v1/ws', '/v1/inboxes/{id}/ws'] as const;

/** Matches a path of the event stream. The first group of a match is the id of the inbox, if the path has one. */
export const STREAM_PATH = /^\/v1\/(?:inboxes\/([^/]+)\/)?ws$/;

/** Returns whether a path opens an event stream. */
export function isStreamPath(path: string): boolean {
  return STREAM_PATH.test(path);
}

/** The close codes of a stream. This project chose them. In process, a server cannot send codes below 4000. */
export const CLOSE_CODES = {
  /** The key is missing, invalid or revoked. */
  unauthorized: 4401,
  /** The key may not open a stream. */
  forbidden: 4403,
  /** There is no such inbox within the scope of the key. */
  notFound: 4404,
  /** The emulator could not open the stream; the reason of the close says why. */
  failed: 4500,
  /** A fault closes the stream. */
  fault: 4503,
  /** A frame is larger than `MAX_FRAME_BYTES`. */
  tooLarge: 4413,
  /** The client reads too slowly. */
  tooSlow: 4429,
} as const;

/** Maximum size of a frame that a client sends, in bytes. */
export const MAX_FRAME_BYTES = 64 * 1024;

/** Maximum size of the send buffer of one client, in bytes. */
export const MAX_BUFFERED_BYTES = 1024 * 1024;

const TOO_LONG = { error: 'must be at most 100 characters long', abort: true };

const ids = () =>
  z
    .array(z.string('must be an id').max(100, TOO_LONG).toLowerCase(), { error: expected('an array of ids') })
    .max(1000, 'must be at most 1000 ids')
    .default([]);

/** The frame in which a client selects events. An empty or missing list selects all events. */
export const subscribeFrame = () =>
  z.object({
    type: z.literal('subscribe'),
    event_types: z
      .array(z.enum(EVENT_KINDS, `must be one of ${EVENT_KINDS.join(', ')}`), {
        error: expected('an array of event kinds'),
      })
      .max(100, 'must be at most 100 event kinds')
      .default([]),
    inbox_ids: ids(),
    workspace_ids: ids(),
    /** An alias of `workspace_ids`. */
    pod_ids: ids(),
  });

/** The optional response to a `ping`. */
export const pongFrame = () => z.object({ type: z.literal('pong') });

/** A frame that a client sends. */
export const clientFrame = lazy(() =>
  z.discriminatedUnion('type', [subscribeFrame(), pongFrame()], {
    error: ({ code }) => (code === 'invalid_union' ? 'must be subscribe or pong' : 'must be a JSON object'),
  }),
);
