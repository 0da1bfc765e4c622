import type { Choices } from '../contract/behaviours.ts';
import { CLOSE_CODES } from '../contract/stream-protocol.ts';
import type { Activity } from '../events/activity.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Worlds } from '../store/worlds.ts';
import { admit, type StreamRequest } from './admit.ts';
import { encodeFrame, eventFrame } from './frames.ts';
import { closeOrReport, openStream, type Stream, type StreamConnection } from './stream.ts';

/** What an adapter tells an open stream. */
export interface StreamSession {
  /** The client has sent a frame: a text, or anything else, which is an error. */
  receive(data: unknown): void;
  /** The connection has ended. */
  end(): void;
}

/** Begins the stream on a connection that is open. */
export type AcceptStream = (connection: StreamConnection) => StreamSession;

/** Every open stream of a mailbox. */
export interface Streams {
  /** @throws {ApiError} UNAUTHORIZED, FORBIDDEN or NOT_FOUND, before anything is upgraded. */
  admit(request: StreamRequest): AcceptStream;
}

const KEY_ENDED = [CLOSE_CODES.unauthorized, 'The key of this stream has ended.'] as const;

/** What streams work with. */
export interface StreamContext {
  readonly worlds: Worlds;
  readonly events: EventBus;
  readonly choices: Choices;
  readonly activity: Activity;
}

/** Creates the streams of a mailbox, which tell of its events from now on. */
export function createStreams({ worlds, events, choices, activity }: StreamContext): Streams {
  /** By the text of the key with which they were opened: they end with it. */
  const streams = new Map<string, Set<Stream>>();

  function keep(key: string, stream: Stream): void {
    const others = streams.get(key) ?? new Set();
    streams.set(key, others.add(stream));
  }

  function forget(key: string, stream: Stream): void {
    const others = streams.get(key);
    others?.delete(stream);
    if (others?.size === 0) streams.delete(key);
  }

  events.subscribe((event) => {
    // What is fired by hand for one webhook is for that webhook alone.
    if (event.webhookId !== undefined) return;
    const world = worlds.get(event.tenantId);
    if (!world) return;
    const frame = encodeFrame(() => eventFrame(world, event, choices));
    for (const stream of [...streams.values()].flatMap((same) => [...same])) stream.tell(event, frame);
  });

  worlds.onKeyEnded((key) => {
    const ended = streams.get(key);
    streams.delete(key);
    for (const stream of ended ?? []) stream.close(...KEY_ENDED);
  });

  return {
    admit(request) {
      const admission = admit({ worlds, choose: (id) => choices[id] }, request);
      const holder = worlds.findKey(admission.key);
      return (connection) => {
        if (worlds.findKey(admission.key) !== holder) {
          closeOrReport(connection, KEY_ENDED, worlds.environment.report);
          return { receive() {}, end() {} };
        }
        const stream = openStream(admission, connection, choices);
        const { tier, world } = admission.principal;
        const facts = { tenantId: world.id, tier, key: admission.key };
        let isOpen = true;
        keep(admission.key, stream);
        activity.publish({ kind: 'stream-opened', ...facts });
        return {
          receive: stream.receive,
          end() {
            stream.end();
            forget(admission.key, stream);
            if (isOpen) activity.publish({ kind: 'stream-closed', ...facts });
            isOpen = false;
          },
        };
      };
    },
  };
}
