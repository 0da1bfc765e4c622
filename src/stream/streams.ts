import type { Principal } from '../access/principal.ts';
import type { BehaviourValues, ReadBehaviour } from '../contract/behaviours.ts';
import { CLOSE_CODES } from '../contract/stream-protocol.ts';
import type { Activity } from '../events/activity.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Faults } from '../faults/faults.ts';
import type { Worlds } from '../store/worlds.ts';
import { checkStreamAccess, type StreamAccess, type StreamRequest } from './check-stream-access.ts';
import { encodeFrame, eventFrame } from './frames.ts';
import { closeOrReport, Stream, type StreamConnection } from './stream.ts';

/** What an adapter calls on an open stream. */
export interface StreamSession {
  /** Handles a frame from the client. A frame that is not text gets an error frame. */
  receive(data: unknown): void;
  /** Ends the stream after its connection has closed. */
  end(): void;
}

/** Starts the stream on an open connection. */
export type AcceptStream = (connection: StreamConnection) => StreamSession;

/** The event streams of a mailbox. */
export interface Streams {
  /**
   * Checks a request before its connection is upgraded. Returns the function that starts the stream.
   *
   * @throws {ApiError} UNAUTHORIZED, FORBIDDEN or NOT_FOUND.
   */
  admit(request: StreamRequest): AcceptStream;
}

/** What the check of a request reads and finds. */
export interface Handshake {
  readonly readBehaviour: ReadBehaviour;
  /** The caller; the check sets it. */
  principal: Principal | undefined;
}

const KEY_ENDED = [CLOSE_CODES.unauthorized, 'The key of this stream has ended.'] as const;

/** The open streams, each with the key that opened it. When a key becomes invalid, its streams are closed. */
type OpenStreams = Map<Stream, string>;

interface StreamContext {
  readonly worlds: Worlds;
  readonly events: EventBus;
  readonly behaviours: BehaviourValues;
  readonly activity: Activity;
  readonly faults: Faults;
}

/** Subscribes the streams of a mailbox to its events, and returns the function that admits their clients. */
export function createStreams(context: StreamContext): (request: StreamRequest, handshake: Handshake) => AcceptStream {
  const { worlds, events, behaviours } = context;
  const openStreams: OpenStreams = new Map();
  events.subscribe((event) => {
    // An event that a test triggers for one webhook is not sent to streams.
    if (event.webhookId !== undefined || openStreams.size === 0) return;
    const world = worlds.get(event.tenantId);
    if (!world) return;
    const frame = encodeFrame(() => eventFrame(world, event, behaviours));
    event.streams = [...openStreams.keys()].filter((stream) => stream.notify(event, frame)).length;
  });
  worlds.onKeyEnded((endedKey) => {
    for (const [stream, key] of openStreams) {
      if (key === endedKey && openStreams.delete(stream)) stream.close(...KEY_ENDED);
    }
  });
  return (request, handshake) => {
    const access = checkStreamAccess({ worlds, readBehaviour: handshake.readBehaviour }, request);
    handshake.principal = access.principal;
    const owner = worlds.findKey(access.key);
    return (connection) => {
      const isKeyValid = worlds.findKey(access.key) === owner;
      if (isKeyValid) return accept(context, openStreams, access, connection);
      closeOrReport(connection, KEY_ENDED, worlds.environment.report);
      return { receive() {}, end() {} };
    };
  };
}

function accept(
  { behaviours, activity, faults }: StreamContext,
  openStreams: OpenStreams,
  access: StreamAccess,
  connection: StreamConnection,
): StreamSession {
  const { key, principal } = access;
  const details = { tenantId: principal.world.id, tier: principal.tier, key };
  const stream = new Stream(access, connection, {
    behaviours,
    takeFault: () => faults.take({ on: 'stream', ...details }),
  });
  let isOpen = true;
  openStreams.set(stream, key);
  activity.publish({ kind: 'stream-opened', ...details });
  return {
    receive: (data) => stream.receive(data),
    end() {
      stream.end();
      openStreams.delete(stream);
      if (isOpen) activity.publish({ kind: 'stream-closed', ...details });
      isOpen = false;
    },
  };
}
