import { type AnyReply, jsonReply, streamReply, textReply } from '../pipeline/http.ts';
import type { ContentType, ControlRow } from './row.ts';

/** Creates the reply of a row in its media type. */
export function writeReply({ content = 'application/json' }: ControlRow, value: unknown): AnyReply {
  return WRITERS[content](value);
}

const WRITERS: Readonly<Record<ContentType, (value: unknown) => AnyReply>> = {
  'application/json': (value) => jsonReply(200, value),
  'text/plain': (value) => textReply(200, String(value), 'text/plain; charset=utf-8'),
  'text/html': (value) => textReply(200, String(value), 'text/html; charset=utf-8'),
  'text/event-stream': (items) => streamReply(200, toEvents(items as AsyncIterable<object>), 'text/event-stream'),
};

/**
 * Writes each item as the data of an event (HTML standard, "Server-sent events"). The `id` of an item becomes that of the
 * event. This is not a generator, because the end of a generator waits for the item that it is waiting for.
 */
function toEvents(items: AsyncIterable<object>): AsyncIterable<string> {
  const iterator = items[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const { done, value } = await iterator.next();
        return done ? { done, value: undefined } : { value: toEvent(value) };
      },
      async return() {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}

function toEvent(item: object): string {
  const id = 'id' in item ? `id: ${item.id}\n` : '';
  return `${id}data: ${JSON.stringify(item)}\n\n`;
}
