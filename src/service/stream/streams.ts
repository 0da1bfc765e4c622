import { ApiError } from '../../contract/errors.ts';
import { CLOSE_CODES } from '../../contract/stream-protocol.ts';
import { causeFrom } from '../../world/journal/entry.ts';
import type { Part, PartOf } from '../../world/store/parts.ts';
import type { World } from '../../world/store/world.ts';
import { checkStreamAccess, type StreamAccess, type StreamRequest } from '../access/check-stream-access.ts';
import { MAIL_ENTRY_KINDS } from '../journal/entry-kinds.ts';
import { Exchange } from '../pipeline/exchange.ts';
import { finishExchange, type RecordingService } from '../pipeline/record-exchange.ts';
import { type ApiReply, toErrorReply } from '../pipeline/reply.ts';
import type { Service } from '../pipeline/service.ts';
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

const KEY_ENDED = [CLOSE_CODES.unauthorized, 'The key of this stream has ended.'] as const;

/** The open streams of a tenant, each with its key. A stream is closed when its key becomes invalid, not by `end`. */
class OpenStreams extends Map<Stream, string> implements Part {
  readonly staysOnReset = true;
  end(): void {}
}

/** What a frame shows of its mail: see `eventFrame`. */
const PARTS_OF_FRAME = ['headers', 'plainBody', 'htmlBody'] as const;

type StreamContext = RecordingService & Pick<Service, 'faults' | 'connections'>;

/** Sends the events of a mailbox to its streams, and returns the function that admits their clients. */
export function createStreams(context: StreamContext): Streams['admit'] {
  const { worlds, journals, behaviours } = context;
  // The type of the parameter, `World`, says that each world has this part, and the mailbox does not.
  const streamsOf = worlds.addPart('streams', (_: World) => new OpenStreams());
  journals.subscribe(MAIL_ENTRY_KINDS, (entry) => {
    const { tenantId, data } = entry;
    const world = worlds.get(tenantId ?? '');
    // An event that a test triggers for one webhook is not sent to streams.
    if (!world || data.webhookId !== undefined) return;
    const streams = streamsOf.in([world]).flatMap((openStreams) => [...openStreams.keys()]);
    if (streams.length === 0) return;
    const frame = encodeFrame(() => eventFrame(world, data, behaviours));
    const count = streams.filter((stream) => stream.notify(data, frame)).length;
    if (count === 0) return;
    const sent = { eventId: data.id, messageId: data.message.id, streams: count, parts: PARTS_OF_FRAME };
    journals.publish(world, 'frame', sent, { cause: causeFrom(entry) });
  });
  worlds.onKeyEnded((endedKey, location) => {
    if (!('world' in location)) return;
    const streamsWithKeys = streamsOf.in([location.world]).flatMap((openStreams) => [...openStreams]);
    for (const [stream, key] of streamsWithKeys) if (key === endedKey) stream.close(...KEY_ENDED);
  });
  return (request) => admit(context, streamsOf, request);
}

const SWITCHING_PROTOCOLS: ApiReply = { status: 101, headers: {}, body: null };

/** Checks a request, and returns the function that starts its stream. A refused request is recorded, too. */
function admit(context: StreamContext, streamsOf: PartOf<OpenStreams, World>, request: StreamRequest): AcceptStream {
  const { worlds } = context;
  const exchange = new Exchange(context, { ...request, method: 'GET', body: null });
  exchange.received = 'empty';
  try {
    const access = checkStreamAccess({ worlds, readBehaviour: exchange.readBehaviour }, request, exchange.sender);
    const { key, principal } = access;
    exchange.principal = principal;
    const location = worlds.findKey(key);
    return (connection) => {
      finishExchange(context, exchange, SWITCHING_PROTOCOLS);
      // The key may have become invalid while the connection was upgraded.
      if (worlds.findKey(key) === location) return accept(context, streamsOf(principal.world), access, connection);
      closeOrReport(connection, KEY_ENDED, worlds.environment.report);
      return { receive() {}, end() {} };
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    exchange.error = error;
    finishExchange(context, exchange, toErrorReply(error, exchange));
    throw error;
  }
}

function accept(
  { behaviours, journals, faults, connections, worlds }: StreamContext,
  openStreams: OpenStreams,
  access: StreamAccess,
  connection: StreamConnection,
): StreamSession {
  const { key, principal } = access;
  const { tier, world } = principal;
  const details = { tenantId: world.id, tier, key };
  const stream = new Stream(access, connection, behaviours, () => faults.useFirst({ on: 'stream', world, tier, key }));
  const since = worlds.environment.now();
  const removeConnection = connections.add({ protocol: 'websocket', since, principal: () => principal });
  let isOpen = true;
  openStreams.set(stream, key);
  journals.publish(world, 'stream-opened', details);
  return {
    receive: (data) => stream.receive(data),
    end() {
      stream.end();
      openStreams.delete(stream);
      removeConnection();
      if (isOpen) journals.publish(world, 'stream-closed', details);
      isOpen = false;
    },
  };
}
