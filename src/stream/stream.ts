import type { Choices } from '../contract/behaviours.ts';
import { CLOSE_CODES, MAX_BUFFERED_BYTES, MAX_FRAME_BYTES } from '../contract/stream.ts';
import type { Environment } from '../environment.ts';
import type { MailEvent } from '../events/event-bus.ts';
import type { Admission } from './admit.ts';
import { connectedFrame, type EncodedFrame, encodeFrame, type ServerFrame, subscribedFrame } from './frames.ts';
import { readFrame } from './read-frame.ts';
import { findOutOfScope, isSubscribed, type Subscription, subscribeToAll, toSubscription } from './subscription.ts';

/** A connection of whatever kind, as far as a stream uses it. */
export interface StreamConnection {
  /** Sends a frame as text; `toBytes` gives it in UTF-8, the same bytes to every connection that gets the frame. */
  send(text: string, toBytes: () => Uint8Array): void;
  close(code: number, reason: string): void;
  /** How much of what was sent has not left yet. */
  readonly bufferedBytes: number;
}

/** One client that listens to events. */
export interface Stream {
  /** Takes a frame of the client: a text, or anything else, which is an error. */
  receive(data: unknown): void;
  /** Tells the client of an event by its frame, if it wants to hear of it. */
  tell(event: MailEvent, frame: EncodedFrame): void;
  /** Ends it: the client is told why. */
  close(code: number, reason: string): void;
  /** Ends it, when the connection has ended. */
  end(): void;
}

const PING_MS: Record<Choices['stream.ping'], number | undefined> = {
  '30s': 30_000,
  '5m': 300_000,
  never: undefined,
};

/** Begins a stream on an open connection: the first frames are sent at once. */
export function openStream({ principal, inboxId }: Admission, connection: StreamConnection, choices: Choices): Stream {
  const { world } = principal;
  const pingMs = PING_MS[choices['stream.ping']];
  let subscription = firstSubscription(inboxId, choices);
  let isOpen = true;
  let cancelPing = () => {};

  function send(frame: ServerFrame): void {
    sendEncoded(encodeFrame(() => frame));
  }

  function sendEncoded(frame: EncodedFrame): void {
    if (!isOpen) return;
    if (connection.bufferedBytes > MAX_BUFFERED_BYTES) close(CLOSE_CODES.tooSlow, 'The client reads too slowly.');
    else write(frame);
  }

  /** A connection that fails ends its own stream, and nothing else. */
  function write(frame: EncodedFrame): void {
    try {
      connection.send(frame.text, () => frame.bytes);
    } catch {
      end();
    }
  }

  function close(code: number, reason: string): void {
    if (!isOpen) return;
    end();
    closeOrReport(connection, [code, reason], world.environment.report);
  }

  function end(): void {
    isOpen = false;
    cancelPing();
  }

  function schedulePing(): void {
    if (pingMs === undefined || !isOpen) return;
    cancelPing = world.clock.schedule(new Date(world.clock.now().getTime() + pingMs), () => {
      send({ type: 'ping' });
      schedulePing();
    });
  }

  function answerTo(data: unknown): ServerFrame | undefined {
    const frame = readFrame(data);
    if (typeof frame === 'string') return { type: 'error', message: frame };
    if (frame.type === 'pong') return undefined;
    const wanted = toSubscription(frame);
    const outOfScope = findOutOfScope(principal, wanted);
    if (outOfScope !== undefined) {
      return { type: 'error', message: `This key reaches no ${outOfScope}; the subscription is as before.` };
    }
    subscription = wanted;
    return subscribedFrame(wanted);
  }

  send(connectedFrame(world, inboxId ?? (principal.tier === 'inbox' ? principal.inboxId : null)));
  if (inboxId !== undefined && choices['stream.alias'] === 'subscribed') {
    send(subscribedFrame(subscribeToAll([inboxId])));
  }
  schedulePing();

  return {
    receive(data) {
      if (typeof data === 'string' && data.length > MAX_FRAME_BYTES) {
        close(CLOSE_CODES.tooLarge, 'The frame is larger than 64 KiB.');
        return;
      }
      const answer = answerTo(data);
      if (answer) send(answer);
    },
    tell(event, frame) {
      if (subscription && isSubscribed(principal, subscription, event)) sendEncoded(frame);
    },
    close,
    end,
  };
}

/** Closes a connection; where that fails, what ends the stream is not held up by it. */
export function closeOrReport(
  connection: StreamConnection,
  [code, reason]: readonly [code: number, reason: string],
  report: Environment['report'],
): void {
  try {
    connection.close(code, reason);
  } catch (error) {
    report(error);
  }
}

/** The events that a client gets before it has subscribed. */
function firstSubscription(inboxId: string | undefined, choices: Choices): Subscription | undefined {
  if (inboxId !== undefined) return subscribeToAll([inboxId]);
  return choices['stream.before-subscribe'] === 'everything' ? subscribeToAll() : undefined;
}
