import type { z } from 'zod';
import { type BehaviourValues, createSilentReader } from '../behaviours.ts';
import { CLOSE_CODES, MAX_FRAME_BYTES, pongFrame, STREAM_PATHS, subscribeFrame } from '../stream-protocol.ts';
import { CONTACT, type Json, toJsonSchema } from './document.ts';
import { serverFrames } from './event-schemas.ts';

/** An AsyncAPI 3.0 document. */
export interface AsyncApiDocument {
  /** The version of AsyncAPI. */
  readonly asyncapi: '3.0.0';
  /** The title, version, description and licence. */
  readonly info: Json;
  /** The two event streams, by name. */
  readonly channels: Json;
  /** What the service sends and receives on each stream. */
  readonly operations: Json;
  /** The frames and the ways to send a key. */
  readonly components: Json;
}

/** The streams with their descriptions, in the order of `STREAM_PATHS`. */
const CHANNELS = {
  events: 'The events of every inbox within the scope of the key, after a subscribe frame.',
  inboxEvents: 'An older path: the events of one inbox, without a subscribe frame.',
};

const REASONS: Readonly<Record<keyof typeof CLOSE_CODES, string>> = {
  unauthorized: 'The key is missing, invalid or revoked.',
  forbidden: 'The key may not open a stream.',
  notFound: 'There is no such inbox within the scope of the key.',
  failed: 'The emulator could not open the stream; the reason says why.',
  fault: 'A fault closed the stream.',
  tooLarge: `A frame was larger than ${MAX_FRAME_BYTES} bytes.`,
  tooSlow: 'The client read too slowly.',
};

/** Creates the AsyncAPI 3.0 document of the event streams under these behaviours. */
export function createAsyncApi(behaviours: BehaviourValues): AsyncApiDocument {
  const { readBehaviour } = createSilentReader(behaviours);
  const sent: Record<string, z.ZodType> = serverFrames(readBehaviour);
  const received = { subscribe: subscribeFrame(), pong: pongFrame() };
  const names = { send: Object.keys(sent), receive: Object.keys(received) };
  const frameNames = [...names.send, ...names.receive];
  const closeCodes = Object.entries(CLOSE_CODES).map(([name, code]) => [code, REASONS[name as keyof typeof REASONS]]);
  const channels = Object.entries(CHANNELS).map(([name, description], index) => {
    const address = STREAM_PATHS[index] ?? '';
    const parameters = address.includes('{') && { parameters: { id: { description: 'The id of the inbox.' } } };
    const messages = Object.fromEntries(frameNames.map((frame) => [frame, { $ref: `#/components/messages/${frame}` }]));
    return [name, { address, description, ...parameters, messages, 'x-close-codes': Object.fromEntries(closeCodes) }];
  });
  const operations = Object.keys(CHANNELS).flatMap((channel) =>
    (['send', 'receive'] as const).map((action) => {
      const messages = names[action].map((frame) => ({ $ref: `#/channels/${channel}/messages/${frame}` }));
      return [`${action}-${channel}`, { action, channel: { $ref: `#/channels/${channel}` }, messages }];
    }),
  );
  const frames = [...Object.entries(sent), ...Object.entries(received)].map(([name, schema]) => {
    const io = name in received ? 'input' : 'output';
    return [name, { name, contentType: 'application/json', payload: toJsonSchema(schema, io) }];
  });
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Agent Mailbox Service: event streams (emulated)',
      version: '1',
      description:
        'A WebSocket client sends its key as X-API-Key, as Authorization: Bearer or, unless a behaviour forbids it, ' +
        'as the query parameter api_key. The service closes a stream with one of the codes in x-close-codes, or with ' +
        '1001 when it stops.',
      contact: CONTACT,
      license: { name: 'MIT' },
    },
    channels: Object.fromEntries(channels),
    operations: Object.fromEntries(operations),
    components: { messages: Object.fromEntries(frames) },
  };
}
